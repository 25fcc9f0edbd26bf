//! Checks that each library crate compiles by itself and without warnings. In a build of the whole workspace, a feature
//! that one crate enables in a dependency is enabled for all crates. `vision` compiles without tract here, as in the
//! demo.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    process::{ProcessError, Runner},
    workspace,
};

/// Why the check of single crates failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AloneError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
}

pub(super) fn run(runner: &Runner) -> Result<(), AloneError> {
    for manifest in manifests(&workspace::path("crates"))? {
        println!("{}", manifest.display());
        let mut clippy = workspace::cargo(["clippy", "--quiet", "--lib", "--manifest-path"]);
        runner.run(clippy.arg(manifest).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// The manifests in these folders. Folders without one have sources that packages include.
fn manifests(folder: &Path) -> Result<Vec<PathBuf>, AloneError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|source| AloneError::Read { path: folder.to_owned(), source })?;
    let manifests = entries.iter().map(|entry| entry.path().join("Cargo.toml"));
    let mut manifests: Vec<_> = manifests.filter(|manifest| manifest.exists()).collect();
    manifests.sort_unstable();
    Ok(manifests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_crate_is_found() {
        let crates = workspace::path("crates");
        let found = manifests(&crates).unwrap();
        let has = |folder: &str| found.contains(&crates.join(folder).join("Cargo.toml"));
        assert!(found.len() > 30 && has("mcp-protocol"), "{found:?}");
        assert!(!has("storage-sql"), "both adapters include it");
    }
}
