//! Filters by names as people write them: cameras, keywords and albums.

use accounts::Caller;
use domain::{Album, Filter, FilterNames};
use storage::{NameKind, StorageError};

use crate::Catalogue;

/// Maximum number of names that are compared.
pub(crate) const MAX_KNOWN_NAMES: u32 = 20_000;

/// Maximum number of names that one name means.
pub(crate) const MAX_MATCHING: usize = 4096;

/// Maximum number of names that are offered instead of one that matches nothing.
const MAX_NEAR: usize = 5;

/// Whether a camera has the words that a person wrote in its make and model, in any order.
fn is_camera(written: &str, name: &str) -> bool {
    let name: Vec<String> = name.split_whitespace().map(words::fold).collect();
    written.split_whitespace().all(|word| name.contains(&words::fold(word)))
}

/// The names that are most like what a person wrote.
pub(crate) fn nearest<'a>(written: &str, names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let written = words::fold(written);
    let distance = |name: &str| {
        let parts = name.split([',', ' ']).filter(|part| !part.is_empty());
        parts.chain([name]).filter_map(|part| likeness(&written, &words::fold(part))).min()
    };
    let mut near: Vec<(u32, &String)> = names.filter_map(|name| Some((distance(name)?, name))).collect();
    near.sort_by_key(|(distance, name)| (*distance, name.as_str()));
    near.dedup();
    near.into_iter().take(MAX_NEAR).map(|(_, name)| name.clone()).collect()
}

/// How unlike two words are, from 0; `None` if they have nothing in common.
fn likeness(written: &str, name: &str) -> Option<u32> {
    if written == name {
        Some(0)
    } else if words::is_typo_of(written, name) {
        Some(1)
    } else if name.starts_with(written) || written.starts_with(name) && name.chars().count() > 2 {
        Some(2)
    } else if written.chars().count() > 2 && name.contains(written) {
        Some(3)
    } else {
        None
    }
}

impl Catalogue {
    /// The cameras of the caller's library that a person means.
    pub async fn find_cameras(&self, caller: &Caller, written: &str) -> Result<Vec<String>, StorageError> {
        let known = self.known_names(caller, &[NameKind::Camera]).await?;
        Ok(known.into_iter().filter(|name| is_camera(written, name)).take(MAX_MATCHING).collect())
    }

    /// The keywords of the caller's library that a person means.
    pub async fn find_keywords(&self, caller: &Caller, written: &str) -> Result<Vec<String>, StorageError> {
        let (store, folded) = (&self.parts.store, [words::fold(written)]);
        let like =
            store.names_like(caller.account.id, &[NameKind::Keyword], &folded, MAX_KNOWN_NAMES).await?;
        Ok(like.into_iter().map(|(_, name)| name).collect())
    }

    /// The names of these kinds that are most like what a person wrote, to be offered if none is meant.
    pub async fn near_names(
        &self,
        caller: &Caller,
        kinds: &[NameKind],
        written: &str,
    ) -> Result<Vec<String>, StorageError> {
        Ok(nearest(written, self.known_names(caller, kinds).await?.iter()))
    }

    async fn known_names(&self, caller: &Caller, kinds: &[NameKind]) -> Result<Vec<String>, StorageError> {
        let mut known = Vec::new();
        for kind in kinds {
            known.extend(self.parts.store.known_names(caller.account.id, *kind, MAX_KNOWN_NAMES).await?);
        }
        Ok(known)
    }

    /// The albums with a title, in any letter case; if there is none, the nearest titles.
    pub async fn find_albums(
        &self,
        caller: &Caller,
        title: &str,
    ) -> Result<(Vec<Album>, Vec<String>), StorageError> {
        let albums = self.all_albums(caller).await?;
        let written = words::fold(title);
        let (matching, others): (Vec<Album>, Vec<Album>) =
            albums.into_iter().partition(|album| words::fold(&album.title) == written);
        let near = if matching.is_empty() {
            nearest(title, others.iter().map(|album| &album.title))
        } else {
            Vec::new()
        };
        Ok((matching, near))
    }

    /// A filter with the names that people wrote. A name that matches nothing makes a filter that finds nothing.
    pub(crate) async fn with_names(
        &self,
        caller: &Caller,
        filter: &Filter,
        names: &FilterNames,
    ) -> Result<Filter, StorageError> {
        let mut filter = filter.clone();
        let cameras = async {
            match &names.camera {
                Some(camera) => self.find_cameras(caller, camera).await.map(Some),
                None => Ok(None),
            }
        };
        let places = async {
            match &names.place {
                Some(place) => self.find_places(caller, place).await.map(Some),
                None => Ok(None),
            }
        };
        let (cameras, places) = tokio::try_join!(cameras, places)?;
        filter.cameras = cameras.or(filter.cameras);
        if let Some(places) = places {
            places.restrict(&mut filter);
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_are_found_by_their_words() {
        assert!(is_camera("canon r5", "Canon EOS R5") && is_camera("R5 Canon", "Canon EOS R5"));
        assert!(!is_camera("canon r", "Canon EOS R5"));
    }

    #[test]
    fn the_nearest_names_are_offered() {
        let known = ["Lisbon, Portugal", "Porto, Portugal", "Oslo, Norway", "New York City, United States"];
        let known: Vec<String> = known.map(str::to_owned).to_vec();
        let near = |written: &str| nearest(written, known.iter());
        assert_eq!(near("Lisbonn"), ["Lisbon, Portugal"]);
        assert_eq!(near("Port"), ["Lisbon, Portugal", "Porto, Portugal"]);
        assert_eq!(near("york"), ["New York City, United States"]);
        assert_eq!(near("Nairobi"), [""; 0]);
    }
}
