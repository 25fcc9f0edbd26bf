//! A private Postgres server for tests, with a PgBouncer before it.
//!
//! Both listen on the loopback interface only, let everybody in who reaches them, and stop when [`Postgres`] is dropped.

mod folder;
mod pgbouncer;
mod user;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::Signal;

use crate::instance::{free_port, tail};
use crate::process::{ProcessError, Runner, Running};
use crate::system::{self, SystemError, Tools};
use folder::{ServerFolder, append};
use pgbouncer::PgBouncer;
use user::ServerUser;

/// Tests read the URL of the server from this variable.
pub(crate) const SERVER_VARIABLE: &str = "PHOTOS_TEST_POSTGRES";
/// Tests connect through the PgBouncer with the URL in this variable.
pub(crate) const POOLER_VARIABLE: &str = "PHOTOS_TEST_PGBOUNCER";

/// The superuser, and the only user.
const USER: &str = "postgres";
/// Below the ephemeral ports.
const FIRST_PORT: u16 = 18_900;
/// Each test has its own connections, and so has each database behind PgBouncer.
const MAX_CONNECTIONS: u16 = 300;
/// Ends the wait for a server that does not start. Long enough for a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(50);

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PostgresError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    System(#[from] SystemError),
    #[error("{0} was not found")]
    NotFound(&'static str),
    #[error("Postgres and PgBouncer do not run as root, and there is no user `postgres` or `nobody`")]
    NoUser,
    #[error("cannot use {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{program} stopped or was not ready after {} s. The end of {}:\n{tail}", START_TIMEOUT.as_secs(), log.display())]
    NotReady { program: &'static str, log: PathBuf, tail: String },
}

/// What the server survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Nothing: data may be lost even if only the server is killed. This makes ordinary tests several times as fast.
    None,
    /// A loss of power, as in use.
    Full,
}

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Wait for the disk at each commit, for tests that kill the server
    #[arg(long)]
    durable: bool,
}

/// Runs a server and a PgBouncer until Ctrl-C, and prints the variables that tests read.
pub(crate) fn run(runner: &Runner, options: &Options) -> Result<(), PostgresError> {
    let durability = if options.durable { Durability::Full } else { Durability::None };
    let mut server = Postgres::start(runner, "by-hand", durability)?;
    println!("\n{SERVER_VARIABLE}={}", server.url());
    println!("# only for tests through PgBouncer:\n{POOLER_VARIABLE}={}", server.pooler_url());
    println!("\nCtrl-C stops the server and deletes its databases.");
    // Ctrl-C ends the loop.
    while runner.pause(POLL).is_ok() {
        if let Some(status) = server.server.exited()? {
            eprintln!("the server stopped ({status}); its log is {}", server.log.display());
            break;
        }
    }
    Ok(())
}

/// The server of a run of tests, started when it is first needed.
#[derive(Debug)]
pub(crate) struct PostgresOnDemand<'r> {
    runner: &'r Runner,
    started: Option<Postgres>,
}

impl<'r> PostgresOnDemand<'r> {
    /// A server that is not started yet.
    pub(crate) fn new(runner: &'r Runner) -> Self {
        Self { runner, started: None }
    }

    /// The running server.
    pub(crate) fn get(&mut self) -> Result<&Postgres, PostgresError> {
        let server = match self.started.take() {
            Some(server) => server,
            None => Postgres::start(self.runner, "tests", Durability::None)?,
        };
        Ok(self.started.insert(server))
    }
}

/// A running server and its PgBouncer.
#[derive(Debug)]
pub(crate) struct Postgres {
    // Stopped before the server, which it is connected to.
    pooler: PgBouncer,
    server: Running,
    port: u16,
    log: PathBuf,
    // Deleted last.
    _folder: ServerFolder,
}

impl Postgres {
    /// Installs the programs where that is allowed, and starts a server without databases. Only one of each name can run.
    pub(crate) fn start(runner: &Runner, name: &str, durability: Durability) -> Result<Self, PostgresError> {
        system::ensure(runner, Tools::Postgres)?;
        let programs = system::postgres_programs().ok_or(PostgresError::NotFound("Postgres"))?;
        let user = ServerUser::find().ok_or(PostgresError::NoUser)?;
        let folder = ServerFolder::create(runner, name, durability, user, &programs)?;
        let mut initdb = user.command(&programs.join("initdb"));
        initdb.args([
            "--username",
            USER,
            "--auth",
            "trust",
            "--locale",
            "C",
            "--encoding",
            "UTF8",
            "--no-sync",
            "-D",
        ]);
        runner.output(initdb.arg(folder.data()), "")?;

        let port = free_port(FIRST_PORT);
        let log = folder.log("postgres")?;
        let mut postgres = user.command(&programs.join("postgres"));
        postgres.arg("-D").arg(folder.data()).stdout(append(&log)?).stderr(append(&log)?);
        for setting in settings(port, durability) {
            postgres.args(["-c", &setting]);
        }
        // Without waiting for clients to disconnect.
        let mut server = runner.spawn(&mut postgres)?.stopped_by(Signal::INT);
        wait_until_ready(runner, &mut server, "Postgres", &programs, port, &log)?;
        let pooler = PgBouncer::start(runner, &folder, &programs, port)?;
        Ok(Self { pooler, server, port, log, _folder: folder })
    }

    /// The URL of the server, without a database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}", self.port)
    }

    /// The URL of the PgBouncer, without a database.
    pub(crate) fn pooler_url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}", self.pooler.port)
    }
}

fn settings(port: u16, durability: Durability) -> Vec<String> {
    let always = [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        "unix_socket_directories=".to_owned(),
        format!("max_connections={MAX_CONNECTIONS}"),
    ];
    // A worker that cleans up a database while it is copied or dropped would delay the test.
    let fast = [
        "autovacuum=off",
        "fsync=off",
        "full_page_writes=off",
        "max_wal_senders=0",
        "max_wal_size=128MB",
        "synchronous_commit=off",
        "wal_level=minimal",
    ];
    let more = if durability == Durability::None { fast.as_slice() } else { &[] };
    always.into_iter().chain(more.iter().map(|&setting| setting.to_owned())).collect()
}

fn wait_until_ready(
    runner: &Runner,
    server: &mut Running,
    program: &'static str,
    programs: &Path,
    port: u16,
    log: &Path,
) -> Result<(), PostgresError> {
    let started = Instant::now();
    while started.elapsed() < START_TIMEOUT && server.exited()?.is_none() {
        let mut probe = std::process::Command::new(programs.join("pg_isready"));
        probe.args(["-q", "-h", "127.0.0.1", "-p", &port.to_string(), "-d", "postgres", "-U", USER]);
        if runner.status(probe.stdout(Stdio::null()))?.success() {
            return Ok(());
        }
        runner.pause(POLL)?;
    }
    Err(PostgresError::NotReady { program, log: log.to_owned(), tail: tail(log) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_without_durability_skips_disk_syncs() {
        let fast = settings(5432, Durability::None);
        assert!(fast.contains(&"port=5432".to_owned()) && fast.contains(&"fsync=off".to_owned()));
        let full = settings(5432, Durability::Full);
        assert!(!full.iter().any(|setting| setting.ends_with("=off")), "{full:?}");
        for settings in [fast, full] {
            assert!(settings.contains(&"listen_addresses=127.0.0.1".to_owned()), "{settings:?}");
        }
    }
}
