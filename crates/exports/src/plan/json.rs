//! The JSON files of an import, read once: what they contain decides which folders belong to an export.

use std::collections::HashMap;

use domain::SidecarKind;
use media::TakeoutFile;

use crate::{
    ALBUMS_FILE, EntryError, ListedAlbum,
    limits::{MAX_ALBUMS_BYTES, MAX_SIDECAR_BYTES},
    read_albums_file,
    scan::{Item, Scan},
};

#[derive(Debug)]
pub(super) enum JsonFile {
    /// The list of albums in an export of this library.
    Albums(Vec<ListedAlbum>),
    /// A file of Google Takeout, or another one.
    Takeout(TakeoutFile),
    Unreadable(EntryError),
}

/// The JSON files by their number in [`Scan::items`].
pub(super) type JsonFiles = HashMap<usize, JsonFile>;

pub(super) fn read_all(scan: &Scan) -> JsonFiles {
    let items = scan.items.iter().enumerate();
    let files = items.filter(|(_, item)| media::sidecar_kind(&item.name) == Some(SidecarKind::Takeout));
    files.map(|(number, item)| (number, read(scan, item))).collect()
}

fn read(scan: &Scan, item: &Item) -> JsonFile {
    let is_list = &*item.name == ALBUMS_FILE;
    let max_bytes = if is_list { MAX_ALBUMS_BYTES } else { MAX_SIDECAR_BYTES };
    let content = match scan.read(item, max_bytes) {
        Ok(content) => content,
        Err(error) => return JsonFile::Unreadable(error),
    };
    if is_list && let Some(albums) = read_albums_file(&content) {
        return JsonFile::Albums(albums);
    }
    JsonFile::Takeout(media::takeout_file(&content))
}
