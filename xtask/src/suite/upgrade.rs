//! A rolling upgrade from the previous release. See `tests/machines/README.md`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use super::counts::Counts;
use super::machines;
use super::sync::SyncError;
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// Why the upgrade could not be tested.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpgradeError {
    #[error(
        "commit {0} is not in this clone. In a shallow clone, run `git fetch --unshallow`, then try again"
    )]
    NoCommit(String),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Checks(#[from] SyncError),
}

/// Builds the server of this revision, and runs the checks with it and the current one. Each counts as one test.
pub(super) fn run(
    runner: &Runner,
    environment: &[(&str, &str)],
    revision: &str,
) -> Result<Counts, UpgradeError> {
    let commit = commit(runner, revision)?;
    let previous = build(runner, &commit)?;
    let variables = [("PREVIOUS_PROGRAM", previous.into_os_string())];
    Ok(machines::run_in("upgrade", runner, environment, &variables)?)
}

/// The id of the commit.
fn commit(runner: &Runner, revision: &str) -> Result<String, UpgradeError> {
    let name = format!("{revision}^{{commit}}");
    let found =
        runner.capture(&mut git(["rev-parse", "--verify", "--quiet", "--end-of-options", &name]), "")?;
    if found.status.success() {
        Ok(found.stdout.trim().to_owned())
    } else {
        Err(UpgradeError::NoCommit(revision.to_owned()))
    }
}

/// Builds the server of a commit in a work tree and with a build folder of its own, and returns the program.
fn build(runner: &Runner, commit: &str) -> Result<PathBuf, ProcessError> {
    let source = workspace::target("previous/source");
    if source.join(".git").exists() {
        runner.run(git(["checkout", "--quiet", "--force", "--detach", commit]).current_dir(&source))?;
    } else {
        // The build folder may have been deleted with an earlier work tree.
        runner.run(&mut git(["worktree", "prune"]))?;
        runner.run(git(["worktree", "add", "--quiet", "--detach"]).arg(&source).arg(commit))?;
    }
    let target = workspace::target("previous/build");
    let mut build = workspace::compile("build", ["--locked", "--package", "server", "--bin", "server"]);
    runner.run(build.arg("--target-dir").arg(&target).current_dir(&source))?;
    Ok(target.join("debug/server"))
}

/// A Git command in the root of the work tree.
fn git<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new("git");
    command.args(arguments.map(OsStr::new)).current_dir(workspace::root());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_commit_is_an_error() {
        let runner = Runner::install().unwrap();
        for revision in ["0000000000000000000000000000000000000000", "no-such-branch", "--all", ""] {
            let error = commit(&runner, revision).unwrap_err();
            assert!(matches!(error, UpgradeError::NoCommit(_)), "{revision:?}: {error}");
        }
    }
}
