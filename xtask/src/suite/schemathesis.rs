//! Property tests of the API against its own OpenAPI document, by schemathesis.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::counts::Counts;
use crate::instance::{Import, Instance, ServeError, free_port};
use crate::password::{self, PasswordError};
use crate::process::{ProcessError, Runner};
use crate::workspace;

const VERSION: &str = "4.32.5";
const EMAIL: &str = "schemathesis@example.org";
const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
/// A fixed seed: a failure on one machine can be repeated on another.
const SEED: &str = "20250101";
/// Ports below the range that systems hand out to connections.
const FIRST_PORT: u16 = 18_400;

/// Why the API could not be tested.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemathesisError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error("cannot use {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("not all sample photos could be imported")]
    Import,
}

/// Counts as one test.
pub(super) fn run(runner: &Runner, full: bool) -> Result<Counts, SchemathesisError> {
    let program = install(runner)?;
    let dir = workspace::target("schemathesis");
    let data_dir = empty_folder(&dir)?;
    let instance = Instance { runner, program: workspace::target("debug/server"), data_dir };
    instance.migrate()?;
    instance.ensure_account(EMAIL, &password::make()?)?;
    if instance.import(EMAIL, &workspace::path("fixtures/samples"))? != Import::Complete {
        return Err(SchemathesisError::Import);
    }
    let key = instance.create_key(EMAIL, "schemathesis")?;
    let port = free_port(FIRST_PORT);
    let mut server = instance.serve(port)?;
    let status = runner.status(command(&program, port, &key, full).current_dir(&dir))?;
    server.stop()?;
    Ok(if status.success() { Counts::ONE_PASSED } else { Counts::ONE_FAILED })
}

/// The program in a virtual environment of its own, of exactly the version above.
fn install(runner: &Runner) -> Result<PathBuf, ProcessError> {
    let venv = workspace::target("venv");
    let program = venv.join("bin/schemathesis");
    let installed = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    if installed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION)) {
        return Ok(program);
    }
    runner.run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    let package = format!("schemathesis=={VERSION}");
    let options = ["install", "--quiet", "--disable-pip-version-check", &package];
    runner.run(Command::new(venv.join("bin/pip")).args(options))?;
    Ok(program)
}

/// An empty data folder inside `dir`.
fn empty_folder(dir: &Path) -> Result<PathBuf, SchemathesisError> {
    let data_dir = dir.join("data");
    let unusable = |source| SchemathesisError::Folder { path: data_dir.clone(), source };
    if data_dir.exists() {
        std::fs::remove_dir_all(&data_dir).map_err(unusable)?;
    }
    std::fs::create_dir_all(&data_dir).map_err(unusable)?;
    Ok(data_dir)
}

fn command(program: &Path, port: u16, key: &str, full: bool) -> Command {
    let origin = format!("http://127.0.0.1:{port}");
    let mut command = Command::new(program);
    command
        .args(["run", &format!("{origin}/api/ext/v2/openapi.json")])
        .args(["--origin", &origin, "--header", &format!("Authorization:Bearer {key}")])
        .args(["--checks", CHECKS, "--seed", SEED, "--workers", "1", "--request-timeout", "30"])
        .args(["--max-examples", if full { "500" } else { "25" }])
        // Found examples would make the next run differ from this one.
        .args(["--generation-database", "none", "--no-color"]);
    command
}
