//! Tests what a compromised worker can do. The workers run in the real sandbox.

use sandbox::{FileFault, Pool, Urgency};

use crate::{fault, honest, hostile, identify, misbehave, refusal_reason};

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

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_has_no_capabilities() {
    let pool = Pool::new(hostile()).unwrap();
    let (process, _) = identify(&pool, Urgency::Background).await;
    let status = |process: &str| std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let sets = |status: &str| -> Vec<(String, u64)> {
        let lines = status.lines().filter_map(|line| line.strip_prefix("Cap")?.split_once(":\t"));
        lines.map(|(name, value)| (name.to_owned(), u64::from_str_radix(value, 16).unwrap())).collect()
    };
    // Only a process with CAP_SETPCAP can empty the bounding set. The set has no effect on a process that cannot gain privileges.
    let is_bounded = sets(&status("self")).iter().any(|(name, value)| name == "Eff" && value & (1 << 8) != 0);
    let status = status(&process.to_string());
    for (name, value) in sets(&status) {
        assert!(value == 0 || (name == "Bnd" && !is_bounded), "{name}: {value:x}");
    }
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
}
