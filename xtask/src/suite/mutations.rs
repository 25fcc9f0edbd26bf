//! Imports thousands of broken photo files beside a running server.

use std::process::Command;

use super::counts::Counts;
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// Number of files. The test of `cargo test` imports a few hundred.
const FILES: &str = "10000";

/// Runs the import. It counts as one test.
pub(super) fn run(runner: &Runner) -> Result<Counts, ProcessError> {
    let program = workspace::target("debug/mutations");
    let status = runner.status(Command::new(program).args(["--count", FILES]))?;
    Ok(Counts::one(status.success()))
}
