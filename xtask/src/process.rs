//! Starting other programs and being sure that they end.
//!
//! Every child gets a process group of its own: Ctrl-C then reaches only this process, which ends the child
//! and all that the child started with one SIGTERM. The same happens on an error, when [`Running`] is dropped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

const POLL: Duration = Duration::from_millis(50);
/// The server drains for 10 s after SIGTERM; what has not ended by then is killed.
const GRACE: Duration = Duration::from_secs(15);
/// How long output may stay open after its program has ended, held by a grandchild.
const LEFT_OVER_OUTPUT: Duration = Duration::from_secs(1);

/// Why a program could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("cannot watch for Ctrl-C: {source}")]
    Signals { source: std::io::Error },
    #[error("cannot start `{command}`: {source}")]
    Start { command: String, source: std::io::Error },
    #[error("lost touch with `{command}`: {source}")]
    Talk { command: String, source: std::io::Error },
    #[error("`{command}` failed ({status})")]
    Failed { command: String, status: ExitStatus },
    #[error("interrupted")]
    Interrupted,
}

/// Runs programs, and stops them when this process gets SIGINT, SIGTERM or SIGHUP.
#[derive(Clone, Debug)]
pub(crate) struct Runner {
    interrupted: Arc<AtomicBool>,
}

/// What a program wrote to its standard output, and how it ended.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
}

impl Runner {
    /// Takes over the signals that ask this process to end.
    pub(crate) fn install() -> Result<Self, ProcessError> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))
                .map_err(|source| ProcessError::Signals { source })?;
        }
        Ok(Self { interrupted })
    }

    /// Fails when the user asked to end.
    pub(crate) fn check_interrupted(&self) -> Result<(), ProcessError> {
        if self.interrupted.load(Ordering::Relaxed) { Err(ProcessError::Interrupted) } else { Ok(()) }
    }

    /// Sleeps, unless the user asked to end.
    pub(crate) fn pause(&self, duration: Duration) -> Result<(), ProcessError> {
        self.check_interrupted()?;
        std::thread::sleep(duration);
        self.check_interrupted()
    }

    /// Runs a program to its end, its output going where ours goes.
    pub(crate) fn status(&self, command: &mut Command) -> Result<ExitStatus, ProcessError> {
        self.wait(&mut Running::start(command.stdin(Stdio::null()))?)
    }

    /// As [`Runner::status`], but a program that runs for longer than `limit` is ended; none then.
    pub(crate) fn status_within(
        &self,
        command: &mut Command,
        limit: Duration,
    ) -> Result<Option<ExitStatus>, ProcessError> {
        let mut running = Running::start(command.stdin(Stdio::null()))?;
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = running.ended()? {
                self.check_interrupted()?;
                return Ok(Some(status));
            }
            self.pause(POLL)?;
        }
        running.stop()?;
        Ok(None)
    }

    /// As [`Runner::status`], and anything but success is an error.
    pub(crate) fn run(&self, command: &mut Command) -> Result<(), ProcessError> {
        let status = self.status(command)?;
        success(command, status)
    }

    /// Runs a program with `input` on its standard input and keeps its standard output.
    pub(crate) fn capture(&self, command: &mut Command, input: &str) -> Result<Captured, ProcessError> {
        let mut running = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        if let Some(mut stdin) = running.child.stdin.take() {
            // A program that ends without reading its input is judged by its exit status.
            let _ = stdin.write_all(input.as_bytes());
        }
        let reader = running.child.stdout.take().map(|mut stdout| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                stdout.read_to_end(&mut bytes).map(|_| bytes)
            })
        });
        let status = self.wait(&mut running)?;
        let bytes = match reader.map(std::thread::JoinHandle::join) {
            Some(Ok(Ok(bytes))) => bytes,
            Some(Ok(Err(source))) => return Err(ProcessError::Talk { command: describe(command), source }),
            Some(Err(_)) | None => Vec::new(),
        };
        Ok(Captured { status, stdout: String::from_utf8_lossy(&bytes).into_owned() })
    }

    /// As [`Runner::capture`], and anything but success is an error.
    pub(crate) fn output(&self, command: &mut Command, input: &str) -> Result<String, ProcessError> {
        let captured = self.capture(command, input)?;
        success(command, captured.status)?;
        Ok(captured.stdout)
    }

    /// Runs a program and hands over each line of its standard output as it comes.
    pub(crate) fn lines(
        &self,
        command: &mut Command,
        mut each: impl FnMut(&str),
    ) -> Result<ExitStatus, ProcessError> {
        let mut running = Running::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let lines = running.child.stdout.take().map(read_lines);
        let mut ended: Option<Instant> = None;
        while let Some(lines) = &lines {
            self.check_interrupted()?;
            match lines.recv_timeout(POLL) {
                Ok(line) => each(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if running.ended()?.is_some() => {
                    if ended.get_or_insert_with(Instant::now).elapsed() > LEFT_OVER_OUTPUT {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        self.wait(&mut running)
    }

    /// Starts a program that goes on running; dropping the handle ends it.
    pub(crate) fn spawn(&self, command: &mut Command) -> Result<Running, ProcessError> {
        self.check_interrupted()?;
        Running::start(command.stdin(Stdio::null()))
    }

    fn wait(&self, running: &mut Running) -> Result<ExitStatus, ProcessError> {
        loop {
            if let Some(status) = running.ended()? {
                // A child that ended because the user asked for it has not failed.
                self.check_interrupted()?;
                return Ok(status);
            }
            self.check_interrupted()?;
            std::thread::sleep(POLL);
        }
    }
}

/// A program that runs; it is ended when this handle is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    command: String,
}

impl Running {
    fn start(command: &mut Command) -> Result<Self, ProcessError> {
        let child = command
            .process_group(0)
            .spawn()
            .map_err(|source| ProcessError::Start { command: describe(command), source })?;
        Ok(Self { child, command: describe(command) })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, ProcessError> {
        self.child.try_wait().map_err(|source| self.lost(source))
    }

    /// Asks it to end with SIGTERM, and kills it when that takes longer than 15 s.
    pub(crate) fn stop(&mut self) -> Result<ExitStatus, ProcessError> {
        if let Some(status) = self.ended()? {
            return Ok(status);
        }
        self.signal(Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            std::thread::sleep(POLL);
        }
        self.signal(Signal::KILL);
        self.child.wait().map_err(|source| self.lost(source))
    }

    /// Signals the child's whole group. The child has not been waited for yet, so its id is still its own.
    fn signal(&self, signal: Signal) {
        if let Err(error) = kill_process_group(Pid::from_child(&self.child), signal) {
            eprintln!("cannot signal `{}`: {error}", self.command);
        }
    }

    fn lost(&self, source: std::io::Error) -> ProcessError {
        ProcessError::Talk { command: self.command.clone(), source }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("{error}");
        }
    }
}

fn read_lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line);
            if sender.send(text.trim_end_matches(['\r', '\n']).to_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

/// Anything but success is an error.
pub(crate) fn success(command: &Command, status: ExitStatus) -> Result<(), ProcessError> {
    if status.success() { Ok(()) } else { Err(ProcessError::Failed { command: describe(command), status }) }
}

/// The program and its first arguments: enough to know it by, without the secrets that may follow.
fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let arguments = command.get_args().take(3).map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner() -> Runner {
        Runner { interrupted: Arc::new(AtomicBool::new(false)) }
    }

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn input_reaches_the_program_and_its_output_comes_back() {
        assert_eq!(runner().output(&mut Command::new("cat"), "to and fro").unwrap(), "to and fro");
    }

    #[test]
    fn lines_come_one_by_one_without_their_ends() {
        let mut seen = Vec::new();
        let status =
            runner().lines(&mut sh("printf 'a\\r\\n\\nlast'"), |line| seen.push(line.to_owned())).unwrap();
        assert!(status.success());
        assert_eq!(seen, ["a", "", "last"]);
    }

    #[test]
    fn a_failing_program_is_named_in_the_error() {
        let error = runner().run(&mut sh("exit 3")).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c exit 3` failed (exit status: 3)");
    }

    #[test]
    fn a_missing_program_is_named_in_the_error() {
        let error = runner().run(&mut Command::new("no-such-program")).unwrap_err();
        assert!(error.to_string().starts_with("cannot start `no-such-program`"), "{error}");
    }

    #[test]
    fn a_time_limit_ends_only_what_takes_too_long() {
        let limit = Duration::from_secs(30);
        assert_eq!(runner().status_within(&mut sh("exit 3"), limit).unwrap().unwrap().code(), Some(3));
        assert!(runner().status_within(&mut sh("sleep 600"), POLL * 2).unwrap().is_none());
    }

    /// The grandchild holds the other end of the pipe: reading reaches the end only when it is gone too.
    #[test]
    fn stopping_ends_grandchildren_too() {
        let mut running = Running::start(sh("sleep 60 & echo; wait").stdout(Stdio::piped())).unwrap();
        let mut reader = BufReader::new(running.child.stdout.take().unwrap());
        reader.read_line(&mut String::new()).unwrap();
        let asked = Instant::now();
        assert!(!running.stop().unwrap().success());
        reader.read_to_string(&mut String::new()).unwrap();
        assert!(asked.elapsed() < GRACE, "the grandchild outlived its group");
    }

    #[test]
    fn an_interruption_ends_what_runs() {
        let runner = runner();
        runner.interrupted.store(true, Ordering::Relaxed);
        assert!(matches!(runner.run(&mut sh("sleep 600")), Err(ProcessError::Interrupted)));
    }
}
