//! A PgBouncer before the server, with which each transaction may get another connection.

use std::path::Path;

use rustix::process::Signal;

use super::folder::{ServerFolder, append};
use super::{PostgresError, USER, wait_until_ready};
use crate::instance::free_port;
use crate::process::{Runner, Running};
use crate::system;

/// Connections to the server for each database. Fewer than a store has, so that its connections share them.
const POOL_SIZE: u16 = 4;
const MAX_CLIENTS: u16 = 1000;

/// A running PgBouncer.
#[derive(Debug)]
pub(super) struct PgBouncer {
    pub(super) port: u16,
    _running: Running,
}

impl PgBouncer {
    /// Starts one for all databases of the server.
    pub(super) fn start(
        runner: &Runner,
        folder: &ServerFolder,
        postgres: &Path,
        server_port: u16,
    ) -> Result<Self, PostgresError> {
        let program = system::find_system_program("pgbouncer").ok_or(PostgresError::NotFound("PgBouncer"))?;
        // The port of the server is in use, so it is not chosen.
        let port = free_port(server_port);
        let users = folder.write("pgbouncer-users", &format!("\"{USER}\" \"\"\n"))?;
        let log = folder.log("pgbouncer")?;
        let config = folder.write("pgbouncer.ini", &config(server_port, port, &users))?;
        let mut command = folder.user.command(&program);
        command.arg(config).stdout(append(&log)?).stderr(append(&log)?);
        // Without waiting for clients to disconnect.
        let mut running = runner.spawn(&mut command)?.stopped_by(Signal::INT);
        wait_until_ready(runner, &mut running, "PgBouncer", postgres, port, &log)?;
        Ok(Self { port, _running: running })
    }
}

fn config(server_port: u16, port: u16, users: &Path) -> String {
    format!(
        "[databases]
* = host=127.0.0.1 port={server_port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {}
pool_mode = transaction
server_reset_query = DISCARD ALL
server_reset_query_always = 1
default_pool_size = {POOL_SIZE}
max_client_conn = {MAX_CLIENTS}
; A database that a test has dropped leaves nothing behind.
autodb_idle_timeout = 10
log_connections = 0
log_disconnections = 0
",
        users.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_gets_a_connection_without_the_state_of_another() {
        let config = config(5432, 6432, Path::new("/x/users"));
        for line in [
            "* = host=127.0.0.1 port=5432",
            "listen_port = 6432",
            "listen_addr = 127.0.0.1",
            "auth_file = /x/users",
            "pool_mode = transaction",
            "server_reset_query_always = 1",
        ] {
            assert!(config.lines().any(|written| written == line), "{line}");
        }
    }
}
