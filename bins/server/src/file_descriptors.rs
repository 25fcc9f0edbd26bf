//! How many files and connections the system lets this process hold open at once.

/// What is kept for everything that is no connection: the stores, photos being indexed, the log.
const RESERVED: u64 = 256;
/// Fewer connections would serve nobody.
const MIN_CONNECTIONS: usize = 16;

/// Raises the process's limit as far as it may by itself, and gives it; `None` when there is none.
#[cfg(unix)]
pub(crate) fn allow_most() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit != raised
        && let Err(error) = setrlimit(Resource::Nofile, raised)
    {
        tracing::debug!(%error, "the limit on file descriptors stays as it was");
    }
    let descriptors = getrlimit(Resource::Nofile).current;
    tracing::debug!(descriptors, "file descriptors that may be open at once");
    descriptors
}

/// The system knows no such limit.
#[cfg(not(unix))]
pub(crate) fn allow_most() -> Option<u64> {
    None
}

/// How many connections may be open, at most `wanted`, when so many descriptors may be.
pub(crate) fn connections_within(descriptors: Option<u64>, wanted: usize) -> usize {
    let room = descriptors
        .map_or(wanted, |limit| usize::try_from(limit.saturating_sub(RESERVED)).unwrap_or(usize::MAX));
    room.max(MIN_CONNECTIONS).min(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_files() {
        let check = |descriptors, expect| assert_eq!(connections_within(descriptors, 1024), expect);
        check(None, 1024);
        check(Some(u64::MAX), 1024);
        check(Some(1280), 1024);
        check(Some(1279), 1023);
        check(Some(1024), 768);
        check(Some(272), 16);
        check(Some(100), 16);
        check(Some(0), 16);
    }

    #[cfg(unix)]
    #[test]
    fn the_limit_is_raised_to_what_the_system_allows() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: Some(128), maximum }).unwrap();
        assert_eq!(allow_most(), maximum);
    }
}
