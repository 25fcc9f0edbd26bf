use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetError, RulesetStatus, Scope,
};

/// The newest rules that are asked for; an older kernel enforces those it knows.
const RULES: ABI = ABI::V6;

/// Denies every access to files and TCP ports, and signals and abstract sockets of other processes. `false`: this
/// kernel has no Landlock.
pub(super) fn close() -> Result<bool, String> {
    let restrict = || -> Result<_, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(RULES))?
            .handle_access(AccessNet::from_all(RULES))?
            .scope(Scope::from_all(RULES))?
            .create()?
            .restrict_self()
    };
    let status = restrict().map_err(|error| error.to_string())?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

#[cfg(test)]
mod tests {
    use std::{fs, io, net, thread};

    #[test]
    fn a_closed_thread_opens_nothing() {
        // It binds the thread that asks for it; the other tests go on as they were.
        let outcomes = thread::spawn(|| {
            let enforced = super::close().unwrap();
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
        // Ports are closed by newer kernels only.
        assert!(enforced || bound.is_ok());
    }
}
