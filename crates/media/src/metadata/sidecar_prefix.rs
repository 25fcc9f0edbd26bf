//! Prefixes that the names of a photo and of its sidecars share. With them, a photo or a sidecar is found without
//! listing a folder.

/// The longest prefix that a look-up of sidecars uses, in characters.
const PHOTO_PREFIX_CHARS: usize = 12;

/// A prefix of the names of all sidecars of a photo with this name.
///
/// ```
/// assert_eq!(media::sidecar_prefix("x-edited.jpg"), "x");
/// assert_eq!(media::sidecar_prefix("IMG_20190704_180322.jpg"), "IMG_20190704");
/// ```
pub fn sidecar_prefix(photo_name: &str) -> &str {
    // The name of an edited photo has a suffix after a hyphen.
    let stem = stem(photo_name);
    let stem = stem.rsplit_once('-').map_or(stem, |(stem, _)| stem);
    stem.char_indices().nth(PHOTO_PREFIX_CHARS).map_or(stem, |(end, _)| stem.get(..end).unwrap_or(stem))
}

/// A prefix of the names of all photos that a sidecar with this name can describe.
///
/// ```
/// assert_eq!(media::photo_prefix("IMG_2367.HEIC(1).supplemental-metadata.json"), "IMG_2367");
/// ```
pub fn photo_prefix(sidecar_name: &str) -> &str {
    stem(sidecar_name)
}

/// The part of a name before the first dot or bracket. Extensions and numbers in brackets do not change it.
fn stem(name: &str) -> &str {
    name.split(['.', '(']).next().unwrap_or_default()
}
