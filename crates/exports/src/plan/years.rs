//! Folders for the photos of a year in Google Takeout exports. Their file may look like that of an album.

use std::collections::{HashMap, HashSet};

use domain::Timestamp;

use super::draft::{Draft, FolderKey, folder_key};
use crate::names;

/// The largest distance of a local time from UTC.
const MAX_OFFSET_MILLIS: i64 = 14 * 60 * 60 * 1000;

/// Marks the folders with a title that are for the photos of a year. `copies` has the photos with the same content.
pub(super) fn mark(draft: &mut Draft<'_>, copies: &[Vec<usize>]) {
    let titles = draft.album_titles.iter().map(|(folder, (title, _))| (*folder, title.as_str()));
    let known: HashSet<FolderKey<'_>> =
        titles.filter(|(_, title)| names::is_year_title(title)).map(|(folder, _)| folder).collect();
    // The folders of one export are named in one language.
    let is_known_language = draft.scan.folders.iter().any(|folder| names::is_year_title(folder.name()));
    draft.year_folders =
        if known.is_empty() && !is_known_language { by_structure(draft, copies) } else { known };
}

/// What a folder with a year in its title contains.
struct YearContent<'t> {
    title: &'t str,
    dated_in_year: usize,
    dated_in_others: usize,
    with_copies: usize,
    without_copies: usize,
}

impl<'t> YearContent<'t> {
    fn of(title: &'t str) -> Self {
        Self { title, dated_in_year: 0, dated_in_others: 0, with_copies: 0, without_copies: 0 }
    }

    /// An export has each photo in the folder of its year, and copies in the folders of its albums.
    fn may_be_of_year(&self) -> bool {
        self.dated_in_year > 0 && self.dated_in_others == 0 && self.without_copies > 0
    }
}

/// The folders for years, by their photos. A folder with photos of one year may also be an album, above all in an export
/// of a few albums. So another sign is needed: an album has copies of its photos, or two such folders have the same title
/// apart from the year.
fn by_structure<'a>(draft: &Draft<'a>, copies: &[Vec<usize>]) -> HashSet<FolderKey<'a>> {
    let mut contents = contents(draft, copies);
    contents.retain(|_, content| content.may_be_of_year());
    let mut years: HashMap<String, HashSet<i16>> = HashMap::new();
    for content in contents.values() {
        years.entry(names::without_year(content.title)).or_default().extend(names::year(content.title));
    }
    let has_namesake = |title| years.get(&names::without_year(title)).is_some_and(|years| years.len() > 1);
    contents.retain(|_, content| content.with_copies > 0 || has_namesake(content.title));
    contents.into_keys().collect()
}

/// The folders whose titles contain a year.
fn contents<'a, 't>(draft: &'t Draft<'a>, copies: &[Vec<usize>]) -> HashMap<FolderKey<'a>, YearContent<'t>> {
    let copied = copied(draft, copies);
    let mut contents = HashMap::new();
    for (position, photo) in draft.photos.iter().enumerate().filter(|(_, photo)| photo.folder.is_takeout) {
        let folder = folder_key(photo.folder);
        let title = draft.album_titles.get(&folder).map(|(title, _)| title.as_str());
        let Some((title, year)) = title.and_then(|title| Some((title, names::year(title)?))) else {
            continue;
        };
        let content = contents.entry(folder).or_insert_with(|| YearContent::of(title));
        let described = photo.takeout.and_then(|sidecar| draft.sidecars.get(sidecar)?.described.as_ref());
        match described.and_then(|described| described.taken_at) {
            Some(taken_at) if is_in_year(taken_at, year) => content.dated_in_year += 1,
            Some(_) => content.dated_in_others += 1,
            None => {}
        }
        if copied.contains(&position) {
            content.with_copies += 1;
        } else {
            content.without_copies += 1;
        }
    }
    contents
}

/// The photos with a copy in another folder.
fn copied(draft: &Draft<'_>, copies: &[Vec<usize>]) -> HashSet<usize> {
    let folder = |photo: &usize| draft.photos.get(*photo).map(|photo| folder_key(photo.folder));
    let in_several = copies
        .iter()
        .filter(|copies| copies.iter().any(|copy| folder(copy) != copies.first().and_then(folder)));
    in_several.flatten().copied().collect()
}

/// Whether a time is in that year anywhere on Earth.
fn is_in_year(at: Timestamp, year: i16) -> bool {
    let year = format!("{year:04}-");
    let offsets = [-MAX_OFFSET_MILLIS, MAX_OFFSET_MILLIS];
    offsets.into_iter().any(|offset| at.plus_millis(offset).to_string().starts_with(&year))
}
