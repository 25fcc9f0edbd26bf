//! The limit on open file descriptors, which files and connections share.

/// Descriptors reserved for everything but connections: stores, photos being indexed, the log.
const RESERVED: u64 = 256;
/// A lower limit on connections would make the server useless.
const MIN_CONNECTIONS: usize = 16;

/// Raises the soft limit to the hard limit and returns it; `None` means unlimited.
#[cfg(unix)]
pub(crate) fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit != raised
        && let Err(error) = setrlimit(Resource::Nofile, raised)
    {
        tracing::debug!(%error, "file descriptor limit not raised");
    }
    let descriptors = getrlimit(Resource::Nofile).current;
    tracing::debug!(descriptors, "file descriptor limit");
    descriptors
}

/// There is no such limit on this system.
#[cfg(not(unix))]
pub(crate) fn raise_limit() -> Option<u64> {
    None
}

/// The number of connections to allow with this many descriptors: at most `wanted`.
pub(crate) fn max_connections(descriptors: Option<u64>, wanted: usize) -> usize {
    let available = descriptors
        .map_or(wanted, |limit| usize::try_from(limit.saturating_sub(RESERVED)).unwrap_or(usize::MAX));
    available.max(MIN_CONNECTIONS).min(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_reserved_for_files() {
        let check = |descriptors, expect| assert_eq!(max_connections(descriptors, 1024), expect);
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
    fn the_soft_limit_is_raised_to_the_hard_limit() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: Some(128), maximum }).unwrap();
        assert_eq!(raise_limit(), maximum);
    }
}
