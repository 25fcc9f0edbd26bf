//! Runs the official MCP conformance suite against the service, and against a small server with the tools and resources
//! that the suite calls. See `tests/node/README.md`.

use std::path::Path;
use std::process::Command;

use super::counts::Counts;
use super::program::{self, StartError};
use super::sample::{self, EMAIL, SampleError};
use crate::instance::{ServeError, free_port};
use crate::node::{Node, NodeError};
use crate::process::{ProcessError, Runner};
use crate::workspace;

const SCRIPT: &str = "conformance/run.mjs";
/// Prefix of the files of expected failures, relative to `tests/node`.
const EXPECTED: &str = "conformance/expected";
const TESTS: [&str; 2] = ["conformance/expected.test.mjs", "conformance/proxy.test.mjs"];
const REPORTER: &str = "./browser/support/reporter.mjs";
const RESOURCES: [&str; 3] = ["v1", "v2", "legacy"];
/// Below the ephemeral ports.
const FIRST_PORT: u16 = 18_800;

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
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Runs the suite. Each scenario counts as one test for each revision and server, unless it is expected to fail.
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
    let mut fixture = Command::new(workspace::target("debug/mcp_fixture"));
    let mut server = program::start(runner, "mcp_fixture", fixture.arg(format!("127.0.0.1:{port}")), port)?;
    let url = format!("http://127.0.0.1:{port}/mcp");
    counts = counts + count(runner, "the fixture", &mut suite(&node, &url, "fixture", &dir.join("fixture")))?;
    server.stop()?;
    Ok(counts)
}

/// Tests the proxy that adds the token, and the comparison with expected failures.
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
        // Connections within this machine must not use the caller's proxy.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_expected_failures_exist() {
        for path in [SCRIPT, EXPECTED].into_iter().chain(TESTS) {
            assert!(workspace::path("tests/node").join(path).exists(), "{path}");
        }
    }
}
