//! Runs the program on a new data folder.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::http;

/// How long a server may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(15);

pub(crate) const EMAIL: &str = "ann@example.org";

/// The exit code and output of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A data folder, removed when dropped.
pub(crate) struct Instance {
    folder: TempDir,
}

impl Instance {
    /// An empty data folder.
    pub(crate) fn new() -> Self {
        let instance = Self::without_folder();
        std::fs::create_dir(instance.data_dir()).unwrap();
        instance
    }

    /// A data folder that does not exist yet.
    pub(crate) fn without_folder() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A data folder with an account.
    pub(crate) fn with_account() -> Self {
        let instance = Self::new();
        instance.ok(["account", "create", EMAIL]);
        instance
    }

    /// A data folder with an account that has this password.
    pub(crate) fn with_password(password: &str) -> Self {
        let instance = Self::new();
        let outcome = instance.run_with_input(["account", "create", EMAIL, "--password-stdin"], password);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        instance
    }

    /// A path beside the data folder.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.beside("data")
    }

    /// The file names of the metadata store.
    pub(crate) fn files_of_store(&self) -> Vec<String> {
        let mut names = files_below(&self.data_dir());
        names.retain(|name| name.starts_with("library.sqlite"));
        names
    }

    /// The program with these arguments on this data folder.
    pub(crate) fn command<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = program();
        command.args(arguments).arg("--data-dir").arg(self.data_dir());
        // OCR takes a second per photo and has its own tests.
        if arguments.first().is_some_and(|name| ["fsck", "import", "serve", "worker"].contains(name)) {
            command.env("PHOTOS_OCR_LANGUAGES", "off");
        }
        command
    }

    pub(crate) fn run<const N: usize>(&self, arguments: [&str; N]) -> Outcome {
        outcome(&mut self.command(arguments), "")
    }

    pub(crate) fn run_with_input<const N: usize>(&self, arguments: [&str; N], input: &str) -> Outcome {
        outcome(&mut self.command(arguments), input)
    }

    /// Runs a command that must succeed, and returns its stdout.
    pub(crate) fn ok<const N: usize>(&self, arguments: [&str; N]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
        outcome.stdout
    }

    pub(crate) fn create_key(&self, name: &str) -> String {
        self.ok(["key", "create", EMAIL, "--name", name]).lines().last().unwrap().to_owned()
    }

    /// Starts a server on a free port, killed when dropped.
    pub(crate) fn serve(&self) -> Server {
        Server::start(&mut self.command(["serve", "--listen", "127.0.0.1:0"]))
    }
}

/// The program, without the settings in the environment of the tests.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
    for (name, _) in std::env::vars_os() {
        let is_setting = |prefix| name.to_string_lossy().starts_with(prefix);
        if ["PHOTOS_", "AWS_", "OTEL_"].into_iter().any(is_setting) || name == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command until it exits.
pub(crate) fn outcome(command: &mut Command, input: &str) -> Outcome {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command may exit without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A running server, killed when dropped.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: Option<JoinHandle<String>>,
    /// `http` or `https`.
    pub(crate) scheme: String,
    pub(crate) address: String,
}

impl Server {
    /// Starts the server and waits until it prints its address.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("listening on ").and_then(|url| url.split_once("://"));
        let (scheme, address) = url.unwrap_or_default();
        let (scheme, address) = (scheme.to_owned(), address.to_owned());
        let server = Self { child, stdout, stderr: Some(stderr), scheme, address };
        assert!(!server.address.is_empty(), "the first line is {line:?}");
        server
    }

    /// The process ID.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn get(&self, path: &str, key: &str) -> http::JsonResponse {
        http::get(&self.address, path, key)
    }

    /// Sends a signal and waits for the exit. Returns exit status, duration, and the remaining stdout and stderr.
    pub(crate) fn stop(mut self, signal: Signal) -> (ExitStatus, Duration, String, String) {
        let began = Instant::now();
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < EXIT_TIMEOUT, "the server does not exit");
            thread::sleep(Duration::from_millis(10));
        };
        let took = began.elapsed();
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        (status, took, stdout, self.stderr.take().unwrap().join().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The relative paths of all files in a folder and its subfolders, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    collect(folder, folder, &mut names);
    names.sort();
    names
}

fn collect(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, names);
        } else {
            names.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}
