//! The folder of a server.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::user::ServerUser;
use super::{Durability, PostgresError};
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// A file system in memory, on Linux. Each test creates a database of hundreds of files, which takes a disk 0.1 to 0.5 s.
const MEMORY: &str = "/dev/shm";
/// Minimum free space in `MEMORY` for it to be used: several times what the tests need.
const MIN_FREE_BYTES: u64 = 2 << 30;

/// A folder with the data of a server, deleted when dropped, and one with its logs, which remains.
#[derive(Debug)]
pub(super) struct ServerFolder {
    pub(super) user: ServerUser,
    path: PathBuf,
    logs: PathBuf,
}

impl ServerFolder {
    /// An empty folder that the server's user can write to: in memory if nothing has to survive, otherwise in the build
    /// folder. Stops a server that a killed run has left there.
    pub(super) fn create(
        runner: &Runner,
        name: &str,
        durability: Durability,
        user: ServerUser,
        programs: &Path,
    ) -> Result<Self, PostgresError> {
        let logs = workspace::target("postgres").join(name);
        let unusable = |path: &Path| {
            let path = path.to_owned();
            move |source| PostgresError::File { path, source }
        };
        make_empty(&logs).map_err(unusable(&logs))?;
        for path in candidates(name, durability) {
            let folder = Self { user, path, logs: logs.clone() };
            folder.stop_leftover(runner, programs)?;
            make_empty(&folder.path)
                .and_then(|()| user.give(&folder.path))
                .map_err(unusable(&folder.path))?;
            if user.can_write(&folder.path) {
                return Ok(folder);
            }
        }
        Err(PostgresError::NotFound("a folder that the server's user can write to"))
    }

    /// The folder of the database files.
    pub(super) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// An empty log.
    pub(super) fn log(&self, program: &str) -> Result<PathBuf, PostgresError> {
        let path = self.logs.join(format!("{program}.log"));
        match File::create(&path) {
            Ok(_) => Ok(path),
            Err(source) => Err(PostgresError::File { path, source }),
        }
    }

    /// Writes a file that belongs to the user of the server.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, PostgresError> {
        let path = self.path.join(name);
        let written = fs::write(&path, text).and_then(|()| self.user.give(&path));
        written.map_err(|source| PostgresError::File { path: path.clone(), source })?;
        Ok(path)
    }

    fn stop_leftover(&self, runner: &Runner, programs: &Path) -> Result<(), ProcessError> {
        if self.data().join("postmaster.pid").exists() {
            let mut command = self.user.command(&programs.join("pg_ctl"));
            command.args(["stop", "-m", "immediate", "-D"]).arg(self.data());
            // It fails if the server does not run any more.
            runner.status(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
        }
        Ok(())
    }
}

impl Drop for ServerFolder {
    fn drop(&mut self) {
        // The next run deletes what cannot be deleted now.
        let _ = fs::remove_dir_all(&self.path);
    }
}

pub(super) fn append(log: &Path) -> Result<File, PostgresError> {
    let opened = File::options().append(true).open(log);
    opened.map_err(|source| PostgresError::File { path: log.to_owned(), source })
}

/// The folders that may be used, the best first. Their names depend on the build folder, so each checkout has its own.
fn candidates(name: &str, durability: Durability) -> Vec<PathBuf> {
    let target = workspace::target_dir();
    let checkout: String = target
        .to_string_lossy()
        .chars()
        .map(|char| if char.is_alphanumeric() { char } else { '-' })
        .collect();
    let outside = format!("photos-postgres{checkout}-{name}");
    let memory =
        (durability == Durability::None && has_free_memory()).then(|| Path::new(MEMORY).join(&outside));
    let on_disk = [target.join("postgres").join(name).join("server"), std::env::temp_dir().join(&outside)];
    memory.into_iter().chain(on_disk).collect()
}

fn has_free_memory() -> bool {
    let Ok(memory) = rustix::fs::statvfs(MEMORY) else { return false };
    memory.f_bavail.saturating_mul(memory.f_frsize) >= MIN_FREE_BYTES
}

fn make_empty(path: &Path) -> io::Result<()> {
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    fs::create_dir_all(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_a_durable_server_are_on_disk() {
        for path in candidates("tests", Durability::Full) {
            assert!(!path.starts_with(MEMORY), "{path:?}");
        }
        let first = candidates("tests", Durability::None).remove(0);
        assert_eq!(first.starts_with(MEMORY), has_free_memory());
        assert_ne!(first, candidates("by-hand", Durability::None).remove(0));
    }
}
