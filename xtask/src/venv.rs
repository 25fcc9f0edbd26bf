//! Python virtual environments in the build folder, one for each set of packages.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{ProcessError, Runner};
use crate::workspace;

/// A copy of the requirements, written when all packages are installed.
const INSTALLED: &str = "installed.txt";

/// Why the environment could not be created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VenvError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
}

/// A virtual environment of Python.
#[derive(Debug)]
pub(crate) struct Venv {
    dir: PathBuf,
}

impl Venv {
    /// The environment of this name with the packages of `requirements`, in the format of a requirements file. It is
    /// created again if the requirements have changed.
    pub(crate) fn ensure(runner: &Runner, name: &str, requirements: &str) -> Result<Self, VenvError> {
        Self::installed(runner, name, requirements, &[])
    }

    /// The same without the dependencies of these packages.
    pub(crate) fn ensure_without_dependencies(
        runner: &Runner,
        name: &str,
        requirements: &str,
    ) -> Result<Self, VenvError> {
        Self::installed(runner, name, requirements, &["--no-deps"])
    }

    fn installed(runner: &Runner, name: &str, requirements: &str, more: &[&str]) -> Result<Self, VenvError> {
        let venv = Self { dir: workspace::target("venvs").join(name) };
        if venv.has(requirements) {
            return Ok(venv);
        }
        runner.run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv.dir))?;
        let wanted = venv.dir.join("wanted.txt");
        write(&wanted, requirements)?;
        let options = ["install", "--quiet", "--disable-pip-version-check", "--requirement"];
        runner.run(venv.command("pip").args(options).arg(&wanted).args(more))?;
        write(&venv.dir.join(INSTALLED), requirements)?;
        Ok(venv)
    }

    /// A file with this prefix in a folder of the installed packages.
    pub(crate) fn package_file(&self, folder: &str, prefix: &str) -> Option<PathBuf> {
        let versions = std::fs::read_dir(self.dir.join("lib")).ok()?.flatten();
        versions.map(|version| version.path().join("site-packages").join(folder)).find_map(|folder| {
            let entries = std::fs::read_dir(folder).ok()?.flatten();
            let named = |path: &PathBuf| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
            };
            entries.map(|entry| entry.path()).find(named)
        })
    }

    /// A command that runs a program of the environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        Command::new(self.programs().join(program))
    }

    /// The search path with the programs of the environment first.
    pub(crate) fn search_path(&self) -> OsString {
        let mut path = self.programs().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        path
    }

    /// The folder of its programs.
    pub(crate) fn programs(&self) -> PathBuf {
        self.dir.join("bin")
    }

    /// Whether all these packages are installed, and Python still runs.
    fn has(&self, requirements: &str) -> bool {
        let installed = std::fs::read_to_string(self.dir.join(INSTALLED));
        let mut python = self.command("python3");
        let quiet = python.args(["-c", ""]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        installed.is_ok_and(|text| text == requirements)
            && quiet.status().is_ok_and(|status| status.success())
    }
}

fn write(path: &Path, text: &str) -> Result<(), VenvError> {
    std::fs::write(path, text).map_err(|source| VenvError::Write { path: path.to_owned(), source })
}
