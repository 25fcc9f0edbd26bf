//! Denies file access with Landlock.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetError, RulesetStatus, Scope,
};

/// The newest supported version of Landlock. An older kernel enforces what it supports.
const RULES: ABI = ABI::V6;

/// Denies access to all files and TCP ports, signals to other processes, and abstract sockets. Returns `false` if the kernel
/// has no Landlock.
pub(super) fn restrict() -> Result<bool, String> {
    let apply = || -> Result<_, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(RULES))?
            .handle_access(AccessNet::from_all(RULES))?
            .scope(Scope::from_all(RULES))?
            .create()?
            .restrict_self()
    };
    let status = apply().map_err(|error| error.to_string())?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

#[cfg(test)]
mod tests {
    use std::{fs, io, net, thread};

    #[test]
    fn restricted_thread_opens_no_files() {
        // Only the calling thread is restricted, so other tests are not affected.
        let outcomes = thread::spawn(|| {
            let enforced = super::restrict().unwrap();
            let read = fs::read("/proc/self/status").map(drop);
            let listed = fs::read_dir("/").map(drop);
            let written = fs::write(std::env::temp_dir().join("must-not-be-written"), "x");
            let bound = net::TcpListener::bind("127.0.0.1:0").map(drop);
            (enforced, [read, listed, written], bound)
        });
        let (enforced, files, bound) = outcomes.join().unwrap();
        for outcome in files {
            let denied = outcome.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
            assert_eq!(denied, enforced);
        }
        // Older kernels do not restrict ports.
        assert!(enforced || bound.is_ok());
    }
}
