//! Gives up the capabilities of a process that runs as root or was given some.

use rustix::{
    io::{Errno, Result},
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities,
    },
};

/// Empties all capability sets of the calling thread: ambient, bounding, effective, permitted and inheritable.
pub(super) fn drop_all() -> Result<()> {
    clear_ambient_capability_set()?;
    empty_bounding_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Empties the bounding set, if the thread may change its capabilities. For other threads the set has no effect, because Landlock
/// denies them new privileges.
fn empty_bounding_set() -> Result<()> {
    for number in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // The kernel has no capability with this number, or the thread may not change the set.
            Err(Errno::INVAL | Errno::PERM) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    /// The names and the values of the capability sets of the calling thread (proc_pid_status(5)).
    fn sets() -> Vec<(String, u64)> {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        let lines = status.lines().filter_map(|line| line.strip_prefix("Cap")?.split_once(":\t"));
        lines.map(|(name, value)| (name.to_owned(), u64::from_str_radix(value, 16).unwrap())).collect()
    }

    #[test]
    fn a_thread_without_capabilities_has_none_in_any_set() {
        // Only the calling thread is changed, so other tests are not affected.
        let (before, after) = thread::spawn(|| {
            let before = sets();
            super::drop_all().unwrap();
            (before, sets())
        })
        .join()
        .unwrap();
        assert_eq!(after.len(), 5, "{after:?}");
        let may_change_bounding = before.iter().any(|(name, value)| name == "Eff" && value & (1 << 8) != 0);
        for (name, value) in after {
            assert!(value == 0 || (name == "Bnd" && !may_change_bounding), "{name}: {value:x}");
        }
    }
}
