//! Starts other programs and makes sure that they stop.
//!
//! Every child has its own process group. So Ctrl-C reaches only this process, which then sends SIGTERM to the child's
//! whole group. Dropping [`Running`], for example on an error, does the same.

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
/// A process that is still running this long after SIGTERM is killed. The server drains for 10 s.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a grandchild may keep the output open after its program has exited.
const OPEN_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// A program whose lines are read counts as hanging if it writes no line for this long.
const SILENCE_LIMIT: Duration = Duration::from_secs(15 * 60);

/// Why a program failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("cannot install signal handlers: {source}")]
    Signals { source: std::io::Error },
    #[error("cannot start `{command}`: {source}")]
    Start { command: String, source: std::io::Error },
    #[error("cannot read from or wait for `{command}`: {source}")]
    Io { command: String, source: std::io::Error },
    #[error("`{command}` failed ({status})")]
    Failed { command: String, status: ExitStatus },
    #[error("`{command}` wrote nothing for {} minutes, and was stopped", SILENCE_LIMIT.as_secs() / 60)]
    Silent { command: String },
    #[error("interrupted")]
    Interrupted,
}

/// Runs programs, and stops them when this process gets SIGINT, SIGTERM or SIGHUP.
#[derive(Clone, Debug)]
pub(crate) struct Runner {
    interrupted: Arc<AtomicBool>,
}

/// A program's exit status and standard output.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
}

impl Runner {
    /// Installs handlers for SIGINT, SIGTERM and SIGHUP.
    pub(crate) fn install() -> Result<Self, ProcessError> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))
                .map_err(|source| ProcessError::Signals { source })?;
        }
        Ok(Self { interrupted })
    }

    /// Fails after one of these signals.
    pub(crate) fn check_interrupted(&self) -> Result<(), ProcessError> {
        if self.interrupted.load(Ordering::Relaxed) { Err(ProcessError::Interrupted) } else { Ok(()) }
    }

    /// Sleeps. Fails if a signal came before or meanwhile.
    pub(crate) fn pause(&self, duration: Duration) -> Result<(), ProcessError> {
        self.check_interrupted()?;
        std::thread::sleep(duration);
        self.check_interrupted()
    }

    /// Runs a program until it exits. It inherits standard output and error.
    pub(crate) fn status(&self, command: &mut Command) -> Result<ExitStatus, ProcessError> {
        self.wait(&mut Running::start(command.stdin(Stdio::null()))?)
    }

    /// Like [`Runner::status`], but stops the program after `limit` and then returns `None`.
    pub(crate) fn status_within(
        &self,
        command: &mut Command,
        limit: Duration,
    ) -> Result<Option<ExitStatus>, ProcessError> {
        let mut running = Running::start(command.stdin(Stdio::null()))?;
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = running.exited()? {
                self.check_interrupted()?;
                return Ok(Some(status));
            }
            self.pause(POLL)?;
        }
        running.stop()?;
        Ok(None)
    }

    /// Like [`Runner::status`], but a failure of the program is an error.
    pub(crate) fn run(&self, command: &mut Command) -> Result<(), ProcessError> {
        let status = self.status(command)?;
        success(command, status)
    }

    /// Runs a program with `input` on its standard input and captures its standard output.
    pub(crate) fn capture(&self, command: &mut Command, input: &str) -> Result<Captured, ProcessError> {
        let mut running = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        if let Some(mut stdin) = running.child.stdin.take() {
            // A program may exit without reading its input; its exit status decides.
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
            Some(Ok(Err(source))) => return Err(ProcessError::Io { command: describe(command), source }),
            Some(Err(_)) | None => Vec::new(),
        };
        Ok(Captured { status, stdout: String::from_utf8_lossy(&bytes).into_owned() })
    }

    /// Like [`Runner::capture`], but a failure of the program is an error.
    pub(crate) fn output(&self, command: &mut Command, input: &str) -> Result<String, ProcessError> {
        let captured = self.capture(command, input)?;
        success(command, captured.status)?;
        Ok(captured.stdout)
    }

    /// Runs a program and passes on each line of its standard output as it is written. A program that hangs is stopped.
    pub(crate) fn lines(
        &self,
        command: &mut Command,
        mut each: impl FnMut(&str),
    ) -> Result<ExitStatus, ProcessError> {
        let mut running = Running::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let lines = running.child.stdout.take().map(read_lines);
        let mut exited: Option<Instant> = None;
        let mut last_line = Instant::now();
        while let Some(lines) = &lines {
            self.check_interrupted()?;
            match lines.recv_timeout(POLL) {
                Ok(line) => {
                    last_line = Instant::now();
                    each(&line);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if running.exited()?.is_some() => {
                    if exited.get_or_insert_with(Instant::now).elapsed() > OPEN_OUTPUT_TIMEOUT {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) if last_line.elapsed() > SILENCE_LIMIT => {
                    return Err(ProcessError::Silent { command: describe(command) });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        self.wait(&mut running)
    }

    /// Starts a program in the background. Dropping the handle stops it.
    pub(crate) fn spawn(&self, command: &mut Command) -> Result<Running, ProcessError> {
        self.check_interrupted()?;
        Running::start(command.stdin(Stdio::null()))
    }

    fn wait(&self, running: &mut Running) -> Result<ExitStatus, ProcessError> {
        loop {
            if let Some(status) = running.exited()? {
                // After Ctrl-C, the child's exit status does not count as a failure.
                self.check_interrupted()?;
                return Ok(status);
            }
            self.check_interrupted()?;
            std::thread::sleep(POLL);
        }
    }
}

/// A running program. Dropping this handle stops it.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    command: String,
    stop_signal: Signal,
}

impl Running {
    fn start(command: &mut Command) -> Result<Self, ProcessError> {
        let child = command
            .process_group(0)
            .spawn()
            .map_err(|source| ProcessError::Start { command: describe(command), source })?;
        Ok(Self { child, command: describe(command), stop_signal: Signal::TERM })
    }

    /// Sets the signal that asks this program to exit, which is SIGTERM for most programs.
    pub(crate) fn stopped_by(mut self, signal: Signal) -> Self {
        self.stop_signal = signal;
        self
    }

    /// The exit status if the program has exited.
    pub(crate) fn exited(&mut self) -> Result<Option<ExitStatus>, ProcessError> {
        self.child.try_wait().map_err(|source| self.lost(source))
    }

    /// Asks the program to exit, and kills it if it is still running 15 s later.
    pub(crate) fn stop(&mut self) -> Result<ExitStatus, ProcessError> {
        if let Some(status) = self.exited()? {
            return Ok(status);
        }
        self.signal(self.stop_signal);
        let signalled = Instant::now();
        while signalled.elapsed() < STOP_TIMEOUT {
            if let Some(status) = self.exited()? {
                return Ok(status);
            }
            std::thread::sleep(POLL);
        }
        self.signal(Signal::KILL);
        self.child.wait().map_err(|source| self.lost(source))
    }

    /// Signals the child's whole group. The child has not been reaped yet, so its id cannot belong to another process.
    fn signal(&self, signal: Signal) {
        if let Err(error) = kill_process_group(Pid::from_child(&self.child), signal) {
            eprintln!("cannot signal `{}`: {error}", self.command);
        }
    }

    fn lost(&self, source: std::io::Error) -> ProcessError {
        ProcessError::Io { command: self.command.clone(), source }
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

/// Turns a failure into an error.
pub(crate) fn success(command: &Command, status: ExitStatus) -> Result<(), ProcessError> {
    if status.success() { Ok(()) } else { Err(ProcessError::Failed { command: describe(command), status }) }
}

/// The program and its first three arguments. Later ones may be secret.
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
    fn output_passes_input_and_captures_output() {
        assert_eq!(runner().output(&mut Command::new("cat"), "to and fro").unwrap(), "to and fro");
    }

    #[test]
    fn lines_are_passed_on_without_line_ends() {
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
    fn a_time_limit_stops_only_slow_programs() {
        let limit = Duration::from_secs(30);
        assert_eq!(runner().status_within(&mut sh("exit 3"), limit).unwrap().unwrap().code(), Some(3));
        assert!(runner().status_within(&mut sh("sleep 600"), POLL * 2).unwrap().is_none());
    }

    /// The grandchild keeps the pipe open, so reading ends only after it has exited.
    #[test]
    fn stop_reaches_grandchildren() {
        let mut running = Running::start(sh("sleep 60 & echo; wait").stdout(Stdio::piped())).unwrap();
        let mut reader = BufReader::new(running.child.stdout.take().unwrap());
        reader.read_line(&mut String::new()).unwrap();
        let started = Instant::now();
        assert!(!running.stop().unwrap().success());
        reader.read_to_string(&mut String::new()).unwrap();
        assert!(started.elapsed() < STOP_TIMEOUT, "the grandchild is still running");
    }

    #[test]
    fn an_interruption_stops_the_program() {
        let runner = runner();
        runner.interrupted.store(true, Ordering::Relaxed);
        assert!(matches!(runner.run(&mut sh("sleep 600")), Err(ProcessError::Interrupted)));
    }
}
