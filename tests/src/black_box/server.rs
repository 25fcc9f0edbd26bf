use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    AnyError, Usage, UsageMonitor,
    instance::last_lines,
    usage::{allocated_bytes, own_cpu},
};

/// How long the server may take to exit before it is killed. It drains for 10 s.
const GRACE: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(20);
/// How long a server must use nearly no processor time to be idle.
const IDLE_TIME: Duration = Duration::from_secs(2);
/// How long work in the background may take.
const MAX_WORK: Duration = Duration::from_secs(300);

/// A running server, stopped when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    watch: UsageMonitor,
    log: PathBuf,
    base_url: String,
    /// Kept open, because the server writes to it.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server program and waits until it prints its address. Logs go to `server.log` in `log_dir`.
    ///
    /// # Errors
    /// The program exited before it was ready.
    pub fn start(command: &mut Command, log_dir: &Path) -> Result<Self, AnyError> {
        let log = log_dir.join("server.log");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(&log)?)
            .spawn()?;
        let watch = UsageMonitor::start(child.id());
        let mut stdout = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        let Some(base_url) = address(&mut stdout)? else {
            child.wait()?;
            let log = fs::read_to_string(&log)?;
            return Err(format!("the server exited before it was ready: {}", last_lines(&log)).into());
        };
        Ok(Self { child, watch, log, base_url, _stdout: stdout })
    }

    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The usage of the process tree so far.
    pub fn usage(&self) -> Usage {
        self.watch.usage()
    }

    /// Waits until the server and its child processes use nearly no processor time, such as after an import, when it makes
    /// the rest of the renditions.
    ///
    /// # Errors
    /// They are still at work after five minutes.
    pub fn wait_until_idle(&self) -> Result<(), AnyError> {
        let began = Instant::now();
        let mut used = self.usage().cpu;
        while began.elapsed() < MAX_WORK {
            thread::sleep(IDLE_TIME);
            let now = self.usage().cpu;
            if now.saturating_sub(used) < IDLE_TIME / 50 {
                return Ok(());
            }
            used = now;
        }
        Err("the server is still at work".into())
    }

    /// The processor time of the server process, without its child processes.
    pub fn own_cpu(&self) -> Duration {
        own_cpu(self.child.id()).unwrap_or_default()
    }

    /// The anonymous memory of the server process. Mapped files are excluded, because their pages can be reclaimed.
    pub fn allocated_bytes(&self) -> u64 {
        allocated_bytes(self.child.id()).unwrap_or(0)
    }

    /// The number of files and connections that the server process has open.
    pub fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    /// The exit status, if the server has exited.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn exit_status(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// The log so far.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn log(&self) -> std::io::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(&self.log)?).into_owned())
    }

    /// Sends SIGTERM and waits for the exit.
    ///
    /// # Errors
    /// The server failed, or had to be killed.
    pub fn stop(mut self) -> Result<(), AnyError> {
        match self.terminate() {
            Some(status) if status.success() => Ok(()),
            Some(status) => {
                Err(format!("the server exited with {status}: {}", last_lines(&self.log()?)).into())
            }
            None => Err("the server did not exit after SIGTERM".into()),
        }
    }

    /// Terminates the server, and kills it if it does not exit in time; then the result is `None`.
    fn terminate(&mut self) -> Option<ExitStatus> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Some(status);
        }
        // The process has not been waited for, so its ID has not been reused.
        let sent = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let began = Instant::now();
        while sent.is_ok() && began.elapsed() < GRACE {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(POLL);
        }
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        None
    }
}

/// Reads the address that the server prints; `None` if it exits before.
fn address(stdout: &mut impl BufRead) -> std::io::Result<Option<String>> {
    for line in stdout.lines() {
        if let Some(address) = line?.strip_prefix("listening on ") {
            return Ok(Some(address.to_owned()));
        }
    }
    Ok(None)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.terminate();
    }
}
