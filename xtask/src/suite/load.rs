//! A household's load on a server, then hostile clients beside it: no request fails, and memory and open files do not grow.

use std::process::Command;

use super::counts::Counts;
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// Times of the load and of each kind of hostile client, in seconds, and the number of connections that these hold.
const SHORT: [&str; 3] = ["60", "2", "2000"];
const FULL: [&str; 3] = ["3600", "60", "10000"];

/// Runs the load. It counts as one test.
pub(super) fn run(runner: &Runner, full: bool) -> Result<Counts, ProcessError> {
    let [seconds, hostile, connections] = if full { FULL } else { SHORT };
    let mut command = Command::new(workspace::target("debug/bench"));
    command.args(["mixed", "--seconds", seconds, "--hostile-seconds", hostile, "--connections", connections]);
    let status = runner.status(&mut command)?;
    Ok(Counts::one(status.success()))
}
