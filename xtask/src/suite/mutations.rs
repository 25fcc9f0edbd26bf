//! Broken photo files by the thousand, imported beside a running server.

use std::process::Command;

use super::counts::Counts;
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// How many files a full run imports; the ordinary tests import a few hundred.
const FILES: &str = "10000";

/// Counts as one test.
pub(super) fn run(runner: &Runner) -> Result<Counts, ProcessError> {
    let program = workspace::target("debug/mutations");
    let status = runner.status(Command::new(program).args(["--count", FILES]))?;
    Ok(if status.success() { Counts::ONE_PASSED } else { Counts::ONE_FAILED })
}
