use std::{
    io,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use super::{Usage, UsageMonitor, usage::cpu_of_waited_children};

/// How a program ended, and what it took.
#[derive(Debug)]
pub struct ProcessOutcome {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: String,
    /// From its start to its end.
    pub took: Duration,
    /// What it and its descendants used.
    pub usage: Usage,
}

/// Runs a program to its end. Only one at a time may be run so: the system tells the time of ended children as one sum.
///
/// # Errors
/// It cannot be started.
pub fn run(command: &mut Command) -> io::Result<ProcessOutcome> {
    let cpu_before = cpu_of_waited_children();
    let began = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let watch = UsageMonitor::start(child.id());
    let output = child.wait_with_output()?;
    let took = began.elapsed();
    let mut usage = watch.usage();
    // The last look missed its end.
    usage.cpu = usage.cpu.max(cpu_of_waited_children().saturating_sub(cpu_before));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(ProcessOutcome { status: output.status, stdout: output.stdout, stderr, took, usage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn work_of_descendants_counts() {
        // The work is done by a grandchild, which ends between two looks.
        let script =
            "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; echo done; echo oh >&2; exit 3";
        let finished = run(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!((finished.stdout.as_slice(), finished.stderr.as_str()), (b"done\n".as_slice(), "oh\n"));
        assert!(finished.usage.cpu > Duration::ZERO, "{:?}", finished.usage);
        assert!(finished.usage.cpu <= finished.took + Duration::from_millis(20));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(run(&mut Command::new("no-such-program")).is_err());
    }
}
