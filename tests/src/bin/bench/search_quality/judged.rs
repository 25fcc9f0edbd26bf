//! What was judged: the pool, which pictures of it are what, and the searches.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use ::tests::black_box::AnyError;
use serde::Deserialize;

use super::made;

/// All of it, as `tests/judged` holds it.
pub(super) struct Judged {
    /// Photos by name, with where they stand: in the fixtures, or else in the folder of photos.
    photos: BTreeMap<String, String>,
    labels: BTreeMap<String, Label>,
    pub(super) queries: Vec<JudgedQuery>,
}

/// Which pictures are so. All others of the pool are not.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    yes: BTreeSet<String>,
    /// Those that one may see either way: they count neither for nor against a search.
    #[serde(default)]
    maybe: BTreeSet<String>,
}

/// A search and what it should find.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct JudgedQuery {
    pub(super) kind: String,
    pub(super) query: String,
    pub(super) channels: Option<String>,
    pub(super) start_date: Option<String>,
    pub(super) end_date: Option<String>,
    /// Latitude, longitude, radius in metres.
    pub(super) circle: Option<[f64; 3]>,
    /// What is wanted has all of these labels.
    #[serde(default)]
    labels: Vec<String>,
    /// What is wanted, by name.
    #[serde(default)]
    relevant: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Queries {
    query: Vec<JudgedQuery>,
}

impl Judged {
    pub(super) fn read() -> Result<Self, AnyError> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("judged");
        let read = |name: &str| fs::read_to_string(folder.join(name));
        let queries: Queries = toml::from_str(&read("queries.toml")?)?;
        Ok(Self {
            photos: toml::from_str(&read("photos.toml")?)?,
            labels: toml::from_str(&read("labels.toml")?)?,
            queries: queries.query,
        })
    }

    /// The photos that are there, with their files.
    pub(super) fn photos(&self, folder: Option<&Path>) -> Vec<(&str, PathBuf)> {
        let place = |path: &str| match path.strip_prefix("fixtures/") {
            Some(path) => Some(::tests::fixtures().join(path)),
            None => folder.map(|folder| folder.join(path)),
        };
        let found = self.photos.iter().filter_map(|(name, path)| Some((name.as_str(), place(path)?)));
        found.filter(|(_, path)| path.is_file()).collect()
    }

    /// Which pictures a search should find, and which count neither way.
    pub(super) fn wanted<'a>(
        &'a self,
        query: &'a JudgedQuery,
    ) -> Result<(BTreeSet<&'a str>, BTreeSet<&'a str>), AnyError> {
        let mut labels = Vec::with_capacity(query.labels.len());
        for name in &query.labels {
            labels.push(self.labels.get(name).ok_or_else(|| format!("no label {name}"))?);
        }
        let mut wanted: BTreeSet<&str> = query.relevant.iter().map(String::as_str).collect();
        let mut either = BTreeSet::new();
        if let Some((first, others)) = labels.split_first() {
            for name in first.yes.iter().chain(&first.maybe) {
                if others.iter().all(|label| label.yes.contains(name)) && first.yes.contains(name) {
                    wanted.insert(name);
                } else if others.iter().all(|label| label.yes.contains(name) || label.maybe.contains(name)) {
                    either.insert(name.as_str());
                }
            }
        }
        Ok((wanted, either))
    }

    /// Every name that a label or a search uses.
    fn names(&self) -> impl Iterator<Item = &String> {
        let labelled = self.labels.values().flat_map(|label| label.yes.iter().chain(&label.maybe));
        labelled.chain(self.queries.iter().flat_map(|query| &query.relevant))
    }

    /// Whether a name is one of the pool.
    fn knows(&self, name: &str) -> bool {
        self.photos.contains_key(name) || made::ALL.iter().any(|made| made.name == name)
    }

    /// Names and labels that are used and do not exist.
    pub(super) fn unknown(&self) -> Vec<String> {
        let names = self.names().filter(|name| !self.knows(name)).cloned();
        let labels = self.queries.iter().flat_map(|query| &query.labels);
        names.chain(labels.filter(|label| !self.labels.contains_key(*label)).cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_judged_is_consistent() {
        let judged = Judged::read().unwrap();
        assert_eq!(judged.unknown(), Vec::<String>::new());
        assert!(judged.queries.len() >= 120, "{}", judged.queries.len());
        for query in &judged.queries {
            let (wanted, either) = judged.wanted(query).unwrap();
            assert!(!wanted.is_empty(), "{query:?} wants nothing");
            assert!(wanted.is_disjoint(&either), "{query:?}");
        }
        for label in judged.labels.values() {
            assert!(label.yes.is_disjoint(&label.maybe), "{label:?}");
        }
        for name in judged.photos.values().filter_map(|path| path.strip_prefix("fixtures/")) {
            assert!(::tests::fixture(name).is_file(), "{name}");
        }
    }
}
