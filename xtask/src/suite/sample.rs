//! Creates a library of the sample photos for programs that test a running server.

use std::path::{Path, PathBuf};

use crate::instance::{Import, Instance, Wait};
use crate::password::{self, PasswordError};
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// The owner of the library.
pub(super) const EMAIL: &str = "ann@example.org";

/// Why the library could not be created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SampleError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error("cannot use {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("not all sample photos could be imported")]
    Import,
}

/// Creates a library in `dir`, and returns it with its owner's password. Removes an earlier one.
pub(super) fn library<'r>(runner: &'r Runner, dir: &Path) -> Result<(Instance<'r>, String), SampleError> {
    let instance = Instance {
        runner,
        program: workspace::target("debug/server"),
        data_dir: empty_folder(dir)?,
        uses_ocr: false,
    };
    let password = password::make()?;
    instance.migrate()?;
    instance.ensure_account(EMAIL, &password)?;
    match instance.import(EMAIL, &workspace::path("fixtures/samples"), Wait::UntilRecognised)? {
        Import::Complete => Ok((instance, password)),
        Import::SomeFailed => Err(SampleError::Import),
    }
}

/// An empty data folder inside `dir`.
fn empty_folder(dir: &Path) -> Result<PathBuf, SampleError> {
    let data_dir = dir.join("data");
    let unusable = |source| SampleError::Folder { path: data_dir.clone(), source };
    if data_dir.exists() {
        std::fs::remove_dir_all(&data_dir).map_err(unusable)?;
    }
    std::fs::create_dir_all(&data_dir).map_err(unusable)?;
    Ok(data_dir)
}
