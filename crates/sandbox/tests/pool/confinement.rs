//! Tests what a worker that was taken over can do. It has the real sandbox.

use sandbox::{FileFault, Pool};

use crate::{fault, honest, hostile, misbehave, refusal_reason};

#[cfg(target_os = "linux")]
#[tokio::test]
async fn worker_is_sandboxed() {
    let pool = Pool::new(hostile()).unwrap();
    let denied = "Operation not permitted (os error 1)";
    for escape in [
        "read-file",
        "write-file",
        "list-folder",
        "remove-file",
        "read-metadata",
        "run-program",
        "raise-limit",
    ] {
        assert_eq!(refusal_reason(misbehave(&pool, escape).await), denied, "{escape}");
    }
    for escape in ["connect", "kill"] {
        let fault = fault(misbehave(&pool, escape).await);
        let killed = "signal: 31 (SIGSYS)".to_owned();
        assert_eq!(fault, FileFault::Crashed { how: killed }, "{escape}");
    }
    assert_eq!(refusal_reason(misbehave(&pool, "thread").await), "a thread ran");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn protections_are_reported() {
    let pool = Pool::new(honest()).unwrap();
    let protections = pool.protections().await.unwrap();
    assert!(protections.system_calls && protections.limits);
    assert_eq!(protections.missing().len(), usize::from(!protections.files));
}
