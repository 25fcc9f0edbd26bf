//! A household's load on a server, then hostile clients beside it: no request fails, and memory and open files do not grow.

use std::process::Command;

use super::counts::Counts;
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// Times of the load and of each kind of hostile client, in seconds.
const SHORT: [&str; 2] = ["60", "2"];
const FULL: [&str; 2] = ["3600", "60"];

/// Runs the load. It counts as one test.
pub(super) fn run(runner: &Runner, full: bool) -> Result<Counts, ProcessError> {
    let [seconds, hostile] = if full { FULL } else { SHORT };
    let mut command = Command::new(workspace::target("debug/bench"));
    command.args(["mixed", "--seconds", seconds, "--hostile-seconds", hostile]);
    let status = runner.status(&mut command)?;
    Ok(if status.success() { Counts::ONE_PASSED } else { Counts::ONE_FAILED })
}
