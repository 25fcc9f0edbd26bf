//! Tests scheduling.

use std::sync::{Arc, Mutex};

use sandbox::{Pool, PoolOptions, Urgency};
use tokio::task::JoinSet;

use crate::{decode, hostile, identify, refusal_reason};

#[tokio::test(flavor = "multi_thread")]
async fn interactive_jobs_overtake_background_jobs() {
    let pool = Arc::new(Pool::new(PoolOptions { workers: 1, ..hostile() }).unwrap());
    let finished = Arc::new(Mutex::new(Vec::new()));
    let mut jobs = JoinSet::new();
    for (index, urgency) in [Urgency::Background; 4].into_iter().chain([Urgency::Interactive; 2]).enumerate()
    {
        let (pool, finished) = (pool.clone(), finished.clone());
        jobs.spawn(async move {
            if urgency == Urgency::Interactive {
                let queued = || {
                    let load = pool.load();
                    load.running + load.waiting + finished.lock().unwrap().len() >= 4
                };
                let all_queued = async {
                    while !queued() {
                        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                    }
                };
                tokio::time::timeout(crate::LONG_TIMEOUT, all_queued).await.unwrap();
            }
            refusal_reason(decode(&pool, b"hostile:nap", urgency).await);
            finished.lock().unwrap().push(index);
        });
    }
    while let Some(job) = jobs.join_next().await {
        job.unwrap();
    }
    let finished = finished.lock().unwrap();
    let last_interactive = finished.iter().rposition(|index| *index >= 4).unwrap();
    assert!(last_interactive < 5, "{finished:?}");
    assert_eq!(finished.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn photo_beyond_the_budget_is_decoded() {
    let pool = Pool::new(PoolOptions { memory_bytes: 1, ..hostile() }).unwrap();
    let photo = include_bytes!("../../../../fixtures/samples/wisteria.jpg");
    let (a, b, c) = tokio::join!(
        decode(&pool, photo, Urgency::Background),
        decode(&pool, photo, Urgency::Interactive),
        decode(&pool, b"hostile:abort-unless-fresh", Urgency::Background)
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
}

/// The deferrable job never ends by itself, and holds the whole memory budget.
#[tokio::test(flavor = "multi_thread")]
async fn deferrable_job_stops_for_others_and_starts_again() {
    let pool = Arc::new(Pool::new(PoolOptions { workers: 1, memory_bytes: 1, ..hostile() }).unwrap());
    let sleeping = {
        let pool = pool.clone();
        tokio::spawn(async move { decode(&pool, b"hostile:sleep", Urgency::Deferrable).await })
    };
    let started = async || {
        let running = async {
            while pool.load().running == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(crate::LONG_TIMEOUT, running).await.unwrap();
    };
    let photo = include_bytes!("../../../../fixtures/samples/wisteria.jpg");
    for urgency in [Urgency::Background, Urgency::Interactive] {
        started().await;
        assert!(decode(&pool, photo, urgency).await.is_ok());
    }
    started().await;
    assert!(!sleeping.is_finished(), "it was neither failed nor given up");
    sleeping.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn at_most_two_more_processes_than_workers_run() {
    let pool = Arc::new(Pool::new(PoolOptions { workers: 2, ..hostile() }).unwrap());
    let mut processes = Vec::new();
    for urgency in [Urgency::Background, Urgency::Interactive, Urgency::Background, Urgency::Interactive] {
        let mut jobs = JoinSet::new();
        for _ in 0..8 {
            let pool = pool.clone();
            jobs.spawn(async move {
                refusal_reason(decode(&pool, b"hostile:nap", urgency).await);
                identify(&pool, urgency).await.0
            });
        }
        processes.extend(jobs.join_all().await);
        processes.sort_unstable();
        processes.dedup();
        // Workers that were replaced are killed. They may need a moment to exit.
        let running = async {
            while processes.iter().filter(|process| crate::is_running(**process)).count() > 4 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(crate::LONG_TIMEOUT, running).await.unwrap();
    }
    assert!(processes.len() >= 4, "each urgency has its own workers");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn background_workers_have_low_priority() {
    let pool = Pool::new(hostile()).unwrap();
    for (urgency, niceness) in
        [(Urgency::Deferrable, 19), (Urgency::Background, 10), (Urgency::Interactive, 0)]
    {
        let (process, _) = identify(&pool, urgency).await;
        let process = rustix::process::Pid::from_raw(process.try_into().unwrap());
        let own = rustix::process::getpriority_process(None).unwrap();
        let expect = if niceness == 0 { own } else { niceness.max(own) };
        assert_eq!(rustix::process::getpriority_process(process).unwrap(), expect);
    }
}
