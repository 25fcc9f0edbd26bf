//! Which photo a sidecar belongs to, by their names in one folder.

use std::collections::{HashMap, HashSet};

use domain::SidecarKind;

/// What a Takeout export puts between a photo's name and `.json`, or the beginning of it.
const SUPPLEMENT: &str = "supplemental-metadata";

/// A Takeout export cuts what stands before `.json` to so many characters; a number in brackets comes on top.
const TAKEOUT_NAME_CHARS: usize = 46;

/// What a Takeout export adds to the name of an edited photo, which has the sidecar of the original.
const EDITED: [&str; 15] = [
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
    // The same as macOS takes letters apart.
    "-modifie\u{301}",
    "-編集済み",
];

/// The sidecars of one photo, as places in the list that was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhotoSidecars {
    /// Its XMP file.
    pub xmp: Option<usize>,
    /// Its file of a Takeout export.
    pub takeout: Option<usize>,
}

/// Which sidecars belong to which photos.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SidecarMatches {
    /// The sidecars of each photo, in the order of the photos.
    pub by_photo: Vec<PhotoSidecars>,
    /// The sidecars that belong to no photo, as places in the list that was given.
    pub unmatched: Vec<usize>,
}

/// The kind of sidecar that a file of that name may be. Other files have such names, too: what is in it decides (see
/// [`is_sidecar_content`](crate::is_sidecar_content)).
///
/// ```
/// use domain::SidecarKind;
/// assert_eq!(media::sidecar_kind("IMG_1.jpg.XMP"), Some(SidecarKind::Xmp));
/// assert_eq!(media::sidecar_kind("IMG_1.jpg.supplemental-meta.json"), Some(SidecarKind::Takeout));
/// assert_eq!(media::sidecar_kind("IMG_1.jpg"), None);
/// ```
pub fn sidecar_kind(file_name: &str) -> Option<SidecarKind> {
    let (stem, ending) = split_ending(file_name)?;
    match ending.to_ascii_lowercase().as_str() {
        _ if stem.is_empty() => None,
        "xmp" => Some(SidecarKind::Xmp),
        "json" => Some(SidecarKind::Takeout),
        _ => None,
    }
}

/// Finds the sidecars of each photo in a folder, by the names of its photos and of its possible sidecars.
///
/// - `x.jpg.xmp` belongs to `x.jpg`; `x.xmp` to every photo `x.…` that has no better one.
/// - `x.jpg.json`, `x.jpg.supplemental-metadata.json` and its shorter forms belong to `x.jpg`, also when the name of
///   the photo itself is cut off in them; `x.jpg(1).json` and the like belong to `x(1).jpg`; `x-edited.jpg` has the
///   sidecar of `x.jpg`. A cut name that several photos begin with belongs to none.
/// - Upper and lower case count as the same where no name is exactly the same.
///
/// A sidecar that is worse than another of the same photo is not unmatched. The work grows with the number of names
/// and no faster.
///
/// ```
/// let found = media::match_sidecars(&["x.jpg", "x.cr2"], &["x.xmp", "x.jpg.xmp", "metadata.json"]);
/// assert_eq!(found.of_pictures[0].xmp, Some(1));
/// assert_eq!(found.of_pictures[1].xmp, Some(0));
/// assert_eq!(found.unmatched, [2]);
/// ```
pub fn match_sidecars(pictures: &[&str], sidecars: &[&str]) -> SidecarMatches {
    let index = Index::of(sidecars);
    let shared = shared_cuts(pictures);
    let mut matched: HashSet<usize> = HashSet::new();
    let mut best = |keys: Vec<Key>| {
        let found: Vec<usize> = keys.iter().filter_map(|key| index.find(key)).collect();
        matched.extend(&found);
        found.first().copied()
    };
    let of_pictures = pictures
        .iter()
        .map(|picture| PhotoSidecars {
            xmp: best(xmp_keys(picture)),
            takeout: best(takeout_keys(picture, &shared)),
        })
        .collect();
    let unmatched =
        (0..sidecars.len()).filter(|place| !matched.contains(index.worse.get(place).unwrap_or(place)));
    SidecarMatches { by_photo: of_pictures, unmatched: unmatched.collect() }
}

/// The cut names that photos begin with which are not versions of one another.
fn shared_cuts(pictures: &[&str]) -> HashSet<Key> {
    let mut originals: HashMap<Key, &str> = HashMap::new();
    let mut shared = HashSet::new();
    for picture in pictures {
        let (stem, _) = stem_and_ending(picture);
        let original = unedited(stem).unwrap_or(stem);
        for key in cut_keys(&own_names(picture)) {
            if *originals.entry(key.clone()).or_insert(original) != original {
                shared.insert(key);
            }
        }
    }
    shared
}

/// What a sidecar's name says of its photo: the name, and the number that a Takeout export moves behind it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: SidecarKind,
    name: String,
    number: Option<u32>,
}

impl Key {
    fn of_sidecar(file_name: &str) -> Option<Self> {
        let kind = sidecar_kind(file_name)?;
        let (stem, _) = split_ending(file_name)?;
        let key = |name: &str, number| Self { kind, name: name.to_owned(), number };
        Some(match kind {
            SidecarKind::Xmp => key(stem, None),
            SidecarKind::Takeout => {
                let (stem, number) = split_number(stem);
                let supplemented = split_ending(stem).filter(|(_, ending)| SUPPLEMENT.starts_with(ending));
                key(supplemented.map_or(stem, |(name, _)| name), number)
            }
        })
    }

    fn takeout((name, number): (String, Option<u32>)) -> Self {
        Self { kind: SidecarKind::Takeout, name, number }
    }

    fn in_small_letters(&self) -> Self {
        Self { name: self.name.to_lowercase(), ..self.clone() }
    }
}

/// The sidecars by what their names say.
struct Index {
    exact: HashMap<Key, usize>,
    in_small_letters: HashMap<Key, usize>,
    /// Sidecars that say the same as a better one, with that one.
    worse: HashMap<usize, usize>,
}

impl Index {
    fn of(sidecars: &[&str]) -> Self {
        let mut index =
            Self { exact: HashMap::new(), in_small_letters: HashMap::new(), worse: HashMap::new() };
        // Longer names first: exports have become more explicit over the years.
        let mut places: Vec<usize> = (0..sidecars.len()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(sidecars.get(*place).map_or(0, |name| name.len())));
        for place in places {
            let Some(key) = sidecars.get(place).and_then(|name| Key::of_sidecar(name)) else { continue };
            index.in_small_letters.entry(key.in_small_letters()).or_insert(place);
            let better = *index.exact.entry(key).or_insert(place);
            if better != place {
                index.worse.insert(place, better);
            }
        }
        index
    }

    fn find(&self, key: &Key) -> Option<usize> {
        self.exact.get(key).or_else(|| self.in_small_letters.get(&key.in_small_letters())).copied()
    }
}

/// What the XMP files of a photo can be named for, best first.
fn xmp_keys(picture: &str) -> Vec<Key> {
    let stem = split_ending(picture).map(|(stem, _)| stem);
    let key = |name: &str| Key { kind: SidecarKind::Xmp, name: name.to_owned(), number: None };
    std::iter::once(picture).chain(stem).map(key).collect()
}

/// What the Takeout files of a photo can be named for, best first.
fn takeout_keys(picture: &str, shared: &HashSet<Key>) -> Vec<Key> {
    let keys = |names: Vec<Name<'_>>| {
        let mut cut = cut_keys(&names);
        cut.retain(|key| !shared.contains(key));
        with_and_without_ending(&names).chain(cut).collect::<Vec<_>>()
    };
    [keys(own_names(picture)), keys(unedited_names(picture))].concat()
}

/// A photo's name in parts: stem, ending with its point, number behind the name.
type Name<'a> = (&'a str, &'a str, Option<u32>);

/// The name as it is, and with the number in brackets taken out of it.
fn own_names(picture: &str) -> Vec<Name<'_>> {
    let (stem, ending) = stem_and_ending(picture);
    numbered(stem, ending)
}

/// The same for the photo that this one was made from.
fn unedited_names(picture: &str) -> Vec<Name<'_>> {
    let (stem, ending) = stem_and_ending(picture);
    let (before_number, number) = split_number(stem);
    let mut names = unedited(stem).map(|stem| numbered(stem, ending)).unwrap_or_default();
    names.extend(unedited(before_number).filter(|_| number.is_some()).map(|stem| (stem, ending, number)));
    names
}

fn numbered<'a>(stem: &'a str, ending: &'a str) -> Vec<Name<'a>> {
    let (before_number, number) = split_number(stem);
    let numbered = number.map(|number| (before_number, ending, Some(number)));
    std::iter::once((stem, ending, None)).chain(numbered).collect()
}

fn with_and_without_ending(names: &[Name<'_>]) -> impl Iterator<Item = Key> {
    let whole = names.iter().map(|(stem, ending, number)| Key::takeout((format!("{stem}{ending}"), *number)));
    let bare = names.iter().map(|(stem, _, number)| Key::takeout(((*stem).to_owned(), *number)));
    whole.chain(bare)
}

/// The names as an export cuts them, of those that it cuts.
fn cut_keys(names: &[Name<'_>]) -> Vec<Key> {
    let cut = |(stem, ending, number): &Name<'_>| {
        let name = format!("{stem}{ending}");
        let (end, _) = name.char_indices().nth(TAKEOUT_NAME_CHARS)?;
        Some(Key::takeout((name.get(..end)?.to_owned(), *number)))
    };
    names.iter().filter_map(cut).collect()
}

/// What stands before and behind the last point.
fn split_ending(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('.')
}

/// The ending keeps its point.
fn stem_and_ending(name: &str) -> (&str, &str) {
    name.rfind('.').and_then(|at| name.split_at_checked(at)).unwrap_or((name, ""))
}

/// Takes the number in brackets off the end.
fn split_number(stem: &str) -> (&str, Option<u32>) {
    let split = || {
        let (name, number) = stem.strip_suffix(')')?.rsplit_once('(')?;
        let is_number = !name.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        Some((name, Some(number.parse().ok().filter(|_| is_number)?)))
    };
    split().unwrap_or((stem, None))
}

/// The name before an edit; `None` when the name speaks of none.
fn unedited(stem: &str) -> Option<&str> {
    let before = |edit: &&str| {
        let (name, ending) = stem.split_at_checked(stem.len().checked_sub(edit.len())?)?;
        (!name.is_empty() && ending.to_lowercase() == **edit).then_some(name)
    };
    EDITED.iter().find_map(before)
}

#[cfg(test)]
mod tests;
