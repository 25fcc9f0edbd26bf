//! What a worker that a file has taken over can do. Its own confinement is the real one.

use sandbox::{FileFault, Pool};

use crate::{fault, honest, hostile, said, tell};

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_worker_reaches_nothing() {
    let pool = Pool::new(hostile()).unwrap();
    let denied = "Operation not permitted (os error 1)";
    for escape in [
        "read-file",
        "write-file",
        "list-folder",
        "remove-file",
        "look-at-file",
        "run-program",
        "raise-limit",
    ] {
        assert_eq!(said(tell(&pool, escape).await), denied, "{escape}");
    }
    for escape in ["connect", "kill"] {
        let fault = fault(tell(&pool, escape).await);
        let killed = "signal: 31 (SIGSYS)".to_owned();
        assert_eq!(fault, FileFault::Crashed { how: killed }, "{escape}");
    }
    assert_eq!(said(tell(&pool, "thread").await), "a thread ran");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn protections_are_told() {
    let pool = Pool::new(honest()).unwrap();
    let protections = pool.protections().await.unwrap();
    assert!(protections.system_calls && protections.limits);
    assert_eq!(protections.missing().len(), usize::from(!protections.files));
}
