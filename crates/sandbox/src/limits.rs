//! What the kernel lets a worker use, set from outside: nothing that a worker says or does can raise it.

use std::{io, time::Duration};

/// A running worker, as the kernel knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process {
    #[cfg(target_os = "linux")]
    pid: rustix::process::Pid,
}

/// What a worker uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Addresses that are mapped, in bytes.
    pub(crate) mapped_bytes: u64,
    /// Memory that is really held, in bytes.
    pub(crate) resident_bytes: u64,
    /// Processor time since it began.
    pub(crate) cpu: Duration,
}

#[cfg(target_os = "linux")]
impl Process {
    /// The process of that id, which must not have been waited for yet: until then the id is its own.
    pub(crate) fn new(id: u32) -> Option<Self> {
        let id = i32::try_from(id).ok()?;
        Some(Self { pid: rustix::process::Pid::from_raw(id)? })
    }

    /// Makes it yield to everything that is not background work. There is no way back.
    pub(crate) fn yield_to_others(self) -> io::Result<()> {
        const BACKGROUND_NICENESS: i32 = 10;
        Ok(rustix::process::setpriority_process(Some(self.pid), BACKGROUND_NICENESS)?)
    }

    pub(crate) fn usage(self) -> io::Result<Usage> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", self.pid));
        let (pages, stat) = (read("statm")?, read("stat")?);
        let usage = mapped_and_resident(&pages).zip(cpu_ticks(&stat)).map(|((mapped, resident), ticks)| {
            let page_bytes = rustix::param::page_size() as u64;
            let ticks_a_second = rustix::param::clock_ticks_per_second().max(1);
            Usage {
                mapped_bytes: mapped.saturating_mul(page_bytes),
                resident_bytes: resident.saturating_mul(page_bytes),
                cpu: Duration::from_millis(ticks.saturating_mul(1000) / ticks_a_second),
            }
        });
        usage.ok_or_else(|| io::Error::other("the kernel's account of a process is not understood"))
    }

    /// The most addresses that it may map. What it asks for beyond them it does not get.
    pub(crate) fn limit_mapped_bytes(self, bytes: u64) -> io::Result<()> {
        self.limit(rustix::process::Resource::As, bytes)
    }

    /// The processor time, since it began, after which the kernel ends it; rounded up to seconds.
    pub(crate) fn limit_cpu(self, cpu: Duration) -> io::Result<()> {
        self.limit(rustix::process::Resource::Cpu, cpu.as_secs() + u64::from(cpu.subsec_nanos() > 0))
    }

    fn limit(self, resource: rustix::process::Resource, most: u64) -> io::Result<()> {
        // A worker inherits the upper bounds of this process and keeps them, so that its limits can be raised again.
        let maximum = rustix::process::getrlimit(resource).maximum;
        let most = maximum.map_or(most, |maximum| maximum.min(most));
        let limit = rustix::process::Rlimit { current: Some(most), maximum };
        rustix::process::prlimit(Some(self.pid), resource, limit)?;
        Ok(())
    }
}

/// The first two numbers of `/proc/<pid>/statm`, in pages (proc_pid_statm(5)).
#[cfg(any(target_os = "linux", test))]
fn mapped_and_resident(statm: &str) -> Option<(u64, u64)> {
    let mut numbers = statm.split_ascii_whitespace().map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// User and system time of `/proc/<pid>/stat`, its fields 14 and 15 (proc_pid_stat(5)). The second field is the
/// program's name in parentheses, which may hold anything.
#[cfg(any(target_os = "linux", test))]
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(11).map(|number| number.parse::<u64>().ok());
    fields.next()??.checked_add(fields.next()??)
}

#[cfg(not(target_os = "linux"))]
impl Process {
    pub(crate) fn new(_id: u32) -> Option<Self> {
        Some(Self {})
    }

    pub(crate) fn yield_to_others(self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn usage(self) -> io::Result<Usage> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn limit_mapped_bytes(self, _bytes: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn limit_cpu(self, _cpu: Duration) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_accounts_are_read() {
        assert_eq!(mapped_and_resident("1234 567 89 1 0 2 0\n"), Some((1234, 567)));
        assert_eq!(mapped_and_resident("1234"), None);
        let stat = "42 (a ) b) R 1 2 3 4 5 6 7 8 9 10 250 17 0 0 20";
        assert_eq!(cpu_ticks(stat), Some(267));
        assert_eq!(cpu_ticks("42 (short) R 1 2"), None);
        assert_eq!(cpu_ticks(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_an_account() {
        let usage = Process::new(std::process::id()).unwrap().usage().unwrap();
        assert!(usage.resident_bytes > 0 && usage.mapped_bytes >= usage.resident_bytes);
    }
}
