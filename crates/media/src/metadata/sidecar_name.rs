//! Matches sidecars to photos in one folder by their names.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use domain::{SidecarKind, composed};

/// The part that a Takeout export puts between a photo's name and `.json`, sometimes truncated.
const SUPPLEMENT: &str = "supplemental-metadata";

/// A Takeout export truncates the part before `.json` to this length, in UTF-16 units. A number in brackets is not counted.
const TAKEOUT_NAME_UNITS: usize = 46;

/// Names of edited photos that have at least this length, in UTF-16 units, may have a truncated suffix. Names of photos are
/// truncated to 47 units before their extension.
const MIN_TRUNCATED_UNITS: usize = 44;

/// Suffixes of edited photos in a Takeout export. An edited photo has the sidecar of the original.
const EDITED: [&str; 14] = [
    "-edited",
    "-effects",
    "-smile",
    "-mix",
    "-bearbeitet",
    "-bewerkt",
    "-editado",
    "-editada",
    "-ha editado",
    "-editat",
    "-edytowane",
    "-modificato",
    "-modifié",
    "-編集済み",
];

/// The sidecars of one photo, as indexes into the given list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhotoSidecars {
    pub xmp: Option<usize>,
    pub takeout: Option<usize>,
}

/// The sidecars of the photos in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SidecarMatches {
    /// The sidecars of each photo, in the order of the photos.
    pub by_photo: Vec<PhotoSidecars>,
    /// The sidecars that belong to no photo, as indexes into the given list.
    pub unmatched: Vec<usize>,
}

/// The kind of sidecar that a file may be, judged by its name. The content decides (see
/// [`is_sidecar_content`](crate::is_sidecar_content)).
///
/// ```
/// use domain::SidecarKind;
/// assert_eq!(media::sidecar_kind("IMG_1.jpg.XMP"), Some(SidecarKind::Xmp));
/// assert_eq!(media::sidecar_kind("IMG_1.jpg.supplemental-meta.json"), Some(SidecarKind::Takeout));
/// assert_eq!(media::sidecar_kind("IMG_1.jpg"), None);
/// ```
pub fn sidecar_kind(file_name: &str) -> Option<SidecarKind> {
    let (stem, extension) = split_extension(file_name)?;
    match extension.to_ascii_lowercase().as_str() {
        _ if stem.is_empty() => None,
        "xmp" => Some(SidecarKind::Xmp),
        "json" => Some(SidecarKind::Takeout),
        _ => None,
    }
}

/// Finds the sidecars of each photo in a folder, by the names of the photos and of the possible sidecars.
///
/// - `x.jpg.xmp` belongs to `x.jpg`; `x.xmp` to every photo `x.…` that has no better one.
/// - `x.jpg.json`, `x.jpg.supplemental-metadata.json` and its truncated forms belong to `x.jpg`, even if the photo's name
///   is truncated in them. `x.jpg(1).json` belongs to `x(1).jpg`, even if the name is truncated. `x-edited.jpg` has the
///   sidecar of `x.jpg`. A truncated name that matches several photos belongs to none.
/// - Case is ignored if no name matches exactly. The composed and the decomposed form of a letter are equal.
///
/// Of several sidecars that match a photo the best is chosen; the others do not count as unmatched. The work is linear
/// in the number of names.
///
/// ```
/// let found = media::match_sidecars(&["x.jpg", "x.cr2"], &["x.xmp", "x.jpg.xmp", "metadata.json"]);
/// assert_eq!(found.by_photo[0].xmp, Some(1));
/// assert_eq!(found.by_photo[1].xmp, Some(0));
/// assert_eq!(found.unmatched, [2]);
/// ```
pub fn match_sidecars(photos: &[&str], sidecars: &[&str]) -> SidecarMatches {
    let photos: Vec<PhotoName<'_>> = photos.iter().map(|name| PhotoName::of(name)).collect();
    let sidecars: Vec<Cow<'_, str>> = sidecars.iter().map(|name| composed(name)).collect();
    let index = Index::of(&sidecars);
    let ambiguous = ambiguous_keys(&photos);
    let mut matched: HashSet<usize> = HashSet::new();
    let mut best = |keys: Vec<Key>| {
        let found: Vec<usize> = keys.iter().filter_map(|key| index.find(key)).collect();
        matched.extend(&found);
        found.first().copied()
    };
    let by_photo = photos
        .iter()
        .map(|photo| PhotoSidecars {
            xmp: best(xmp_keys(&photo.composed)),
            takeout: best(takeout_keys(photo, &ambiguous)),
        })
        .collect();
    let unmatched = (0..sidecars.len())
        .filter(|position| !matched.contains(index.duplicates.get(position).unwrap_or(position)));
    SidecarMatches { by_photo, unmatched: unmatched.collect() }
}

/// The name of a photo as stored, and with composed letters.
struct PhotoName<'a> {
    stored: &'a str,
    composed: Cow<'a, str>,
}

impl<'a> PhotoName<'a> {
    fn of(stored: &'a str) -> Self {
        Self { stored, composed: composed(stored) }
    }

    /// The truncated forms of the names. An export truncates the name as it is stored. The system that unpacked the export may have
    /// changed the form of letters, so the composed name is tried, too.
    fn truncated_keys(&self, names: for<'n> fn(&'n str) -> Vec<Name<'n>>) -> Vec<Key> {
        let mut keys = truncated_keys(&names(self.stored));
        if self.stored != self.composed {
            keys.extend(truncated_keys(&names(&self.composed)));
        }
        keys
    }

    /// The stem of the original, without a number.
    fn original(&self) -> &str {
        let (stem, _) = stem_and_extension(&self.composed);
        let (stem, _) = split_number(stem);
        split_number(unedited(stem).unwrap_or(stem)).0
    }
}

/// Truncated names that match several photos, unless these are versions of each other.
fn ambiguous_keys(photos: &[PhotoName<'_>]) -> HashSet<Key> {
    let mut originals: HashMap<Key, &str> = HashMap::new();
    let mut ambiguous = HashSet::new();
    for photo in photos {
        let original = photo.original();
        for key in photo.truncated_keys(own_names) {
            if *originals.entry(key.clone()).or_insert(original) != original {
                ambiguous.insert(key);
            }
        }
    }
    ambiguous
}

/// The photo that a sidecar's name refers to: its name, and the number that a Takeout export puts after it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: SidecarKind,
    name: String,
    number: Option<u32>,
}

impl Key {
    fn of_sidecar(file_name: &str) -> Option<Self> {
        let kind = sidecar_kind(file_name)?;
        let (stem, _) = split_extension(file_name)?;
        let key = |name: &str, number| Self { kind, name: name.to_owned(), number };
        Some(match kind {
            SidecarKind::Xmp => key(stem, None),
            SidecarKind::Takeout => {
                let (stem, number) = split_number(stem);
                let supplemented =
                    split_extension(stem).filter(|(_, extension)| SUPPLEMENT.starts_with(extension));
                let (name, inner_number) = supplemented.map_or((stem, None), |(name, _)| split_number(name));
                key(name, number.or(inner_number))
            }
        })
    }

    fn takeout((name, number): (String, Option<u32>)) -> Self {
        Self { kind: SidecarKind::Takeout, name, number }
    }

    fn lowercase(&self) -> Self {
        Self { name: self.name.to_lowercase(), ..self.clone() }
    }
}

/// The sidecars by the photo that their names refer to.
struct Index {
    exact: HashMap<Key, usize>,
    lowercase: HashMap<Key, usize>,
    /// For each sidecar with the same key as a better one, the better one.
    duplicates: HashMap<usize, usize>,
}

impl Index {
    fn of(sidecars: &[Cow<'_, str>]) -> Self {
        let mut index = Self { exact: HashMap::new(), lowercase: HashMap::new(), duplicates: HashMap::new() };
        // Longer names first: newer exports write more explicit names.
        let mut positions: Vec<usize> = (0..sidecars.len()).collect();
        positions
            .sort_by_key(|position| std::cmp::Reverse(sidecars.get(*position).map_or(0, |name| name.len())));
        for position in positions {
            let Some(key) = sidecars.get(position).and_then(|name| Key::of_sidecar(name)) else { continue };
            index.lowercase.entry(key.lowercase()).or_insert(position);
            let better = *index.exact.entry(key).or_insert(position);
            if better != position {
                index.duplicates.insert(position, better);
            }
        }
        index
    }

    fn find(&self, key: &Key) -> Option<usize> {
        self.exact.get(key).or_else(|| self.lowercase.get(&key.lowercase())).copied()
    }
}

/// The keys of a photo's XMP files, best first.
fn xmp_keys(photo: &str) -> Vec<Key> {
    let stem = split_extension(photo).map(|(stem, _)| stem);
    let key = |name: &str| Key { kind: SidecarKind::Xmp, name: name.to_owned(), number: None };
    std::iter::once(photo).chain(stem).map(key).collect()
}

/// The keys of a photo's Takeout files, best first.
fn takeout_keys(photo: &PhotoName<'_>, ambiguous: &HashSet<Key>) -> Vec<Key> {
    let keys = |names: for<'n> fn(&'n str) -> Vec<Name<'n>>| {
        let mut truncated = photo.truncated_keys(names);
        truncated.retain(|key| !ambiguous.contains(key));
        with_and_without_extension(&names(&photo.composed)).chain(truncated).collect::<Vec<_>>()
    };
    [keys(own_names), keys(unedited_names), motion_photo_keys(&photo.composed)].concat()
}

/// `original_<uuid>_P.jpg` and its numbered versions share one file, whose name ends before the `P`.
fn motion_photo_keys(photo: &str) -> Vec<Key> {
    let (stem, _) = stem_and_extension(photo);
    let (stem, _) = split_number(stem);
    let is_original = stem.starts_with("original_") && stem.ends_with("_P");
    let key = stem.strip_suffix('P').filter(|_| is_original);
    key.map(|name| Key::takeout((name.to_owned(), None))).into_iter().collect()
}

/// A photo's name in parts: stem, extension with its dot, number after the name.
type Name<'a> = (&'a str, &'a str, Option<u32>);

/// The name as it is, and with the number in brackets split off.
fn own_names(photo: &str) -> Vec<Name<'_>> {
    let (stem, extension) = stem_and_extension(photo);
    numbered(stem, extension)
}

/// The same names for the original of an edited photo; empty for other photos.
fn unedited_names(photo: &str) -> Vec<Name<'_>> {
    let (stem, extension) = stem_and_extension(photo);
    let (before_number, number) = split_number(stem);
    let mut names = unedited(stem).map(|stem| numbered(stem, extension)).unwrap_or_default();
    names.extend(unedited(before_number).filter(|_| number.is_some()).map(|stem| (stem, extension, number)));
    names
}

fn numbered<'a>(stem: &'a str, extension: &'a str) -> Vec<Name<'a>> {
    let (before_number, number) = split_number(stem);
    let numbered = number.map(|number| (before_number, extension, Some(number)));
    std::iter::once((stem, extension, None)).chain(numbered).collect()
}

fn with_and_without_extension(names: &[Name<'_>]) -> impl Iterator<Item = Key> {
    let whole =
        names.iter().map(|(stem, extension, number)| Key::takeout((format!("{stem}{extension}"), *number)));
    let bare = names.iter().map(|(stem, _, number)| Key::takeout(((*stem).to_owned(), *number)));
    whole.chain(bare)
}

/// The truncated forms of names that are too long. An export splits the number off before it truncates a name, so names that still
/// contain a number are left out. Otherwise, the truncated name of `x(1).jpg` could be that of `x.jpg`.
fn truncated_keys(names: &[Name<'_>]) -> Vec<Key> {
    let cut = |(stem, extension, number): &Name<'_>| {
        let is_numbered = |stem| split_number(stem).1.is_some();
        let has_number = number.is_none() && (is_numbered(stem) || unedited(stem).is_some_and(is_numbered));
        let name = format!("{stem}{extension}");
        let end = end_of_units(&name, TAKEOUT_NAME_UNITS).filter(|_| !has_number)?;
        Some(Key::takeout((composed(name.get(..end)?).into_owned(), *number)))
    };
    names.iter().filter_map(cut).collect()
}

/// The position after at most that many UTF-16 units of a text. A character that crosses the limit is left out. `None` if the text
/// is not longer.
fn end_of_units(text: &str, units: usize) -> Option<usize> {
    let mut counted = 0;
    text.char_indices().find_map(|(position, character)| {
        counted += character.len_utf16();
        (counted > units).then_some(position)
    })
}

/// Splits at the last dot.
fn split_extension(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('.')
}

/// Splits before the last dot; the extension keeps it.
fn stem_and_extension(name: &str) -> (&str, &str) {
    name.rfind('.').and_then(|at| name.split_at_checked(at)).unwrap_or((name, ""))
}

/// Splits the number in brackets off the end.
fn split_number(stem: &str) -> (&str, Option<u32>) {
    let split = || {
        let (name, number) = stem.strip_suffix(')')?.rsplit_once('(')?;
        let is_number = !name.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        Some((name, Some(number.parse().ok().filter(|_| is_number)?)))
    };
    split().unwrap_or((stem, None))
}

/// The name of the original, if this is the name of an edited photo.
fn unedited(stem: &str) -> Option<&str> {
    let before = |edit: &&str| {
        let (name, extension) = stem.split_at_checked(stem.len().checked_sub(edit.len())?)?;
        (!name.is_empty() && extension.to_lowercase() == **edit).then_some(name)
    };
    EDITED.iter().find_map(before).or_else(|| untruncated(stem))
}

/// The name of the original, if the suffix of the edited photo is truncated.
fn untruncated(stem: &str) -> Option<&str> {
    end_of_units(stem, MIN_TRUNCATED_UNITS - 1)?;
    let (name, _) = stem.rsplit_once('-')?;
    let cut = stem.get(name.len()..)?.to_lowercase();
    let is_cut = cut.chars().count() > 1 && EDITED.iter().any(|edit| edit.starts_with(&cut));
    (is_cut && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests;
