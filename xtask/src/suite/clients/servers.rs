//! The client of `mcp-wire` with servers of other libraries.

use std::process::Command;

use super::{Clients, ClientsError, FIRST_PORT};
use crate::instance::free_port;
use crate::suite::counts::Counts;
use crate::workspace;

/// The servers, relative to `tests/node`.
const SERVERS: &str = "servers";

/// What each server does with its default settings, as options of `mcp_interop`.
const EXPECTED: [(&str, &[&str]); 2] =
    [("mcp-sdk-1", &["--newest", "2025-11-25", "--sessions"]), ("mcp-server-2", &["--newest", "2026-07-28"])];

pub(super) fn run(clients: &Clients<'_>) -> Result<Counts, ClientsError> {
    let mut counts = Counts::default();
    for (name, mut command) in clients.node_programs(SERVERS)? {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_is_expected() {
        let files = super::super::files("tests/node/servers", "mjs").unwrap();
        let names: Vec<_> = files.iter().map(|file| super::super::name(file)).collect();
        assert_eq!(names, EXPECTED.map(|(name, _)| name));
    }
}
