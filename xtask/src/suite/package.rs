//! Runs the server from the container image and the Debian package: as an unprivileged user, on a read-only file system.

use std::ffi::OsStr;
use std::io::{PipeReader, Read as _};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use serde::Deserialize;

use super::counts::Counts;
use crate::dist::{self, DistError};
use crate::instance::{POLL, START_TIMEOUT, free_port, is_ready};
use crate::process::{ProcessError, Runner, Running};
use crate::system::{self, SystemError, Tools};
use crate::workspace;

const EMAIL: &str = "ann@example.org";
const PORT: u16 = 18_480;

/// Why an installed server does not work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PackageError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Dist(#[from] DistError),
    #[error("cannot use {}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the unit has no line ExecStart")]
    NoCommand,
    #[error("the server was not ready within {} s", START_TIMEOUT.as_secs())]
    NotReady,
    #[error("cannot parse the result of an import: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the library lost photos by the upgrade: {before:?} before, {after:?} after")]
    Lost { before: Imported, after: Imported },
}

/// The result of an import.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Imported {
    imported: u64,
    duplicates: u64,
}

/// A root file system, and the data folder that is mounted into it.
struct Installation<'r> {
    runner: &'r Runner,
    root: PathBuf,
    data: PathBuf,
}

/// A server in its namespaces.
struct Server {
    bwrap: Running,
    /// Ends when all processes in the namespaces have exited.
    output: PipeReader,
}

/// Installs, imports photos, upgrades, and looks for the photos. It counts as one test.
pub(super) fn run(runner: &Runner) -> Result<Counts, PackageError> {
    system::ensure(runner, Tools::Package)?;
    let folder = workspace::target("package");
    let installation = Installation { runner, root: folder.join("root"), data: folder.join("data") };
    let failed = |source| PackageError::File { path: installation.data.clone(), source };
    if installation.data.exists() {
        std::fs::remove_dir_all(&installation.data).map_err(failed)?;
    }
    std::fs::create_dir_all(&installation.data).map_err(failed)?;

    let port = free_port(PORT);
    installation.install("1.0.0")?;
    let server = installation.serve(port)?;
    let create = ["account", "create", EMAIL, "--password-stdin"];
    runner.output(&mut installation.command(create)?, "Correct horse 7 battery\n")?;
    let before = installation.import()?;
    installation.stop(server)?;

    installation.install("1.0.1")?;
    let server = installation.serve(port)?;
    let after = installation.import()?;
    installation.stop(server)?;
    let is_kept = before.imported > 0 && after.duplicates == before.imported && after.imported == 0;
    if is_kept { Ok(Counts::ONE_PASSED) } else { Err(PackageError::Lost { before, after }) }
}

impl Installation<'_> {
    fn install(&self, version: &str) -> Result<(), PackageError> {
        Ok(dist::unpack_for_test(self.runner, &workspace::target("debug/server"), version, &self.root)?)
    }

    /// The command of the unit with other arguments.
    fn command<S: AsRef<OsStr>, const N: usize>(&self, arguments: [S; N]) -> Result<Command, PackageError> {
        let unit = self.root.join("usr/lib/systemd/system/photo-library.service");
        let text =
            std::fs::read_to_string(&unit).map_err(|source| PackageError::File { path: unit, source })?;
        let line =
            text.lines().find_map(|line| line.strip_prefix("ExecStart=")).ok_or(PackageError::NoCommand)?;
        let program = line.strip_suffix(" serve").ok_or(PackageError::NoCommand)?;
        let mut command = Command::new("bwrap");
        command.args([
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--uid",
            "10001",
            "--gid",
            "10001",
        ]);
        command.args(["--cap-drop", "ALL", "--clearenv"]);
        command.args(["--setenv", "PHOTOS_CONFIG", "/etc/photo-library/config.toml"]);
        command.args(["--setenv", "PHOTOS_OCR_LANGUAGES", "off"]);
        command.arg("--ro-bind").arg(&self.root).arg("/");
        command.arg("--bind").arg(&self.data).arg("/var/lib/photo-library");
        command.args(["--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"]);
        command.arg("--ro-bind").arg(workspace::path("fixtures/samples")).arg("/tmp/photos");
        command.arg(program).args(arguments);
        Ok(command)
    }

    fn serve(&self, port: u16) -> Result<Server, PackageError> {
        let listen = format!("127.0.0.1:{port}");
        let mut command = self.command(["serve", "--listen", &listen])?;
        let (output, writer) =
            std::io::pipe().map_err(|source| PackageError::File { path: self.root.clone(), source })?;
        let bwrap = self.runner.spawn(command.stdout(writer))?;
        // The command holds the write end of the pipe and would keep it open.
        drop(command);
        let started = Instant::now();
        while !is_ready(port) {
            if started.elapsed() > START_TIMEOUT {
                return Err(PackageError::NotReady);
            }
            self.runner.pause(POLL)?;
        }
        Ok(Server { bwrap, output })
    }

    /// Imports the samples.
    fn import(&self) -> Result<Imported, PackageError> {
        let mut command = self.command(["import", EMAIL, "/tmp/photos", "--json"])?;
        Ok(serde_json::from_str(&self.runner.output(&mut command, "")?)?)
    }

    /// Stops the server and waits until it has finished, which is later than bwrap exits.
    fn stop(&self, mut server: Server) -> Result<(), PackageError> {
        server.bwrap.stop()?;
        let mut output = String::new();
        let read = server.output.read_to_string(&mut output);
        read.map(drop).map_err(|source| PackageError::File { path: self.root.clone(), source })
    }
}
