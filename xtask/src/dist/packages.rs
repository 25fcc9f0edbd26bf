//! The packages whose code is in the server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;

use crate::process::{ProcessError, Runner};
use crate::workspace;

use super::program::Machine;

/// A package of which the server consists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) license: Option<String>,
    pub(super) description: Option<String>,
    pub(super) authors: Vec<String>,
    pub(super) repository: Option<String>,
    manifest_path: PathBuf,
    /// The registry; `None` for the packages of this workspace.
    pub(super) source: Option<String>,
    /// The SHA-256 of the package in the registry, in hexadecimal digits.
    #[serde(skip)]
    pub(super) checksum: Option<String>,
}

impl Package {
    /// The folder with its sources.
    pub(super) fn folder(&self) -> PathBuf {
        self.manifest_path.parent().map(PathBuf::from).unwrap_or_default()
    }

    /// Its licence as an SPDX expression. Old packages separate alternatives by a slash.
    pub(super) fn license_expression(&self) -> String {
        self.license.as_deref().unwrap_or("NOASSERTION").replace(" / ", " OR ").replace('/', " OR ")
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Why the list of packages is unknown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PackagesError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot parse the output of cargo metadata: {0}")]
    Metadata(#[from] serde_json::Error),
    #[error("cannot read Cargo.lock: {0}")]
    ReadLock(#[from] std::io::Error),
    #[error("cannot parse Cargo.lock: {0}")]
    ParseLock(#[from] toml::de::Error),
    #[error("cargo metadata does not list {0}")]
    Unlisted(String),
}

/// The packages that are compiled into the server with its default features, sorted by name and version.
///
/// # Errors
/// Cargo fails, or its answers disagree.
pub(super) fn of_server(runner: &Runner, machine: Machine) -> Result<Vec<Package>, PackagesError> {
    let tree = |edges: &str| {
        let arguments = ["tree", "--locked", "--package", "server", "--prefix", "none", "--format", "{p}"];
        let mut command = workspace::cargo(arguments);
        command.args(["--target", machine.target(), "--edges", edges]);
        runner.output(&mut command, "")
    };
    let linked = names_and_versions(&tree("normal,no-proc-macro")?);
    // Sources of C libraries that build scripts compile and link, such as `openssl-src`.
    let sources = names_and_versions(&tree("normal,build,no-proc-macro")?);
    let sources = sources.into_iter().filter(|(name, _)| name.ends_with("-src"));
    let wanted: BTreeSet<_> = linked.into_iter().chain(sources).collect();

    let metadata =
        runner.output(&mut workspace::cargo(["metadata", "--locked", "--format-version", "1"]), "")?;
    let lock = std::fs::read_to_string(workspace::path("Cargo.lock"))?;
    select(&wanted, serde_json::from_str(&metadata)?, toml::from_str(&lock)?)
}

/// Reads lines such as `serde v1.0.228` and `domain v0.1.0 (/sources/crates/domain)`.
fn names_and_versions(tree: &str) -> BTreeSet<(String, String)> {
    let read = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    };
    tree.lines().filter_map(read).collect()
}

fn select(
    wanted: &BTreeSet<(String, String)>,
    metadata: Metadata,
    lock: Lock,
) -> Result<Vec<Package>, PackagesError> {
    let checksums: BTreeMap<_, _> =
        lock.package.into_iter().map(|locked| ((locked.name, locked.version), locked.checksum)).collect();
    let mut listed: BTreeMap<_, _> = metadata
        .packages
        .into_iter()
        .map(|package| ((package.name.clone(), package.version.clone()), package))
        .collect();
    let find = |key: &(String, String)| {
        let mut package =
            listed.remove(key).ok_or_else(|| PackagesError::Unlisted(format!("{} {}", key.0, key.1)))?;
        package.checksum = checksums.get(key).cloned().flatten();
        Ok(package)
    };
    wanted.iter().map(find).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A package of the registry, with this name and licence.
    pub(in crate::dist) fn package(name: &str, license: &str, folder: &std::path::Path) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.2.3".to_owned(),
            license: Some(license.to_owned()),
            description: None,
            authors: vec!["Ann <ann@example.org>".to_owned()],
            repository: Some("https://example.org/code".to_owned()),
            manifest_path: folder.join("Cargo.toml"),
            source: Some("registry+https://github.com/rust-lang/crates.io-index".to_owned()),
            checksum: Some("ab".repeat(32)),
        }
    }

    #[test]
    fn packages_are_joined_with_their_checksums() {
        let tree = "server v0.1.0 (/sources/bins/server)\nbytes v1.12.0\nbytes v1.12.0 (*)\n\n";
        let metadata = json!({"packages": [
            {"name": "bytes", "version": "1.12.0", "license": "MIT/Apache-2.0", "description": null, "authors": [],
             "repository": null, "manifest_path": "/registry/bytes/Cargo.toml", "source": "registry"},
            {"name": "server", "version": "0.1.0", "license": "MIT", "description": "x", "authors": [],
             "repository": null, "manifest_path": "/sources/bins/server/Cargo.toml", "source": null},
            {"name": "unused", "version": "1.0.0", "license": null, "description": null, "authors": [],
             "repository": null, "manifest_path": "/registry/unused/Cargo.toml", "source": "registry"},
        ]});
        let lock = "[[package]]\nname = \"bytes\"\nversion = \"1.12.0\"\nchecksum = \"c0ffee\"\n";
        let read = || (serde_json::from_value(metadata.clone()).unwrap(), toml::from_str(lock).unwrap());

        let (listed, locked) = read();
        let packages = select(&names_and_versions(tree), listed, locked).unwrap();
        let names: Vec<_> = packages.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["bytes", "server"]);
        assert_eq!(packages[0].checksum.as_deref(), Some("c0ffee"));
        assert_eq!(packages[0].license_expression(), "MIT OR Apache-2.0");
        assert_eq!(packages[0].folder(), PathBuf::from("/registry/bytes"));
        assert_eq!(packages[1].checksum, None);

        let (listed, locked) = read();
        let error = select(&names_and_versions("lost v1.0.0"), listed, locked).unwrap_err();
        assert_eq!(error.to_string(), "cargo metadata does not list lost 1.0.0");
    }
}
