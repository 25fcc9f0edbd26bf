use std::{
    collections::HashMap,
    fs, ops,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// Interval of samples.
const INTERVAL: Duration = Duration::from_millis(50);
/// Linux counts processor time in hundredths of a second.
const TICKS_PER_S: f64 = 100.0;

/// The usage of a process tree.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// User and system time, with that of exited descendants that were waited for.
    pub cpu: Duration,
    /// Peak of the sum of the proportional set sizes, which count a shared page once.
    pub peak_bytes: u64,
}

impl ops::Add for Usage {
    type Output = Self;

    /// The usage of two process trees that ran one after the other.
    fn add(self, later: Self) -> Self {
        Self { cpu: self.cpu + later.cpu, peak_bytes: self.peak_bytes.max(later.peak_bytes) }
    }
}

/// Samples a process tree 20 times a second until dropped.
#[derive(Debug)]
pub struct UsageMonitor {
    samples: Arc<Mutex<Samples>>,
    root: u32,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl UsageMonitor {
    /// Starts to monitor the process with this ID and its descendants.
    pub fn start(root: u32) -> Self {
        let (samples, stop) = (Arc::<Mutex<Samples>>::default(), Arc::<AtomicBool>::default());
        let thread = thread::spawn({
            let (samples, stop) = (samples.clone(), stop.clone());
            move || {
                while !stop.load(Ordering::Relaxed) {
                    sample(root, &samples);
                    thread::sleep(INTERVAL);
                }
            }
        });
        Self { samples, root, stop, thread: Some(thread) }
    }

    /// The usage so far.
    pub fn usage(&self) -> Usage {
        sample(self.root, &self.samples);
        self.samples.lock().unwrap_or_else(PoisonError::into_inner).usage
    }
}

impl Drop for UsageMonitor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has no consequence here.
            let _ = thread.join();
        }
    }
}

/// What the samples so far have shown.
#[derive(Debug, Default)]
struct Samples {
    usage: Usage,
    /// Peak of the memory without mapped files.
    peak_unmapped_bytes: u64,
}

fn sample(root: u32, samples: &Mutex<Samples>) {
    let members = Process::tree(root);
    let ticks = members.iter().map(|member| member.ticks).sum::<f64>();
    let Samples { usage, peak_unmapped_bytes } = &mut *samples.lock().unwrap_or_else(PoisonError::into_inner);
    // The time of a killed process is lost if its parent has not waited for it.
    usage.cpu = usage.cpu.max(Duration::from_secs_f64(ticks / TICKS_PER_S));
    let sum = |of: fn(u32) -> Option<u64>| members.iter().filter_map(|member| of(member.id)).sum::<u64>();
    // Linux stops a process for milliseconds to compute its proportional set size. That size grows with the memory without mapped
    // files, which is cheap to read. So the proportional size is read only when that memory has a new peak.
    let unmapped_bytes = sum(unmapped_bytes);
    if unmapped_bytes > *peak_unmapped_bytes {
        *peak_unmapped_bytes = unmapped_bytes;
        usage.peak_bytes = usage.peak_bytes.max(sum(proportional_bytes));
    }
}

/// The processor time of this process's exited children and their descendants.
pub(super) fn cpu_of_waited_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = fields(&stat).map_or(0.0, |fields| ticks(&fields, 15..17));
    Duration::from_secs_f64(ticks / TICKS_PER_S)
}

/// The processor time of a process alone.
pub(super) fn own_cpu(id: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    Some(Duration::from_secs_f64(ticks(&fields(&stat)?, 13..15) / TICKS_PER_S))
}

#[derive(Debug, Clone, Copy)]
struct Process {
    id: u32,
    parent: u32,
    /// Its own ticks, and those of the children that it has waited for.
    ticks: f64,
}

impl Process {
    /// The process and its current descendants; empty if it has exited.
    fn tree(root: u32) -> Vec<Self> {
        let mut children: HashMap<u32, Vec<Self>> = HashMap::new();
        let mut found = Vec::new();
        for process in Self::all() {
            if process.id == root {
                found.push(process);
            } else {
                children.entry(process.parent).or_default().push(process);
            }
        }
        let mut next = 0;
        while let Some(process) = found.get(next) {
            found.extend(children.remove(&process.id).unwrap_or_default());
            next += 1;
        }
        found
    }

    fn all() -> impl Iterator<Item = Self> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            Self::read(id, &fs::read_to_string(entry.path().join("stat")).ok()?)
        })
    }

    fn read(id: u32, stat: &str) -> Option<Self> {
        let fields = fields(stat)?;
        Some(Self { id, parent: fields.get(3)?.parse().ok()?, ticks: ticks(&fields, 13..17) })
    }
}

/// The fields of a `stat` file, numbered from 0 (proc_pid_stat(5) counts from 1).
fn fields(stat: &str) -> Option<Vec<&str>> {
    // The name is in parentheses, and may contain spaces and parentheses.
    let (_, after_name) = stat.rsplit_once(')')?;
    Some(["", ""].into_iter().chain(after_name.split_whitespace()).collect())
}

fn ticks(fields: &[&str], range: ops::Range<usize>) -> f64 {
    fields.get(range).unwrap_or_default().iter().filter_map(|field| field.parse::<f64>().ok()).sum()
}

/// The memory of a process: anonymous and shared memory, without mapped files.
fn unmapped_bytes(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    Some(kibibytes(&status, "RssAnon:")? + kibibytes(&status, "RssShmem:")?)
}

pub(super) fn allocated_bytes(id: u32) -> Option<u64> {
    kibibytes(&fs::read_to_string(format!("/proc/{id}/status")).ok()?, "RssAnon:")
}

fn proportional_bytes(id: u32) -> Option<u64> {
    kibibytes(&fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?, "Pss:")
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_are_parsed_after_the_name() {
        let stat = "42 (a) b (c) S 7 42 42 0 -1 4194304 100 200 0 0 11 22 33 44 20 0 1 0 100";
        let process = Process::read(42, stat).unwrap();
        assert_eq!((process.id, process.parent), (42, 7));
        assert!((process.ticks - 110.0).abs() < f64::EPSILON);
        assert!(Process::read(42, "42 (a").is_none());
    }

    #[test]
    fn sizes_are_found_by_name() {
        let text = "Rss:    2000 kB\nPss:     290 kB\nPss_Dirty: 108 kB\n";
        assert_eq!(kibibytes(text, "Pss:"), Some(290 * 1024));
        assert_eq!(kibibytes(text, "VmRSS:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_tree_includes_grandchildren() {
        use std::io::BufRead as _;
        let mut child = std::process::Command::new("sh")
            .args(["-c", "exec 3<&0; sh -c 'echo ready; read line' <&3 & wait"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        assert_eq!(Process::tree(child.id()).len(), 2);
        let watch = UsageMonitor::start(std::process::id());
        assert!(watch.usage().peak_bytes > 1_000_000);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(Process::tree(child.id()).is_empty());
    }
}
