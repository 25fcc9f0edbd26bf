//! Checks that each library crate compiles by itself and without warnings. In a build of the whole workspace, a feature
//! that one crate enables in a dependency is enabled for all crates. `vision` compiles without tract here, as in the
//! demo.
//!
//! A build of one crate also compiles the crates of the workspace below it. It checks those among them whose own features,
//! and those of all their direct dependencies, are the same as in a build of their own. So about a third of the builds
//! checks all crates. What this does not see: a crate that needs a feature of an indirect dependency.

use std::{
    collections::{BTreeMap, BTreeSet},
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
    let manifests = manifests(&workspace::path("crates"))?;
    let mut trees = Vec::with_capacity(manifests.len());
    for manifest in manifests {
        let mut tree =
            workspace::cargo(["tree", "--edges", "normal", "--prefix", "depth", "--format", " {p}|{f}"]);
        let output = runner.output(tree.arg("--manifest-path").arg(&manifest), "")?;
        trees.push((manifest, Tree::parse(&output)));
    }
    let all = trees.len();
    let builds = builds(trees);
    println!("{} builds check {all} crates", builds.len());
    for manifest in builds {
        println!("{}", manifest.display());
        let mut clippy = workspace::cargo(["clippy", "--quiet", "--lib", "--manifest-path"]);
        runner.run(clippy.arg(manifest).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// What a build of one crate compiles.
#[derive(Debug)]
struct Tree {
    /// The crate itself with its direct dependencies. Each package has the features of [`Tree::all`].
    direct: BTreeSet<String>,
    /// All packages, with their enabled features separated by commas. A package may be compiled twice, with others below a
    /// macro.
    all: BTreeMap<String, BTreeSet<String>>,
}

impl Tree {
    /// Reads the output of `cargo tree`, whose lines are `<depth> <package>|<features>`.
    fn parse(output: &str) -> Self {
        let mut tree = Self { direct: BTreeSet::new(), all: BTreeMap::new() };
        for line in output.lines() {
            // The dependencies of a package are printed once. `(*)` marks the other lines of a package that has some.
            let line = line.strip_suffix(" (*)").unwrap_or(line);
            let Some((depth, (package, features))) =
                line.split_once(' ').and_then(|(depth, rest)| Some((depth, rest.split_once('|')?)))
            else {
                continue;
            };
            if matches!(depth, "0" | "1") {
                tree.direct.insert(package.to_owned());
            }
            tree.all.entry(package.to_owned()).or_default().insert(features.to_owned());
        }
        tree
    }

    /// Whether this build compiles the crate of another one with the same features of the crate and its direct dependencies.
    fn checks(&self, other: &Self) -> bool {
        other.direct.iter().all(|package| self.all.get(package) == other.all.get(package))
    }
}

/// The manifests of the builds that check all crates.
fn builds(mut trees: Vec<(PathBuf, Tree)>) -> Vec<PathBuf> {
    trees.sort_by_key(|(_, tree)| tree.all.len());
    let mut builds = Vec::new();
    while let Some((manifest, tree)) = trees.pop() {
        trees.retain(|(_, other)| !tree.checks(other));
        builds.push(manifest);
    }
    builds
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

    #[test]
    fn a_build_checks_the_crates_below_that_have_the_same_features() {
        let tree = |name: &str, output: &str| (PathBuf::from(name), Tree::parse(output));
        let domain = tree("domain", "0 domain v1 (/domain)|\n1 serde v1|std\n2 serde_core v1|std\n");
        let words = tree("words", "0 words v1 (/words)|\n1 serde v1|\n2 serde_core v1|\n");
        let pages = tree(
            "pages",
            "0 pages v1 (/pages)|\n1 domain v1 (/domain)|\n2 serde v1|std\n3 serde_core v1|alloc,std\n\
             1 serde v1|std (*)\n1 words v1 (/words)|\n2 serde v1|std (*)\n",
        );
        // `words` may need a feature that `domain` enables. The features of `serde_core` are the business of `serde`.
        assert_eq!(builds(vec![domain, words, pages]), [PathBuf::from("pages"), PathBuf::from("words")]);
        let own = tree("own", "0 own v1 (/own)|extra\n");
        let user = tree("user", "0 user v1 (/user)|\n1 own v1 (/own)|\n2 url v2|\n");
        assert_eq!(builds(vec![own, user]).len(), 2, "a feature of the crate itself differs");
    }
}
