use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{AnyError, Usage, UsageMonitor, instance::end_of, usage::allocated_bytes};

/// The server drains for 10 s when it is asked to end; one that has not ended by then is killed.
const GRACE: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(20);

/// A running server, ended when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    watch: UsageMonitor,
    log: PathBuf,
    base_url: String,
    /// Open as long as the server writes to it.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a program that serves, and waits until it says where it listens. It logs to `server.log` in `log_dir`.
    ///
    /// # Errors
    /// The program ended before it was ready.
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
            return Err(format!("the server ended before it was ready: {}", end_of(&log)).into());
        };
        Ok(Self { child, watch, log, base_url, _stdout: stdout })
    }

    /// Where it is served.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// What it and its descendants have used until now.
    pub fn usage(&self) -> Usage {
        self.watch.usage()
    }

    /// The memory that its own process has now, without mapped files, of which the system takes pages back at will.
    pub fn allocated_bytes(&self) -> u64 {
        allocated_bytes(self.child.id()).unwrap_or(0)
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn exit_status(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// What it has logged.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn log(&self) -> std::io::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(&self.log)?).into_owned())
    }

    /// Asks it to end, and waits until it has.
    ///
    /// # Errors
    /// It failed, or had to be killed.
    pub fn stop(mut self) -> Result<(), AnyError> {
        match self.end() {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("the server ended with {status}: {}", end_of(&self.log()?)).into()),
            None => Err("the server did not end when it was asked to".into()),
        }
    }

    /// `None`: it was killed.
    fn end(&mut self) -> Option<ExitStatus> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Some(status);
        }
        // It has not been waited for, so its id is still its own.
        let asked = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let began = Instant::now();
        while asked.is_ok() && began.elapsed() < GRACE {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(POLL);
        }
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        None
    }
}

/// Where the server says that it listens; `None` when it ends without saying so.
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
        self.end();
    }
}
