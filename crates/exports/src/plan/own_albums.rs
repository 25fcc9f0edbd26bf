//! Albums of this library's own exports.

use std::collections::HashMap;

use domain::clean_text;

use super::{
    PlannedAlbum,
    draft::{Draft, Photo},
};
use crate::{
    folder::Folder,
    names::{composed, printable},
};

/// A file: the number of its source, and its path there.
type FileKey = (usize, String);

/// The albums of the lists. A list names photos by their path from its own folder.
pub(super) fn find(draft: &mut Draft<'_>) -> Vec<PlannedAlbum> {
    let lists = std::mem::take(&mut draft.album_lists);
    if lists.is_empty() {
        return Vec::new();
    }
    let key = |photo: &Photo<'_>| file_key(photo.folder, &photo.item.name);
    let by_path: HashMap<FileKey, usize> =
        draft.photos.iter().enumerate().map(|(position, photo)| (key(photo), position)).collect();
    let mut found = Vec::new();
    for (item, albums) in lists {
        let Some(folder) = draft.scan.folders.get(item.folder) else { continue };
        for album in albums {
            let Some(title) = clean_text(&album.title) else { continue };
            let mut photos = Vec::with_capacity(album.photos.len());
            for path in &album.photos {
                match by_path.get(&file_key(folder, path)) {
                    Some(photo) => photos.push(*photo),
                    None => {
                        let reason = format!("lists {}, which is not imported with it", printable(path));
                        draft.unmatched.push(draft.problem(item, reason));
                    }
                }
            }
            let cover =
                album.cover.as_deref().and_then(|cover| by_path.get(&file_key(folder, cover)).copied());
            let (path, order) = (draft.scan.path(item), Some(album.order.into()));
            found.push(PlannedAlbum { title, path, photos, order, cover });
        }
    }
    found
}

fn file_key(folder: &Folder, name: &str) -> FileKey {
    let full = folder.full();
    let separator = if full.is_empty() || full.ends_with('/') { "" } else { "/" };
    (folder.source, composed(&format!("{full}{separator}{name}")).into_owned())
}
