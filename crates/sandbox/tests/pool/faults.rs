//! Tests the handling of workers that crash, hang or misbehave.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use sandbox::{DecodeError, FileFault, Pool, PoolOptions, TimeKind, Urgency, WorkerCommand};

use crate::{decode, fault, hostile, identify, is_running, misbehave, worker};

const PHOTO: &[u8] = include_bytes!("../../../../fixtures/samples/wood-anemones.jpg");

#[tokio::test(flavor = "multi_thread")]
async fn crash_affects_no_other_file() {
    let pool = Arc::new(Pool::new(hostile()).unwrap());
    let good: Vec<_> = (0..6)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move { decode(&pool, PHOTO, Urgency::Background).await.unwrap() })
        })
        .collect();
    for (misbehaviour, end) in [
        ("abort", "signal: 6 (SIGABRT)"),
        ("abort-late", "signal: 6 (SIGABRT)"),
        ("overflow", "signal: 6 (SIGABRT)"),
        ("panic", "exit status: 101"),
        ("exit", "exit status: 0"),
    ] {
        let fault = fault(misbehave(&pool, misbehaviour).await);
        assert_eq!(fault, FileFault::Crashed { how: end.to_owned() }, "{misbehaviour}");
        assert_eq!(fault.to_string(), "the decoder crashed on this file");
    }
    for job in good {
        job.await.unwrap();
    }
}

#[tokio::test]
async fn file_is_retried_in_a_new_worker() {
    let pool = Pool::new(hostile()).unwrap();
    let (first, _) = identify(&pool, Urgency::Background).await;
    // This file crashes a worker that has done a job before, but not a new worker.
    assert!(misbehave(&pool, "abort-unless-fresh").await.is_ok());
    crate::wait_for_exit(first).await;
    assert_eq!(identify(&pool, Urgency::Background).await.1, 2);
}

#[tokio::test]
async fn slow_worker_is_killed() {
    let check = async |misbehaviour, options: PoolOptions, expect| {
        let pool = Pool::new(options).unwrap();
        assert_eq!(fault(misbehave(&pool, misbehaviour).await), expect, "{misbehaviour}");
        assert_eq!(identify(&pool, Urgency::Background).await.1, 1);
    };
    let (wall, cpu) = (Duration::from_secs(2), Duration::from_secs(1));
    let slow = FileFault::TimedOut { kind: TimeKind::Wall, limit: wall };
    check("sleep", PoolOptions { wall_limit: wall, ..hostile() }, slow).await;
    let busy = FileFault::TimedOut { kind: TimeKind::Cpu, limit: cpu };
    check("spin", PoolOptions { cpu_limit: cpu, ..hostile() }, busy).await;
}

#[tokio::test]
async fn worker_that_exceeds_its_memory_is_stopped() {
    let pool = Pool::new(PoolOptions { memory_bytes: 400 << 20, ..hostile() }).unwrap();
    for misbehaviour in ["eat", "eat-late"] {
        let fault = fault(misbehave(&pool, misbehaviour).await);
        assert_eq!(fault, FileFault::OutOfMemory { limit_bytes: 350 << 20 }, "{misbehaviour}");
    }
    assert!(decode(&pool, PHOTO, Urgency::Background).await.is_ok());
}

#[tokio::test]
async fn invalid_responses_are_refused() {
    let pool = Pool::new(hostile()).unwrap();
    for (misbehaviour, reason) in [
        ("huge-head", "a message is too long"),
        ("flood", "a message is too long"),
        ("no-json", "a message is malformed"),
        ("other-message", "a message is malformed"),
        ("no-reason", "it refused the file without a reason"),
        ("no-pixels", "it announced a picture that it should have refused"),
        ("much-memory", "it announced more memory than any picture needs"),
        ("other-size", "its picture has another size"),
        ("long-blob", "it made a rendition that is longer than its pixels"),
        ("few-blobs", "it made other renditions than were requested"),
        ("long-preview", "it made a preview of impossible length"),
        ("swapped", "its picture has another size"),
        ("exif", "it contains more than a picture"),
        ("no-webp", "it is not a WebP file"),
    ] {
        match fault(misbehave(&pool, misbehaviour).await) {
            FileFault::Crashed { how } => {
                assert!(how.starts_with(&format!("invalid response: {reason}")), "{misbehaviour}: {how}");
            }
            other => panic!("{misbehaviour}: {other:?}"),
        }
    }
    let cut = fault(misbehave(&pool, "half-head").await);
    assert_eq!(cut, FileFault::Crashed { how: "exit status: 0".into() });
    assert!(decode(&pool, PHOTO, Urgency::Background).await.is_ok());
}

#[tokio::test]
async fn unsolicited_messages_are_ignored() {
    let pool = Pool::new(hostile()).unwrap();
    assert!(misbehave(&pool, "leftover").await.is_ok());
    assert!(decode(&pool, PHOTO, Urgency::Background).await.is_ok());
}

#[tokio::test]
async fn stderr_never_blocks_a_worker() {
    let pool = Pool::new(hostile()).unwrap();
    assert!(misbehave(&pool, "complain").await.is_ok());
}

#[tokio::test]
async fn dropped_job_kills_its_worker() {
    let pool = Pool::new(PoolOptions { workers: 1, ..hostile() }).unwrap();
    let (process, _) = identify(&pool, Urgency::Background).await;
    let timeout = Duration::from_millis(50);
    assert!(tokio::time::timeout(timeout, misbehave(&pool, "sleep")).await.is_err());
    crate::wait_for_exit(process).await;
    assert!(decode(&pool, PHOTO, Urgency::Background).await.is_ok());
}

#[tokio::test]
async fn start_failure_is_no_fault_of_the_file() {
    let check = async |command: WorkerCommand, reason: &str| {
        let pool = Pool::new(PoolOptions { command, ..hostile() }).unwrap();
        match decode(&pool, PHOTO, Urgency::Background).await {
            Err(DecodeError::Unavailable(error)) => assert!(error.to_string().contains(reason), "{error}"),
            other => panic!("{reason}: {other:?}"),
        }
        assert!(pool.protections().await.is_err());
    };
    let starting = |misbehaviour| worker("hostile_decoder", &[misbehaviour]);
    let missing = WorkerCommand { program: "/nowhere/decoder".into(), ..starting("") };
    check(missing, "No such file").await;
    check(starting("exit"), "the decoder does not start: exit status: 3").await;
    check(starting("complain"), "a message on stderr").await;
    check(starting("wrong-version"), "another version").await;
    check(starting("wrong-protocol"), "another version").await;
    check(starting("garbage"), "the decoder does not start").await;
}

#[tokio::test]
async fn worker_that_died_idle_is_replaced() {
    let pool = Pool::new(hostile()).unwrap();
    let (process, _) = identify(&pool, Urgency::Background).await;
    let id = rustix::process::Pid::from_raw(process.try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    let (other, jobs) = identify(&pool, Urgency::Background).await;
    assert!(other != process && jobs == 1);
}

#[tokio::test]
async fn workers_end_with_their_pool() {
    let pool = Pool::new(PoolOptions { idle_limit: Duration::from_millis(20), ..hostile() }).unwrap();
    let (idle, _) = identify(&pool, Urgency::Background).await;
    crate::wait_for_exit(idle).await;

    let pool = Pool::new(hostile()).unwrap();
    let (dropped, _) = identify(&pool, Urgency::Interactive).await;
    assert!(is_running(dropped));
    drop(pool);
    crate::wait_for_exit(dropped).await;

    let pool = Pool::new(hostile()).unwrap();
    let (closed, _) = identify(&pool, Urgency::Interactive).await;
    pool.close().await;
    assert!(!is_running(closed));
    assert!(matches!(decode(&pool, PHOTO, Urgency::Interactive).await, Err(DecodeError::Unavailable(_))));
}

#[test]
fn workers_end_with_the_runtime() {
    // The runtime ends without closing the pool, as when a service is stopped.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (pool, process) = runtime.block_on(async {
        let pool = Pool::new(hostile()).unwrap();
        let (process, _) = identify(&pool, Urgency::Background).await;
        (pool, process)
    });
    assert!(fs::metadata(PathBuf::from(format!("/proc/{process}"))).is_ok());
    drop(pool);
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // The process may remain as a zombie, because no task is left that waits for it.
    runtime.block_on(async {
        let state = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let ended = async {
            while !state().is_empty() && !state().contains(") Z ") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(crate::LONG_TIMEOUT, ended).await.unwrap();
    });
}
