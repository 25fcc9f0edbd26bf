//! Compares the generated documents in the work tree with the output of the `server` program.
//!
//! To add one, add a row to [`FILES`] and run `cargo xtask check --only generated --write`.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{ProcessError, Runner};
use crate::workspace;

/// Arguments of `server`, and the file that holds its output.
const FILES: [(&str, &str); 4] = [
    ("openapi", "docs/openapi.json"),
    ("mcp-tools", "docs/mcp-tools.json"),
    ("help-markdown", "docs/cli.md"),
    ("connecting-markdown", "docs/connecting.md"),
];

/// Why the check of generated files failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GeneratedError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("out of date: {files}. Update with `cargo xtask check --only generated --write`")]
    OutOfDate { files: String },
}

/// Compares every file, or with `write` updates it.
pub(super) fn run(runner: &Runner, write: bool) -> Result<(), GeneratedError> {
    workspace::build_programs(runner, &["server"])?;
    let mut out_of_date = Vec::new();
    for (arguments, file) in FILES {
        let mut command = Command::new(workspace::target("debug/server"));
        let fresh = runner.output(command.args(arguments.split(' ')), "")?;
        let path = workspace::path(file);
        if write {
            std::fs::write(&path, fresh).map_err(|source| GeneratedError::Write { path, source })?;
        } else if std::fs::read_to_string(&path).ok().as_deref() != Some(fresh.as_str()) {
            out_of_date.push(file);
        }
    }
    if out_of_date.is_empty() {
        return Ok(());
    }
    Err(GeneratedError::OutOfDate { files: out_of_date.join(", ") })
}
