//! Tests with unmodified official clients, which start from a URL alone, with the registrations of well-known apps, and with
//! official servers. See `tests/node/README.md`.

mod examples;
mod servers;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::program::{self, StartError};
use super::sample::{self, EMAIL, SampleError};
use crate::instance::{ServeError, free_port};
use crate::node::{Node, NodeError};
use crate::process::{ProcessError, Runner, Running};
use crate::venv::{Venv, VenvError};
use crate::workspace;

const NODE: &str = "tests/node";
const PYTHON: &str = "tests/python";
/// The clients of the service, relative to these folders.
const CLIENTS: &str = "clients";
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
    Start(#[from] StartError),
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error(transparent)]
    Venv(#[from] VenvError),
    #[error("cannot use {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

/// Runs the clients. Each client and each registration counts as one test of each server.
pub(super) fn run(runner: &Runner) -> Result<Counts, ClientsError> {
    let clients = Clients {
        runner,
        node: Node::ensure(runner)?,
        python: python(runner)?,
        dir: workspace::target("clients"),
    };
    Ok(clients.use_service()? + examples::run(&clients)? + servers::run(&clients)?)
}

/// The environment with the clients' packages.
pub(super) fn python(runner: &Runner) -> Result<Venv, ClientsError> {
    let path = workspace::path(PYTHON).join("requirements.txt");
    let requirements = fs::read_to_string(&path).map_err(|source| ClientsError::File { path, source })?;
    Ok(Venv::ensure(runner, "clients", &requirements)?)
}

/// What runs the clients, and the folder of their logs.
struct Clients<'r> {
    runner: &'r Runner,
    node: Node,
    python: Venv,
    dir: PathBuf,
}

impl Clients<'_> {
    /// The clients and the registrations with the whole service.
    fn use_service(&self) -> Result<Counts, ClientsError> {
        let mut clients = self.all_in(CLIENTS)?;
        for file in files(REGISTRATIONS, "json")? {
            let mut command = self.node.script("registration.mjs");
            command.arg(&file);
            clients.push((format!("registration-{}", name(&file)), command));
        }
        let (library, password) = sample::library(self.runner, &self.dir)?;
        let port = free_port(FIRST_PORT);
        let mut server = library.serve(port)?;
        let mut counts = Counts::default();
        for (name, mut command) in clients {
            command
                .env("MCP_URL", format!("http://127.0.0.1:{port}/api/mcp/v1"))
                .envs([("EMAIL", EMAIL), ("PASSWORD", &password)]);
            counts = counts + self.run_one(&name, &mut command)?;
        }
        server.stop()?;
        Ok(counts)
    }

    /// The name and the command of each program in a folder of `tests/node` and of `tests/python`.
    fn all_in(&self, folder: &str) -> Result<Vec<(String, Command)>, ClientsError> {
        let mut programs = Vec::new();
        for file in files(&format!("{NODE}/{folder}"), "mjs")? {
            programs.push((name(&file), self.node.script(&format!("{folder}/{}.mjs", name(&file)))));
        }
        for file in files(&format!("{PYTHON}/{folder}"), "py")? {
            let mut command = self.python.command("python3");
            // `-B`: write no bytecode beside the source.
            command.arg("-B").arg(&file).env("PYTHONPATH", workspace::path(PYTHON));
            programs.push((format!("python-{}", name(&file)), command));
        }
        Ok(programs)
    }

    /// Starts a server that gets this argument. It logs like a client.
    fn start(
        &self,
        name: &str,
        command: &mut Command,
        argument: &str,
        port: u16,
    ) -> Result<Running, ClientsError> {
        let (output, errors) = self.log(name)?;
        Ok(program::start(self.runner, name, command.arg(argument).stdout(output).stderr(errors), port)?)
    }

    /// Runs one client, and prints its output if it fails.
    fn run_one(&self, name: &str, command: &mut Command) -> Result<Counts, ClientsError> {
        let (output, errors) = self.log(name)?;
        command
            .stdout(output)
            .stderr(errors)
            // Connections within this machine must not use the caller's proxy.
            .envs([("NO_PROXY", THIS_MACHINE), ("no_proxy", THIS_MACHINE)]);
        let started = Instant::now();
        let status = self.runner.status_within(command, TIME_LIMIT)?;
        let took = started.elapsed().as_secs_f64();
        let failure = match status {
            Some(status) if status.success() => {
                println!("{name}: ok, {took:.1} s");
                return Ok(Counts::ONE_PASSED);
            }
            Some(status) => status.to_string(),
            None => format!("still running after {} s", TIME_LIMIT.as_secs()),
        };
        let path = self.log_path(name);
        let text = fs::read_to_string(&path).map_err(|source| ClientsError::File { path, source })?;
        println!("{name}: FAILED ({failure}), {took:.1} s\n{text}");
        Ok(Counts::ONE_FAILED)
    }

    /// An empty log for standard output and standard error.
    fn log(&self, name: &str) -> Result<(File, File), ClientsError> {
        let path = self.log_path(name);
        let files = File::create(&path).and_then(|output| Ok((output.try_clone()?, output)));
        files.map_err(|source| ClientsError::File { path, source })
    }

    fn log_path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.log"))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_has_its_clients() {
        for (folder, ending, expect) in [
            ("tests/node/clients", "mjs", "openid-client"),
            ("tests/node/clients", "mjs", "mcp-inspector-2"),
            ("tests/python/clients", "py", "mcp_2"),
            ("tests/node/greeter", "mjs", "mcp-sdk-1"),
            ("tests/python/greeter", "py", "fastmcp_4"),
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
