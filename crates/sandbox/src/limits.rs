//! Resource limits of a worker, set by the service. A worker cannot raise them.

use std::{io, time::Duration};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessHandle {
    #[cfg(target_os = "linux")]
    pid: rustix::process::Pid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Mapped address space, in bytes.
    pub(crate) mapped_bytes: u64,
    /// Resident memory, in bytes.
    pub(crate) resident_bytes: u64,
    /// Processor time since its start.
    pub(crate) cpu: Duration,
}

#[cfg(target_os = "linux")]
impl ProcessHandle {
    /// The process with this id. It must not have been waited for yet, because after that the id may be reused.
    pub(crate) fn new(id: u32) -> Option<Self> {
        let id = i32::try_from(id).ok()?;
        Some(Self { pid: rustix::process::Pid::from_raw(id)? })
    }

    /// Lowers its scheduling priority irrevocably.
    pub(crate) fn lower_priority(self, niceness: i32) -> io::Result<()> {
        Ok(rustix::process::setpriority_process(Some(self.pid), niceness)?)
    }

    pub(crate) fn usage(self) -> io::Result<Usage> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", self.pid));
        let (pages, stat) = (read("statm")?, read("stat")?);
        let usage = mapped_and_resident(&pages).zip(cpu_ticks(&stat)).map(|((mapped, resident), ticks)| {
            let page_bytes = rustix::param::page_size() as u64;
            let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
            Usage {
                mapped_bytes: mapped.saturating_mul(page_bytes),
                resident_bytes: resident.saturating_mul(page_bytes),
                cpu: Duration::from_millis(ticks.saturating_mul(1000) / ticks_per_second),
            }
        });
        usage.ok_or_else(|| io::Error::other("the resource usage of a process cannot be parsed"))
    }

    /// Limits its mapped address space. Allocations beyond it fail.
    pub(crate) fn limit_mapped_bytes(self, bytes: u64) -> io::Result<()> {
        self.limit(rustix::process::Resource::As, bytes)
    }

    /// Limits the processor time of the process since its start, rounded up to seconds. The kernel kills a process that
    /// exceeds the limit.
    pub(crate) fn limit_cpu(self, cpu: Duration) -> io::Result<()> {
        self.limit(rustix::process::Resource::Cpu, cpu.as_secs() + u64::from(cpu.subsec_nanos() > 0))
    }

    fn limit(self, resource: rustix::process::Resource, limit: u64) -> io::Result<()> {
        // The worker keeps the hard limit that it inherited, so that its soft limit can be raised again.
        let maximum = rustix::process::getrlimit(resource).maximum;
        let limit = maximum.map_or(limit, |maximum| maximum.min(limit));
        let limit = rustix::process::Rlimit { current: Some(limit), maximum };
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

/// User and system time: fields 14 and 15 of `/proc/<pid>/stat` (proc_pid_stat(5)). Field 2 is the program's name in
/// parentheses, which may contain any characters.
#[cfg(any(target_os = "linux", test))]
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(11).map(|number| number.parse::<u64>().ok());
    fields.next()??.checked_add(fields.next()??)
}

#[cfg(not(target_os = "linux"))]
impl ProcessHandle {
    pub(crate) fn new(_id: u32) -> Option<Self> {
        Some(Self {})
    }

    pub(crate) fn lower_priority(self, _niceness: i32) -> io::Result<()> {
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
    fn proc_files_are_parsed() {
        assert_eq!(mapped_and_resident("1234 567 89 1 0 2 0\n"), Some((1234, 567)));
        assert_eq!(mapped_and_resident("1234"), None);
        let stat = "42 (a ) b) R 1 2 3 4 5 6 7 8 9 10 250 17 0 0 20";
        assert_eq!(cpu_ticks(stat), Some(267));
        assert_eq!(cpu_ticks("42 (short) R 1 2"), None);
        assert_eq!(cpu_ticks(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn usage_of_this_process_is_read() {
        let usage = ProcessHandle::new(std::process::id()).unwrap().usage().unwrap();
        assert!(usage.resident_bytes > 0 && usage.mapped_bytes >= usage.resident_bytes);
    }
}
