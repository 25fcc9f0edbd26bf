//! The official MCP conformance suite, run against the service and against a small server that has the tools and resources
//! which the suite looks for. `tests/node/README.md` says more.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::node::{Node, NodeError};
use super::sample::{self, EMAIL, SampleError};
use crate::http;
use crate::instance::{ServeError, free_port};
use crate::process::{ProcessError, Runner, Running};
use crate::workspace;

const SCRIPT: &str = "conformance/run.mjs";
/// Ends in the revision of each set of requirements.
const EXPECTED: &str = "conformance/expected";
const TESTS: [&str; 2] = ["conformance/expected.test.mjs", "conformance/proxy.test.mjs"];
const REPORTER: &str = "./browser/support/reporter.mjs";
const RESOURCES: [&str; 3] = ["v1", "v2", "legacy"];
/// Ports below the range that systems hand out to connections.
const FIRST_PORT: u16 = 18_800;
const START_TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// Why the suite could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConformanceError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error("the server with the suite's tools was not ready after {} s", START_TIMEOUT.as_secs())]
    NotReady,
}

/// Each scenario, for each revision and server, counts as one test, unless it is expected to fail.
pub(super) fn run(runner: &Runner) -> Result<Counts, ConformanceError> {
    let node = Node::ensure(runner)?;
    let dir = workspace::target("conformance");
    let mut counts = own_tests(runner, &node)?;

    let (library, _) = sample::library(runner, &dir)?;
    let key = library.create_key(EMAIL, "conformance")?;
    let port = free_port(FIRST_PORT);
    let mut server = library.serve(port)?;
    for resource in RESOURCES {
        let url = format!("http://127.0.0.1:{port}/api/mcp/{resource}");
        let mut command = suite(&node, &url, "library", &dir.join(resource));
        counts = counts + count(runner, &format!("/api/mcp/{resource}"), command.env("API_KEY", &key))?;
    }
    server.stop()?;

    let port = free_port(FIRST_PORT);
    let mut server = fixture(runner, port)?;
    let url = format!("http://127.0.0.1:{port}/mcp");
    counts = counts + count(runner, "the fixture", &mut suite(&node, &url, "fixture", &dir.join("fixture")))?;
    server.stop()?;
    Ok(counts)
}

/// What adds the token and what judges are tested before they are believed.
fn own_tests(runner: &Runner, node: &Node) -> Result<Counts, ProcessError> {
    let mut command = node.command();
    command.args(["--test", "--test-reporter", REPORTER, "--test-reporter-destination=stdout"]).args(TESTS);
    count(runner, "its own tests", &mut command)
}

fn suite(node: &Node, url: &str, expected: &str, results: &Path) -> Command {
    let mut command = node.script(SCRIPT);
    command
        .args([url, &format!("{EXPECTED}/{expected}")])
        .arg(results)
        // A proxy that the caller uses has no part in what stays on this machine.
        .envs([("NO_PROXY", "127.0.0.1,localhost"), ("no_proxy", "127.0.0.1,localhost")]);
    command
}

fn count(runner: &Runner, name: &str, command: &mut Command) -> Result<Counts, ProcessError> {
    println!("\n-- {name}");
    let mut counts = Counts::default();
    let status = runner.lines(command, |line| {
        println!("{line}");
        counts = counts + Counts::of_line(line).unwrap_or_default();
    })?;
    Ok(counts.with_status(status.success()))
}

/// Serves the suite's own tools, without a token.
fn fixture(runner: &Runner, port: u16) -> Result<Running, ConformanceError> {
    let mut command = Command::new(workspace::target("debug/mcp_fixture"));
    let mut running = runner.spawn(command.arg(format!("127.0.0.1:{port}")))?;
    let started = Instant::now();
    // Any answer will do: a GET has no place there.
    while http::get(port, "/mcp", None).is_err() {
        if started.elapsed() > START_TIMEOUT || running.ended()?.is_some() {
            return Err(ConformanceError::NotReady);
        }
        runner.pause(POLL)?;
    }
    Ok(running)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_run_is_there() {
        for path in [SCRIPT, EXPECTED].into_iter().chain(TESTS) {
            assert!(workspace::path("tests/node").join(path).exists(), "{path}");
        }
    }
}
