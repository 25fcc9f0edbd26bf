//! The measuring programs of the `tests` package, in a release build.

use std::path::{Path, PathBuf};

use crate::process::{ProcessError, Runner};
use crate::system::{self, SystemError, Tools};
use crate::workspace;

/// Why a measuring program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReleaseRunError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot find {}: {source}", dir.display())]
    Folder { dir: PathBuf, source: std::io::Error },
}

/// Runs every photo under `dir` through the importer.
pub(crate) fn corpus(runner: &Runner, dir: &Path) -> Result<(), ReleaseRunError> {
    // The program runs in the root of the work tree; the folder was named from where the user is.
    let dir = dir.canonicalize().map_err(|source| ReleaseRunError::Folder { dir: dir.to_owned(), source })?;
    system::ensure(runner, Tools::Build)?;
    runner.run(workspace::cargo(["run", "--release", "-p", "tests", "--bin", "corpus", "--"]).arg(dir))?;
    Ok(())
}

/// Runs the benchmarks.
pub(crate) fn bench(runner: &Runner, arguments: &[String]) -> Result<(), ReleaseRunError> {
    system::ensure(runner, Tools::Build)?;
    // It measures the server as a process of its own, and finds it beside itself.
    runner.run(&mut workspace::cargo(["build", "--release", "-p", "server"]))?;
    runner
        .run(workspace::cargo(["run", "--release", "-p", "tests", "--bin", "bench", "--"]).args(arguments))?;
    Ok(())
}
