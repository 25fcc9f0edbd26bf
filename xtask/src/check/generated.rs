//! Compares the generated files in the work tree with what they are made from: served scripts with their sources, and documents
//! with the output of the `server` program.
//!
//! To add a document, add a row to [`DOCUMENTS`] and run `cargo xtask check --only generated --write`.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{ProcessError, Runner};
use crate::scripts::{self, ScriptsError};
use crate::workspace;

/// Arguments of `server`, and the file that holds its output.
const DOCUMENTS: [(&str, &str); 4] = [
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
    #[error(transparent)]
    Scripts(#[from] ScriptsError),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("out of date: {files}. Update with `cargo xtask check --only generated --write`")]
    OutOfDate { files: String },
}

/// Compares every file, or with `write` updates it.
pub(super) fn run(runner: &Runner, write: bool) -> Result<(), GeneratedError> {
    // The program contains the scripts, so they come first.
    let mut out_of_date = out_of_date(scripts::served(runner)?, write)?;
    workspace::build_programs(runner, &["server"])?;
    let mut documents = Vec::new();
    for (arguments, file) in DOCUMENTS {
        let mut command = Command::new(workspace::target("debug/server"));
        documents.push((file.to_owned(), runner.output(command.args(arguments.split(' ')), "")?));
    }
    out_of_date.extend(self::out_of_date(documents, write)?);
    if out_of_date.is_empty() {
        return Ok(());
    }
    Err(GeneratedError::OutOfDate { files: out_of_date.join(", ") })
}

/// The files among these that differ from what they have to contain. With `write` they are updated instead.
fn out_of_date(files: Vec<(String, String)>, write: bool) -> Result<Vec<String>, GeneratedError> {
    let mut out_of_date = Vec::new();
    for (file, fresh) in files {
        if workspace::holds(&file, &fresh) {
            continue;
        }
        if write {
            let path = workspace::path(&file);
            std::fs::write(&path, fresh).map_err(|source| GeneratedError::Write { path, source })?;
        } else {
            out_of_date.push(file);
        }
    }
    Ok(out_of_date)
}
