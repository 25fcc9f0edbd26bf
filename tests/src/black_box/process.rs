use std::{
    io,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use super::{Usage, UsageMonitor, usage::cpu_of_waited_children};

/// The result of a process, with its cost.
#[derive(Debug)]
pub struct ProcessOutcome {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// The running time.
    pub took: Duration,
    /// The usage of the process tree.
    pub usage: Usage,
}

/// Runs a program until it exits. Only one may run at a time, because the operating system reports the processor time of
/// all exited children as one sum.
///
/// # Errors
/// The program cannot be started.
pub fn run(command: &mut Command) -> io::Result<ProcessOutcome> {
    let cpu_before = cpu_of_waited_children();
    let began = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let watch = UsageMonitor::start(child.id());
    let output = child.wait_with_output()?;
    let took = began.elapsed();
    let mut usage = watch.usage();
    // The last sample was taken before the exit.
    usage.cpu = usage.cpu.max(cpu_of_waited_children().saturating_sub(cpu_before));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(ProcessOutcome { status: output.status, stdout: output.stdout, stderr, took, usage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn usage_includes_exited_descendants() {
        // A grandchild does the work, and exits between two samples.
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
