//! Checks that each library crate compiles without the others, and without warnings: in a build of the whole workspace, the features
//! that one crate enables in a dependency are there for all. `vision` compiles without tract here, as in the demo.

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
    #[error("{} is not the manifest of a package: {source}", path.display())]
    Manifest { path: PathBuf, source: toml::de::Error },
}

#[derive(serde::Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(serde::Deserialize)]
struct Package {
    name: String,
}

pub(super) fn run(runner: &Runner) -> Result<(), AloneError> {
    for name in packages(&workspace::path("crates"))? {
        println!("{name}");
        let arguments = ["clippy", "--quiet", "--package", &name, "--lib", "--", "-D", "warnings"];
        runner.run(&mut workspace::cargo(arguments))?;
    }
    Ok(())
}

/// The packages in these folders, by name. Folders without a manifest have sources that packages include.
fn packages(folder: &Path) -> Result<Vec<String>, AloneError> {
    let read = |path: &Path, source| AloneError::Read { path: path.to_owned(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(|source| read(folder, source))? {
        let path = entry.map_err(|source| read(folder, source))?.path().join("Cargo.toml");
        if !path.exists() {
            continue;
        }
        let content = fs::read_to_string(&path).map_err(|source| read(&path, source))?;
        let manifest: Manifest =
            toml::from_str(&content).map_err(|source| AloneError::Manifest { path, source })?;
        names.push(manifest.package.name);
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_crate_is_found() {
        let names = packages(&workspace::path("crates")).unwrap();
        assert!(names.len() > 30 && names.contains(&"mcp-wire".to_owned()), "{names:?}");
        assert!(!names.contains(&"storage-sql".to_owned()), "both adapters include it");
    }
}
