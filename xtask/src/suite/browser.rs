//! Tests of the pages in headless Chromium and Firefox, and screenshots. See `tests/node/README.md`.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use super::counts::Counts;
use crate::node::{Node, NodeError};
use crate::process::{self, ProcessError, Runner};
use crate::scripts::{self, ScriptsError};
use crate::system::{self, SystemError, Tools};
use crate::workspace;

/// Relative to `tests/node`.
const FOLDER: &str = "browser";
const SUFFIX: &str = ".test.mjs";
const REPORTER: &str = "./browser/support/reporter.mjs";
/// Test files that run at the same time, each with its own server and browser. Mostly they wait.
const TEST_CONCURRENCY: &str = "--test-concurrency=3";

/// Why the browser tests could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrowserError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error(transparent)]
    Scripts(#[from] ScriptsError),
    #[error("cannot read {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
}

/// Runs the browser tests. Each test in each file counts.
pub(super) fn run(runner: &Runner, environment: &[(&str, &str)]) -> Result<Counts, BrowserError> {
    scripts::check(runner)?;
    let files = test_files()?;
    let large = large_library(runner)?;
    let mut command = with_browser(runner, Node::command)?;
    command
        .env("LARGE_LIBRARY", &large)
        .envs(environment.iter().copied())
        .args(["--test", TEST_CONCURRENCY, "--test-reporter", REPORTER, "--test-reporter-destination=stdout"])
        .args(files.iter().map(|file| format!("{FOLDER}/{file}")));
    let mut counts = Counts::default();
    let status = runner.lines(&mut command, |line| {
        println!("{line}");
        counts = counts + Counts::of_line(line).unwrap_or_default();
    })?;
    Ok(counts.with_status(status.success()))
}

/// A data folder with 20,000 photos, made anew.
fn large_library(runner: &Runner) -> Result<PathBuf, BrowserError> {
    let folder = workspace::target("large-library");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|source| BrowserError::Folder { path: folder.clone(), source })?;
    }
    let mut command = Command::new(workspace::target("debug/large_library"));
    command.arg(workspace::path("fixtures/samples")).arg(&folder);
    runner.run(&mut command)?;
    Ok(folder)
}

/// Takes screenshots of all pages.
pub(super) fn screenshots(runner: &Runner, folder: PathBuf) -> Result<(), BrowserError> {
    let mut command = with_browser(runner, |node| node.script(&format!("{FOLDER}/screenshots.mjs")))?;
    command.arg(folder);
    let status = runner.status(&mut command)?;
    Ok(process::success(&command, status)?)
}

/// Sets up the browsers and Node, and passes the paths of the browsers and of the server to a program.
fn with_browser(runner: &Runner, program: impl FnOnce(&Node) -> Command) -> Result<Command, BrowserError> {
    system::ensure(runner, Tools::Browser)?;
    let mut command = program(&Node::ensure(runner)?);
    command
        .env("CHROMIUM", system::chromium().unwrap_or_default())
        .env("FIREFOX", system::firefox().unwrap_or_default())
        .env("SERVER_PROGRAM", workspace::target("debug/server"))
        .env("FIXTURES", workspace::path("fixtures"))
        // Connections within this machine must not use the caller's proxy.
        .envs([("NO_PROXY", "127.0.0.1,localhost"), ("no_proxy", "127.0.0.1,localhost")]);
    Ok(command)
}

/// The test files, sorted.
fn test_files() -> Result<Vec<String>, BrowserError> {
    let folder = workspace::path("tests/node").join(FOLDER);
    let names = fs::read_dir(&folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>())
        .map_err(|source| BrowserError::Folder { path: folder, source })?;
    let mut names: Vec<_> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(SUFFIX));
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_files_are_run() {
        let files = test_files().unwrap();
        assert!(files.contains(&"consent.test.mjs".to_owned()) && files.is_sorted(), "{files:?}");
        assert!(!files.contains(&"screenshots.mjs".to_owned()), "{files:?}");
    }
}
