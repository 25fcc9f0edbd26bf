//! Tests of several machines. See `tests/machines/README.md`.

use std::ffi::OsString;

use super::counts::Counts;
use super::sync::{self, SyncError};
use crate::postgres::PostgresError;
use crate::process::Runner;
use crate::system::{self, Tools};
use crate::workspace;

/// Runs the checks. Each counts as one test.
pub(super) fn run(runner: &Runner, environment: &[(&str, &str)]) -> Result<Counts, SyncError> {
    run_in("machines", runner, environment, &[])
}

/// Runs them with logs and data in this folder of the build folder, and with more variables.
pub(super) fn run_in(
    folder: &str,
    runner: &Runner,
    environment: &[(&str, &str)],
    more: &[(&str, OsString)],
) -> Result<Counts, SyncError> {
    system::ensure(runner, Tools::Postgres)?;
    system::ensure(runner, Tools::Machines)?;
    let programs = system::postgres_programs().ok_or(PostgresError::NotFound("Postgres"))?;
    let faketime = system::faketime().ok_or(SyncError::NoFaketime)?;
    let folder = sync::empty_folder(workspace::target(folder))?;
    let variables = [
        ("MACHINES_FOLDER", folder.into_os_string()),
        ("POSTGRES_PROGRAMS", programs.into_os_string()),
        ("FAKETIME_LIBRARY", faketime.into_os_string()),
        sync::s3_program(),
    ];
    sync::run_checks("tests/machines", runner, environment, &[&variables, more].concat())
}
