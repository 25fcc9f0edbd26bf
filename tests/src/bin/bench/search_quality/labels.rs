//! The labelled data in `tests/judged`: pictures, labels and searches.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use ::tests::black_box::AnyError;
use serde::Deserialize;

use super::generated;

pub(super) struct LabelledData {
    /// Photos by name, with their paths in the fixtures or in the folder of photos.
    photos: BTreeMap<String, String>,
    labels: BTreeMap<String, Label>,
    pub(super) queries: Vec<LabelledQuery>,
}

/// The pictures with a label. All other pictures do not have it.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    yes: BTreeSet<String>,
    /// Ambiguous pictures, which are ignored in the results.
    #[serde(default)]
    maybe: BTreeSet<String>,
}

/// A search and its relevant pictures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct LabelledQuery {
    pub(super) kind: String,
    pub(super) query: String,
    pub(super) channels: Option<String>,
    pub(super) start_date: Option<String>,
    pub(super) end_date: Option<String>,
    /// Latitude, longitude, radius in metres.
    pub(super) circle: Option<[f64; 3]>,
    /// Relevant pictures have all of these labels.
    #[serde(default)]
    labels: Vec<String>,
    /// Further relevant pictures, by name.
    #[serde(default)]
    relevant: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Queries {
    query: Vec<LabelledQuery>,
}

impl LabelledData {
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

    /// The photos whose files exist.
    pub(super) fn photos(&self, folder: Option<&Path>) -> Vec<(&str, PathBuf)> {
        let file = |path: &str| match path.strip_prefix("fixtures/") {
            Some(path) => Some(::tests::fixtures().join(path)),
            None => folder.map(|folder| folder.join(path)),
        };
        let found = self.photos.iter().filter_map(|(name, path)| Some((name.as_str(), file(path)?)));
        found.filter(|(_, path)| path.is_file()).collect()
    }

    /// The relevant and the ambiguous pictures of a search.
    pub(super) fn relevance<'a>(
        &'a self,
        query: &'a LabelledQuery,
    ) -> Result<(BTreeSet<&'a str>, BTreeSet<&'a str>), AnyError> {
        let mut labels = Vec::with_capacity(query.labels.len());
        for name in &query.labels {
            labels.push(self.labels.get(name).ok_or_else(|| format!("no label {name}"))?);
        }
        let mut relevant: BTreeSet<&str> = query.relevant.iter().map(String::as_str).collect();
        let mut ambiguous = BTreeSet::new();
        if let Some((first, others)) = labels.split_first() {
            for name in first.yes.iter().chain(&first.maybe) {
                if others.iter().all(|label| label.yes.contains(name)) && first.yes.contains(name) {
                    relevant.insert(name);
                } else if others.iter().all(|label| label.yes.contains(name) || label.maybe.contains(name)) {
                    ambiguous.insert(name.as_str());
                }
            }
        }
        Ok((relevant, ambiguous))
    }

    /// All picture names in labels and searches.
    fn names(&self) -> impl Iterator<Item = &String> {
        let labelled = self.labels.values().flat_map(|label| label.yes.iter().chain(&label.maybe));
        labelled.chain(self.queries.iter().flat_map(|query| &query.relevant))
    }

    /// Whether a picture has this name.
    fn has_picture(&self, name: &str) -> bool {
        self.photos.contains_key(name) || generated::ALL.iter().any(|picture| picture.name == name)
    }

    /// Names and labels that are used but not defined.
    pub(super) fn unknown(&self) -> Vec<String> {
        let names = self.names().filter(|name| !self.has_picture(name)).cloned();
        let labels = self.queries.iter().flat_map(|query| &query.labels);
        names.chain(labels.filter(|label| !self.labels.contains_key(*label)).cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labelled_data_is_consistent() {
        let data = LabelledData::read().unwrap();
        assert_eq!(data.unknown(), Vec::<String>::new());
        assert!(data.queries.len() >= 120, "{}", data.queries.len());
        for query in &data.queries {
            let (relevant, ambiguous) = data.relevance(query).unwrap();
            assert!(!relevant.is_empty(), "{query:?} has no relevant picture");
            assert!(relevant.is_disjoint(&ambiguous), "{query:?}");
        }
        for label in data.labels.values() {
            assert!(label.yes.is_disjoint(&label.maybe), "{label:?}");
        }
        for name in data.photos.values().filter_map(|path| path.strip_prefix("fixtures/")) {
            assert!(::tests::fixture(name).is_file(), "{name}");
        }
    }
}
