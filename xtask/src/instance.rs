//! Creates and serves a photo library in a data folder, through the `server` program.

use std::ffi::OsStr;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::http;
use crate::process::{self, ProcessError, Runner, Running};

/// Ends the wait for a server that does not start. Long enough for a busy machine.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(120);
pub(crate) const POLL: Duration = Duration::from_millis(100);

/// Why the library is not served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot write the server's log {}: {source}", path.display())]
    Log { path: PathBuf, source: std::io::Error },
    #[error("the server was not ready after {} s. The end of {}:\n{tail}", START_TIMEOUT.as_secs(), log.display())]
    NotReady { log: PathBuf, tail: String },
    #[error("the server stopped ({status}) before it was ready. The end of {}:\n{tail}", log.display())]
    Stopped { status: std::process::ExitStatus, log: PathBuf, tail: String },
}

/// How long an import waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    UntilVisible,
    /// Until text and subjects are recognised, too.
    UntilRecognised,
}

/// Outcome of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Import {
    Complete,
    /// Some files failed, and the program has listed them. The others are in the library.
    SomeFailed,
}

/// A data folder and the program that serves it.
#[derive(Debug)]
pub(crate) struct Instance<'r> {
    pub(crate) runner: &'r Runner,
    pub(crate) program: PathBuf,
    pub(crate) data_dir: PathBuf,
    /// Whether text in photos is recognised. This takes most of an import's time.
    pub(crate) uses_ocr: bool,
}

impl Instance<'_> {
    /// Applies pending migrations.
    pub(crate) fn migrate(&self) -> Result<(), ProcessError> {
        self.runner.output(&mut self.command(["migrate"]), "").map(drop)
    }

    /// Creates the first account of an empty folder.
    pub(crate) fn create_account(&self, email: &str, password: &str) -> Result<(), ProcessError> {
        let mut command = self.command(["account", "create", email, "--plan", "paid", "--password-stdin"]);
        self.runner.output(&mut command, &format!("{password}\n")).map(drop)
    }

    /// Makes sure that the account exists and has this password.
    pub(crate) fn ensure_account(&self, email: &str, password: &str) -> Result<(), ProcessError> {
        let accounts = self.runner.output(&mut self.command(["account", "list"]), "")?;
        let known = accounts.split_whitespace().any(|word| word == email);
        if !known {
            return self.create_account(email, password);
        }
        let mut command = self.command(["account", "set-password", email, "--password-stdin"]);
        self.runner.output(&mut command, &format!("{password}\n")).map(drop)
    }

    /// Creates an API key under the first free name `{prefix}-1`, `{prefix}-2`, ….
    pub(crate) fn create_key(&self, email: &str, prefix: &str) -> Result<String, ProcessError> {
        let listed = self.runner.output(&mut self.command(["key", "list", email]), "")?;
        let name = free_name(&listed, prefix);
        let output = self.runner.output(&mut self.command(["key", "create", email, "--name", &name]), "")?;
        Ok(last_line(&output).to_owned())
    }

    /// Imports a file or a folder and shows the progress.
    pub(crate) fn import(&self, email: &str, photos: &Path, wait: Wait) -> Result<Import, ProcessError> {
        let mut command = self.command([OsStr::new("import"), email.as_ref(), photos.as_os_str()]);
        if wait == Wait::UntilRecognised {
            command.arg("--wait");
        }
        let status = self.runner.status(&mut command)?;
        if status.code() == Some(1) {
            return Ok(Import::SomeFailed);
        }
        process::success(&command, status)?;
        Ok(Import::Complete)
    }

    /// Serves on 127.0.0.1 and waits until the server is ready. It logs to `server.log` in the data folder.
    pub(crate) fn serve(&self, port: u16) -> Result<Running, ServeError> {
        let log = self.data_dir.join("server.log");
        let unwritable = |source| ServeError::Log { path: log.clone(), source };
        let output = File::create(&log).map_err(unwritable)?;
        let errors = output.try_clone().map_err(unwritable)?;
        let listen = format!("127.0.0.1:{port}");
        let mut command =
            self.command(["serve", "--listen", &listen, "--base-url", &format!("http://{listen}")]);
        let mut running = self.runner.spawn(command.stdout(output).stderr(errors))?;
        self.wait_until_ready(&mut running, port, log)?;
        Ok(running)
    }

    fn wait_until_ready(&self, running: &mut Running, port: u16, log: PathBuf) -> Result<(), ServeError> {
        let started = Instant::now();
        while started.elapsed() < START_TIMEOUT {
            if let Some(status) = running.exited()? {
                let tail = tail(&log);
                return Err(ServeError::Stopped { status, log, tail });
            }
            if is_ready(port) {
                return Ok(());
            }
            self.runner.pause(POLL)?;
        }
        let tail = tail(&log);
        Err(ServeError::NotReady { log, tail })
    }

    /// The program with this data folder, without the settings in the caller's environment.
    fn command<S: AsRef<OsStr>, const N: usize>(&self, arguments: [S; N]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("--data-dir").arg(&self.data_dir);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PHOTOS_") {
                command.env_remove(name);
            }
        }
        if !self.uses_ocr {
            command.env("PHOTOS_OCR_LANGUAGES", "off");
        }
        command
    }
}

/// Whether the server at this port is ready. It refuses connections before it has started.
pub(crate) fn is_ready(port: u16) -> bool {
    http::get(port, "/readyz", None).is_ok_and(|response| response.status == 200)
}

/// The first free port from `wanted` on; `wanted` itself if the next 200 are in use.
pub(crate) fn free_port(wanted: u16) -> u16 {
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    (wanted..=wanted.saturating_add(200)).find(is_free).unwrap_or(wanted)
}

fn free_name(listed: &str, prefix: &str) -> String {
    let mut number = 1_u32;
    loop {
        let name = format!("{prefix}-{number}");
        if !listed.split_whitespace().any(|word| word == name) {
            return name;
        }
        number += 1;
    }
}

fn last_line(output: &str) -> &str {
    output.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default()
}

/// The last lines of a log.
pub(crate) fn tail(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_skipped() {
        let busy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = busy.local_addr().unwrap().port();
        assert_ne!(free_port(port), port);
    }

    #[test]
    fn key_names_count_up() {
        for (listed, expect) in [
            ("", "demo-1"),
            ("NAME    CREATED\ndemo-1  2026-01-01\n", "demo-2"),
            ("demo-1\ndemo-2\ndemo-30\n", "demo-3"),
            ("demo-10", "demo-1"),
        ] {
            assert_eq!(free_name(listed, "demo"), expect, "{listed:?}");
        }
    }

    #[test]
    fn the_key_is_the_last_line() {
        for (output, expect) in [("", ""), ("abc", "abc"), ("Key demo-1, shown once:\nabc\n\n", "abc")] {
            assert_eq!(last_line(output), expect, "{output:?}");
        }
    }

    #[test]
    fn the_tail_of_a_log_is_at_most_twenty_lines() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("server.log");
        assert_eq!(tail(&log), "");
        let text: Vec<_> = (1..=30).map(|number| format!("line {number}")).collect();
        std::fs::write(&log, text.join("\n")).unwrap();
        assert!(tail(&log).starts_with("line 11\n"));
    }
}
