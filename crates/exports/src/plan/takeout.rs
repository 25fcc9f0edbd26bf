//! Albums and trash of Google Takeout exports.

use std::collections::HashMap;

use super::{
    PlannedAlbum,
    draft::{Draft, FolderKey, folder_key},
};

/// Leaves out the photos that were in the trash.
pub(super) fn leave_out_trash(draft: &mut Draft<'_>) {
    let is_trashed: Vec<bool> = draft
        .sidecars
        .iter()
        .map(|sidecar| sidecar.described.as_ref().is_some_and(|described| described.is_trashed))
        .collect();
    for photo in &mut draft.photos {
        if photo.takeout.is_some_and(|sidecar| is_trashed.get(sidecar) == Some(&true)) {
            photo.left_out = Some("was in the trash of Google Photos");
        }
    }
}

/// The folders with the file of an album.
pub(super) fn albums(draft: &Draft<'_>) -> Vec<PlannedAlbum> {
    let mut photos: HashMap<FolderKey<'_>, Vec<usize>> = HashMap::new();
    for (position, photo) in draft.photos.iter().enumerate() {
        photos.entry(folder_key(photo.folder)).or_default().push(position);
    }
    for (folder, photo) in &draft.members {
        photos.entry(*folder).or_default().push(*photo);
    }
    let titles = draft.album_titles.iter().filter(|(folder, _)| draft.is_album(**folder));
    let mut albums: Vec<PlannedAlbum> = titles
        .map(|(folder, (title, item))| PlannedAlbum {
            title: title.clone(),
            path: draft.scan.path(item),
            photos: photos.remove(folder).unwrap_or_default(),
            order: None,
            cover: None,
        })
        .collect();
    albums.sort_by(|one, other| one.path.cmp(&other.path));
    albums
}
