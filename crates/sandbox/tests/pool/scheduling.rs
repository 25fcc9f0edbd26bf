use std::sync::{Arc, Mutex};

use sandbox::{Pool, PoolOptions, Urgency};
use tokio::task::JoinSet;

use crate::{ask, hostile, said, who};

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_waited_for_overtakes_those_who_are_not() {
    let pool = Arc::new(Pool::new(PoolOptions { workers: 1, ..hostile() }).unwrap());
    let finished = Arc::new(Mutex::new(Vec::new()));
    let mut jobs = JoinSet::new();
    for (place, urgency) in [Urgency::Background; 4].into_iter().chain([Urgency::Interactive; 2]).enumerate()
    {
        let (pool, finished) = (pool.clone(), finished.clone());
        jobs.spawn(async move {
            if urgency == Urgency::Interactive {
                // The others stand in line by now.
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            said(ask(&pool, b"hostile:nap", urgency).await);
            finished.lock().unwrap().push(place);
        });
    }
    while let Some(job) = jobs.join_next().await {
        job.unwrap();
    }
    let finished = finished.lock().unwrap();
    let last_interactive = finished.iter().rposition(|place| *place >= 4).unwrap();
    assert!(last_interactive < 5, "{finished:?}");
    assert_eq!(finished.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_beyond_the_budget_is_decoded_nevertheless() {
    let pool = Pool::new(PoolOptions { memory_bytes: 1, ..hostile() }).unwrap();
    let photo = include_bytes!("../../../../fixtures/samples/wisteria.jpg");
    let (a, b, c) = tokio::join!(
        ask(&pool, photo, Urgency::Background),
        ask(&pool, photo, Urgency::Interactive),
        ask(&pool, b"hostile:abort-unless-fresh", Urgency::Background)
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_never_more_processes_than_workers_and_one() {
    let pool = Arc::new(Pool::new(PoolOptions { workers: 2, ..hostile() }).unwrap());
    let mut processes = Vec::new();
    for urgency in [Urgency::Background, Urgency::Interactive, Urgency::Background, Urgency::Interactive] {
        let mut jobs = JoinSet::new();
        for _ in 0..8 {
            let pool = pool.clone();
            jobs.spawn(async move {
                said(ask(&pool, b"hostile:nap", urgency).await);
                who(&pool, urgency).await.0
            });
        }
        processes.extend(jobs.join_all().await);
        processes.sort_unstable();
        processes.dedup();
        // Those that had to make room are killed, and may not be gone yet.
        let running = async {
            while processes.iter().filter(|process| crate::runs(**process)).count() > 3 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(crate::AGES, running).await.unwrap();
    }
    assert!(processes.len() >= 4, "each kind of work has workers of its own");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn background_work_yields() {
    let pool = Pool::new(hostile()).unwrap();
    for (urgency, niceness) in [(Urgency::Background, 10), (Urgency::Interactive, 0)] {
        let (process, _) = who(&pool, urgency).await;
        let process = rustix::process::Pid::from_raw(process.try_into().unwrap());
        let own = rustix::process::getpriority_process(None).unwrap();
        let expect = if niceness == 0 { own } else { niceness.max(own) };
        assert_eq!(rustix::process::getpriority_process(process).unwrap(), expect);
    }
}
