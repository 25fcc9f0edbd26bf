//! The list of albums in an export of this library.

use std::io;

use domain::AlbumOrder;
use serde::{Deserialize, Serialize};

/// The name of the file, at the root of the export.
pub const ALBUMS_FILE: &str = "albums.json";

/// Identifies the file among others of its name.
const FORMAT: &str = "photo-library-albums";
const VERSION: u32 = 1;

/// The order of an album's photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListedOrder {
    #[default]
    NewestFirst,
    OldestFirst,
    ByHand,
}

impl From<AlbumOrder> for ListedOrder {
    fn from(order: AlbumOrder) -> Self {
        match order {
            AlbumOrder::NewestFirst => Self::NewestFirst,
            AlbumOrder::OldestFirst => Self::OldestFirst,
            AlbumOrder::ByHand => Self::ByHand,
        }
    }
}

impl From<ListedOrder> for AlbumOrder {
    fn from(order: ListedOrder) -> Self {
        match order {
            ListedOrder::NewestFirst => Self::NewestFirst,
            ListedOrder::OldestFirst => Self::OldestFirst,
            ListedOrder::ByHand => Self::ByHand,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ListedAlbum {
    pub title: String,
    /// The order of its photos.
    #[serde(default)]
    pub order: ListedOrder,
    /// The photo that was chosen to represent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<String>,
    /// Its photos in their order, as paths from the folder of the list, with `/` between their parts.
    #[serde(default)]
    pub photos: Vec<String>,
}

#[derive(Serialize)]
struct Written<'a> {
    format: &'a str,
    version: u32,
    albums: &'a [ListedAlbum],
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Deserialize)]
struct Read {
    albums: Vec<ListedAlbum>,
}

/// The content of the file.
///
/// # Errors
/// The albums cannot be written as JSON.
pub fn albums_file(albums: &[ListedAlbum]) -> io::Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(&Written { format: FORMAT, version: VERSION, albums })?;
    json.push(b'\n');
    Ok(json)
}

/// The albums of such a file; `None` for any other file.
pub fn read_albums_file(content: &[u8]) -> Option<Vec<ListedAlbum>> {
    let Head { format, version } = serde_json::from_slice(content).ok()?;
    if format != FORMAT || version != VERSION {
        return None;
    }
    serde_json::from_slice(content).ok().map(|Read { albums }| albums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn albums_are_read_as_they_were_written(albums in proptest::collection::vec((".{0,20}", 0..3_u8, proptest::option::of(".{0,9}"), proptest::collection::vec(".{0,20}", 0..4)), 0..4)) {
            let listed = |(title, order, cover, photos)| {
                let order = match order {
                    0 => ListedOrder::NewestFirst,
                    1 => ListedOrder::OldestFirst,
                    _ => ListedOrder::ByHand,
                };
                ListedAlbum { title, order, cover, photos }
            };
            let albums: Vec<ListedAlbum> = albums.into_iter().map(listed).collect();
            prop_assert_eq!(read_albums_file(&albums_file(&albums).unwrap()), Some(albums));
        }

        #[test]
        fn nothing_panics(content in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(read_albums_file(&content), None);
        }
    }

    #[test]
    fn other_files_are_no_lists_of_albums() {
        for other in [
            "",
            "{}",
            "[]",
            r#"{"format":"x","version":1,"albums":[]}"#,
            r#"{"format":"photo-library-albums","version":2}"#,
        ] {
            assert_eq!(read_albums_file(other.as_bytes()), None, "{other}");
        }
    }
}
