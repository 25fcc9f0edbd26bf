use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use sandbox::{DecodeError, FileFault, Pool, PoolOptions, TimeKind, Urgency, WorkerCommand};

use crate::{ask, fault, hostile, runs, tell, who, worker};

const PHOTO: &[u8] = include_bytes!("../../../../fixtures/samples/wood-anemones.jpg");

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_costs_its_file_and_no_other() {
    let pool = Arc::new(Pool::new(hostile()).unwrap());
    let good: Vec<_> = (0..6)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move { ask(&pool, PHOTO, Urgency::Background).await.unwrap() })
        })
        .collect();
    for (misdeed, end) in [
        ("abort", "signal: 6 (SIGABRT)"),
        ("abort-late", "signal: 6 (SIGABRT)"),
        ("overflow", "signal: 6 (SIGABRT)"),
        ("panic", "exit status: 101"),
        ("exit", "exit status: 0"),
    ] {
        let fault = fault(tell(&pool, misdeed).await);
        assert_eq!(fault, FileFault::Crashed { how: end.to_owned() }, "{misdeed}");
        assert_eq!(fault.to_string(), "the decoder crashed on this file");
    }
    for job in good {
        job.await.unwrap();
    }
}

#[tokio::test]
async fn a_file_is_tried_once_more_in_a_fresh_worker() {
    let pool = Pool::new(hostile()).unwrap();
    let (first, _) = who(&pool, Urgency::Background).await;
    // It crashes the worker that has had a photo before, and no fresh one.
    assert!(tell(&pool, "abort-unless-fresh").await.is_ok());
    crate::ended(first).await;
    assert_eq!(who(&pool, Urgency::Background).await.1, 2);
}

#[tokio::test]
async fn a_worker_that_takes_too_long_is_ended() {
    let check = async |misdeed, options: PoolOptions, expect| {
        let pool = Pool::new(options).unwrap();
        assert_eq!(fault(tell(&pool, misdeed).await), expect, "{misdeed}");
        assert_eq!(who(&pool, Urgency::Background).await.1, 1);
    };
    let (wall, cpu) = (Duration::from_secs(2), Duration::from_secs(1));
    let slow = FileFault::TimedOut { kind: TimeKind::Wall, limit: wall };
    check("sleep", PoolOptions { wall_limit: wall, ..hostile() }, slow).await;
    let busy = FileFault::TimedOut { kind: TimeKind::Cpu, limit: cpu };
    check("spin", PoolOptions { cpu_limit: cpu, ..hostile() }, busy).await;
}

#[tokio::test]
async fn a_worker_that_takes_too_much_memory_is_ended() {
    let pool = Pool::new(PoolOptions { memory_bytes: 400 << 20, ..hostile() }).unwrap();
    for misdeed in ["eat", "eat-late"] {
        let fault = fault(tell(&pool, misdeed).await);
        assert_eq!(fault, FileFault::OutOfMemory { limit_bytes: 350 << 20 }, "{misdeed}");
    }
    assert!(ask(&pool, PHOTO, Urgency::Background).await.is_ok());
}

#[tokio::test]
async fn a_liar_is_not_believed() {
    let pool = Pool::new(hostile()).unwrap();
    for (misdeed, lie) in [
        ("huge-head", "a message announces too much"),
        ("flood", "a message announces too much"),
        ("no-json", "a message is malformed"),
        ("other-message", "a message is malformed"),
        ("no-reason", "it refused the file without a reason"),
        ("no-pixels", "it announced a picture that it had to refuse"),
        ("much-memory", "it announced more memory than any picture needs"),
        ("other-size", "its picture has another size"),
        ("long-blob", "it made a rendition that is longer than its pixels"),
        ("few-blobs", "it made other renditions than were wanted"),
        ("swapped", "its picture has another size"),
        ("exif", "it holds more than a picture"),
        ("no-webp", "it is no WebP file"),
    ] {
        match fault(tell(&pool, misdeed).await) {
            FileFault::Crashed { how } => {
                assert!(how.starts_with(&format!("it gave nonsense: {lie}")), "{misdeed}: {how}");
            }
            other => panic!("{misdeed}: {other:?}"),
        }
    }
    let cut = fault(tell(&pool, "half-head").await);
    assert_eq!(cut, FileFault::Crashed { how: "exit status: 0".into() });
    assert!(ask(&pool, PHOTO, Urgency::Background).await.is_ok());
}

#[tokio::test]
async fn what_a_worker_says_before_it_is_asked_is_not_heard() {
    let pool = Pool::new(hostile()).unwrap();
    assert!(tell(&pool, "leftover").await.is_ok());
    assert!(ask(&pool, PHOTO, Urgency::Background).await.is_ok());
}

#[tokio::test]
async fn complaints_never_block_a_worker() {
    let pool = Pool::new(hostile()).unwrap();
    assert!(tell(&pool, "complain").await.is_ok());
}

#[tokio::test]
async fn whoever_gives_up_ends_the_worker() {
    let pool = Pool::new(PoolOptions { workers: 1, ..hostile() }).unwrap();
    let (process, _) = who(&pool, Urgency::Background).await;
    let patience = Duration::from_millis(50);
    assert!(tokio::time::timeout(patience, tell(&pool, "sleep")).await.is_err());
    crate::ended(process).await;
    assert!(ask(&pool, PHOTO, Urgency::Background).await.is_ok());
}

#[tokio::test]
async fn what_is_not_the_files_fault_is_told_apart() {
    let check = async |command: WorkerCommand, reason: &str| {
        let pool = Pool::new(PoolOptions { command, ..hostile() }).unwrap();
        match ask(&pool, PHOTO, Urgency::Background).await {
            Err(DecodeError::Unavailable(error)) => assert!(error.to_string().contains(reason), "{error}"),
            other => panic!("{reason}: {other:?}"),
        }
        assert!(pool.protections().await.is_err());
    };
    let starting = |misdeed| worker("hostile_decoder", &[misdeed]);
    let nowhere = WorkerCommand { program: "/nowhere/decoder".into(), ..starting("") };
    check(nowhere, "No such file").await;
    check(starting("exit"), "the decoder does not start: exit status: 3").await;
    check(starting("complain"), "I do not feel well").await;
    check(starting("wrong-version"), "another version").await;
    check(starting("wrong-protocol"), "another version").await;
    check(starting("garbage"), "the decoder does not start").await;
}

#[tokio::test]
async fn a_worker_that_died_idle_is_replaced() {
    let pool = Pool::new(hostile()).unwrap();
    let (process, _) = who(&pool, Urgency::Background).await;
    let id = rustix::process::Pid::from_raw(process.try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    let (other, jobs) = who(&pool, Urgency::Background).await;
    assert!(other != process && jobs == 1);
}

#[tokio::test]
async fn workers_end_with_their_pool() {
    let pool = Pool::new(PoolOptions { idle_limit: Duration::from_millis(20), ..hostile() }).unwrap();
    let (idle, _) = who(&pool, Urgency::Background).await;
    crate::ended(idle).await;

    let pool = Pool::new(hostile()).unwrap();
    let (dropped, _) = who(&pool, Urgency::Interactive).await;
    assert!(runs(dropped));
    drop(pool);
    crate::ended(dropped).await;

    let pool = Pool::new(hostile()).unwrap();
    let (closed, _) = who(&pool, Urgency::Interactive).await;
    pool.close().await;
    assert!(!runs(closed));
    assert!(matches!(ask(&pool, PHOTO, Urgency::Interactive).await, Err(DecodeError::Unavailable(_))));
}

#[test]
fn workers_do_not_outlive_their_service() {
    // The runtime ends without a word to the pool, as it does when a service is stopped.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (pool, process) = runtime.block_on(async {
        let pool = Pool::new(hostile()).unwrap();
        let (process, _) = who(&pool, Urgency::Background).await;
        (pool, process)
    });
    assert!(fs::metadata(PathBuf::from(format!("/proc/{process}"))).is_ok());
    drop(pool);
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // Ended, but nobody may be left to ask how: then the kernel keeps its name.
    runtime.block_on(async {
        let state = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let ended = async {
            while !state().is_empty() && !state().contains(") Z ") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(crate::AGES, ended).await.unwrap();
    });
}
