//! Runs the Rust tests, on the stores of each stack.

use std::ffi::{OsStr, OsString};

use super::counts::Counts;
use super::onnx_runtime::{self, OnnxRuntimeError};
use crate::postgres::{POOLER_VARIABLE, PostgresError, PostgresOnDemand, SERVER_VARIABLE};
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// The black-box tests read from this variable which stores the service uses.
const STACK_VARIABLE: &str = "PHOTOS_TEST_STACK";

/// Why the tests could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CargoTestError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    OnnxRuntime(#[from] OnnxRuntimeError),
    #[error(transparent)]
    Postgres(#[from] PostgresError),
}

/// Runs all tests of the workspace; the service uses its embedded stores.
pub(super) fn workspace(
    runner: &Runner,
    environment: &[(&str, &str)],
    postgres: &mut PostgresOnDemand<'_>,
) -> Result<Counts, CargoTestError> {
    let library = onnx_runtime::library(runner)?.into_os_string();
    let more = [(onnx_runtime::VARIABLE, library), (SERVER_VARIABLE, postgres.get()?.url().into())];
    Ok(run(runner, environment, &more, &["--workspace"])?)
}

/// Tests that depend on locks, transactions and connections. A pooler makes no difference to the others, which take
/// minutes.
const POOLED: [&str; 8] =
    ["concurrency", "grants", "migrations", "races", "resilience", "roles", "sign_in", "workers"];

/// Runs tests of the Postgres store with a PgBouncer between store and server: all of them if `full`.
pub(super) fn store_through_pgbouncer(
    runner: &Runner,
    environment: &[(&str, &str)],
    postgres: &mut PostgresOnDemand<'_>,
    full: bool,
) -> Result<Counts, CargoTestError> {
    let postgres = postgres.get()?;
    let more = [(SERVER_VARIABLE, postgres.url().into()), (POOLER_VARIABLE, postgres.pooler_url().into())];
    let filters = if full { [].as_slice() } else { POOLED.as_slice() };
    let arguments = [["--workspace", "--test", "postgres", "--"].as_slice(), filters].concat();
    Ok(run(runner, environment, &more, &arguments)?)
}

/// Runs the black-box tests with a service on Postgres and S3. The S3 server is part of each test.
pub(super) fn service_on_postgres_and_s3(
    runner: &Runner,
    environment: &[(&str, &str)],
    postgres: &mut PostgresOnDemand<'_>,
) -> Result<Counts, CargoTestError> {
    let library = onnx_runtime::library(runner)?.into_os_string();
    let more = [
        (onnx_runtime::VARIABLE, library),
        (SERVER_VARIABLE, postgres.get()?.url().into()),
        (STACK_VARIABLE, "postgres-s3".into()),
    ];
    Ok(run(runner, environment, &more, &["--workspace", "--test", "api"])?)
}

fn run(
    runner: &Runner,
    environment: &[(&str, &str)],
    more: &[(&str, OsString)],
    arguments: &[&str],
) -> Result<Counts, ProcessError> {
    let mut command = workspace::compile("test", ["--no-fail-fast"]);
    // The caller's choice of stores counts only for tests by hand.
    for name in [SERVER_VARIABLE, POOLER_VARIABLE, STACK_VARIABLE] {
        command.env_remove(name);
    }
    command.args(arguments).envs(environment.iter().copied());
    command.envs(more.iter().map(|(name, value)| (name, AsRef::<OsStr>::as_ref(value))));
    let mut counts = Counts::default();
    let status = runner.lines(&mut command, |line| {
        println!("{line}");
        counts = counts + Counts::of_line(line).unwrap_or_default();
    })?;
    Ok(counts.with_status(status.success()))
}
