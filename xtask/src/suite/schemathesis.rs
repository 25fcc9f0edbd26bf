//! Tests the API against its own OpenAPI document with schemathesis.

use std::process::Command;

use super::counts::Counts;
use super::sample::{self, EMAIL, SampleError};
use crate::instance::{ServeError, free_port};
use crate::process::{ProcessError, Runner};
use crate::venv::{Venv, VenvError};
use crate::workspace;

const PACKAGE: &str = "schemathesis==4.32.5\n";
const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
/// Fixed, so that a failure can be reproduced on another machine.
const SEED: &str = "20250101";
/// Below the ephemeral ports.
const FIRST_PORT: u16 = 18_400;

/// Why the API could not be tested.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemathesisError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Venv(#[from] VenvError),
}

/// Runs schemathesis. It counts as one test.
pub(super) fn run(runner: &Runner, full: bool) -> Result<Counts, SchemathesisError> {
    let venv = Venv::ensure(runner, "schemathesis", PACKAGE)?;
    let dir = workspace::target("schemathesis");
    let (library, _) = sample::library(runner, &dir)?;
    let key = library.create_key(EMAIL, "schemathesis")?;
    let port = free_port(FIRST_PORT);
    let mut server = library.serve(port)?;
    let status = runner.status(command(&venv, port, &key, full).current_dir(&dir))?;
    server.stop()?;
    Ok(Counts::one(status.success()))
}

fn command(venv: &Venv, port: u16, key: &str, full: bool) -> Command {
    let origin = format!("http://127.0.0.1:{port}");
    let mut command = venv.command("schemathesis");
    command
        .args(["run", &format!("{origin}/api/ext/v2/openapi.json")])
        .args(["--origin", &origin, "--header", &format!("Authorization:Bearer {key}")])
        .args(["--checks", CHECKS, "--seed", SEED, "--workers", "1", "--request-timeout", "30"])
        .args(["--max-examples", if full { "500" } else { "25" }])
        // Saved examples would make the next run differ.
        .args(["--generation-database", "none", "--no-color"]);
    command
}
