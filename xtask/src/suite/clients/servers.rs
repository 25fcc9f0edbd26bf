//! The client of `mcp-wire` with servers of other libraries.

use std::process::Command;

use super::{Clients, ClientsError, FIRST_PORT};
use crate::instance::free_port;
use crate::process::{ProcessError, Runner};
use crate::suite::counts::Counts;
use crate::workspace;

/// The servers, relative to `tests/node` and `tests/python`.
const SERVERS: &str = "servers";
/// The package with the server of the official Rust library, and that server.
const RUST_PACKAGE: &str = "tests/peers/mcp-echo/Cargo.toml";
const RUST_SERVER: &str = "mcp-greeter";

/// What each server does with its default settings, as options of `mcp_interop`.
const EXPECTED: [(&str, &[&str]); 5] = [
    ("mcp-sdk-1", &["--newest", "2025-11-25", "--sessions"]),
    ("mcp-server-2", &["--newest", "2026-07-28"]),
    ("python-fastmcp_4", &["--newest", "2026-07-28", "--sessions", "--pages", "2"]),
    ("python-mcp_2", &["--newest", "2026-07-28", "--sessions"]),
    (RUST_SERVER, &["--newest", "2026-07-28", "--sessions", "--pages", "2"]),
];

pub(super) fn run(clients: &Clients<'_>) -> Result<Counts, ClientsError> {
    let mut servers = clients.all_in(SERVERS)?;
    servers.push((RUST_SERVER.to_owned(), build_rust_server(clients.runner)?));
    let mut counts = Counts::default();
    for (name, mut command) in servers {
        let port = free_port(FIRST_PORT);
        let mut server = clients.start(&name, &mut command, &port.to_string(), port)?;
        let mut client = Command::new(workspace::target("debug/mcp_interop"));
        client.arg(format!("http://127.0.0.1:{port}/mcp")).args(expected(&name));
        counts = counts + clients.run_one(&format!("mcp_interop-{name}"), &mut client)?;
        server.stop()?;
    }
    Ok(counts)
}

/// The options of `mcp_interop`, which refuses to run without any.
fn expected(server: &str) -> &'static [&'static str] {
    EXPECTED.iter().find(|(name, _)| *name == server).map_or(&[], |(_, options)| *options)
}

/// Builds the server of the Rust library. Its package is not in the workspace, so that nothing else is built with its
/// dependencies.
fn build_rust_server(runner: &Runner) -> Result<Command, ProcessError> {
    let folder = workspace::target("peers");
    let mut build = workspace::cargo(["build", "--locked", "--quiet", "--bin", RUST_SERVER]);
    build.arg("--manifest-path").arg(workspace::path(RUST_PACKAGE)).arg("--target-dir").arg(&folder);
    runner.run(&mut build)?;
    Ok(Command::new(folder.join("debug").join(RUST_SERVER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_expected_options() {
        let mut names = vec![RUST_SERVER.to_owned()];
        for (folder, ending, prefix) in
            [("tests/node/servers", "mjs", ""), ("tests/python/servers", "py", "python-")]
        {
            let files = super::super::files(folder, ending).unwrap();
            names.extend(files.iter().map(|file| format!("{prefix}{}", super::super::name(file))));
        }
        names.sort_unstable();
        let mut expected = EXPECTED.map(|(name, _)| name);
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
