//! Tests with unmodified official clients, which start from the MCP URL alone, and with the registrations of well-known
//! apps. See `tests/node/README.md`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::node::{Node, NodeError};
use super::sample::{self, EMAIL, SampleError};
use super::venv::{Venv, VenvError};
use crate::instance::{ServeError, free_port};
use crate::process::{ProcessError, Runner};
use crate::workspace;

const NODE_CLIENTS: &str = "tests/node/clients";
const PYTHON: &str = "tests/python";
const REGISTRATIONS: &str = "tests/clients/registrations";
/// Below the ephemeral ports.
const FIRST_PORT: u16 = 18_600;
/// Upper bound for a client that hangs. Most take a second or two; the inspector starts a new process for every call.
const TIME_LIMIT: Duration = Duration::from_secs(10 * 60);
/// Hosts that need no proxy. Some clients listen for the browser's redirect at `localhost`.
const THIS_MACHINE: &str = "127.0.0.1,localhost";

/// Why the clients could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientsError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error(transparent)]
    Venv(#[from] VenvError),
    #[error("cannot use {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

/// Runs the clients. Each client and each registration counts as one test.
pub(super) fn run(runner: &Runner) -> Result<Counts, ClientsError> {
    let clients = clients(runner)?;
    let dir = workspace::target("clients");
    let (library, password) = sample::library(runner, &dir)?;
    let port = free_port(FIRST_PORT);
    let mut server = library.serve(port)?;
    let mut counts = Counts::default();
    for (name, mut command) in clients {
        command
            .env("MCP_URL", format!("http://127.0.0.1:{port}/api/mcp/v1"))
            .envs([("EMAIL", EMAIL), ("PASSWORD", &password)])
            // Connections within this machine must not use the caller's proxy.
            .envs([("NO_PROXY", THIS_MACHINE), ("no_proxy", THIS_MACHINE)]);
        counts = counts + run_one(runner, &name, &mut command, &dir.join(format!("{name}.log")))?;
    }
    server.stop()?;
    Ok(counts)
}

/// The name and the command of each client.
fn clients(runner: &Runner) -> Result<Vec<(String, Command)>, ClientsError> {
    let node = Node::ensure(runner)?;
    let python = python(runner)?;
    let mut clients = Vec::new();
    for file in files(NODE_CLIENTS, "mjs")? {
        clients.push((name(&file), node.script(&format!("clients/{}.mjs", name(&file)))));
    }
    for file in files(&format!("{PYTHON}/clients"), "py")? {
        let mut command = python.command("python3");
        // `-B`: write no bytecode beside the source.
        command.arg("-B").arg(&file).env("PYTHONPATH", workspace::path(PYTHON));
        clients.push((format!("python-{}", name(&file)), command));
    }
    for file in files(REGISTRATIONS, "json")? {
        let mut command = node.script("registration.mjs");
        command.arg(&file);
        clients.push((format!("registration-{}", name(&file)), command));
    }
    Ok(clients)
}

fn python(runner: &Runner) -> Result<Venv, ClientsError> {
    let path = workspace::path(PYTHON).join("requirements.txt");
    let requirements = fs::read_to_string(&path).map_err(|source| ClientsError::File { path, source })?;
    Ok(Venv::ensure(runner, "clients", &requirements)?)
}

/// The files of a folder in the work tree with this extension, sorted.
fn files(folder: &str, ending: &str) -> Result<Vec<PathBuf>, ClientsError> {
    let folder = workspace::path(folder);
    let mut files = fs::read_dir(&folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>())
        .map_err(|source| ClientsError::File { path: folder, source })?;
    files.retain(|file| file.extension() == Some(OsStr::new(ending)));
    files.sort();
    Ok(files)
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Runs one client, and prints its output if it fails.
fn run_one(runner: &Runner, name: &str, command: &mut Command, log: &Path) -> Result<Counts, ClientsError> {
    let unusable = |source| ClientsError::File { path: log.to_owned(), source };
    let output = File::create(log).map_err(unusable)?;
    let errors = output.try_clone().map_err(unusable)?;
    let started = Instant::now();
    let status = runner.status_within(command.stdout(output).stderr(errors), TIME_LIMIT)?;
    let took = started.elapsed().as_secs_f64();
    let text = fs::read_to_string(log).map_err(unusable)?;
    match status {
        Some(status) if status.success() => {
            println!("{name}: ok, {took:.1} s");
            return Ok(Counts::ONE_PASSED);
        }
        Some(status) => println!("{name}: FAILED ({status}), {took:.1} s\n{text}"),
        None => println!("{name}: FAILED, still running after {} s\n{text}", TIME_LIMIT.as_secs()),
    }
    Ok(Counts::ONE_FAILED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_has_its_clients() {
        for (folder, ending, expect) in [
            (NODE_CLIENTS, "mjs", "openid-client"),
            (NODE_CLIENTS, "mjs", "mcp-inspector-2"),
            ("tests/python/clients", "py", "mcp_2"),
            (REGISTRATIONS, "json", "cursor"),
        ] {
            let files = files(folder, ending).unwrap();
            assert!(files.is_sorted() && files.iter().any(|file| name(file) == expect), "{files:?}");
        }
        assert!(files("no/such/folder", "json").is_err());
    }

    #[test]
    fn every_registration_names_its_client() {
        for file in files(REGISTRATIONS, "json").unwrap() {
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                text.starts_with("{\n  \"client\": \"") && text.contains("\"redirect_uris\""),
                "{file:?}"
            );
        }
    }
}
