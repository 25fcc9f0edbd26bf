//! Folders, albums and trash of Google Takeout exports.

use std::collections::{HashMap, HashSet};

use media::TakeoutFile;

use super::{
    PlannedAlbum,
    draft::{Draft, FolderKey, folder_key},
    json::{JsonFile, JsonFiles},
};
use crate::{folder::Folder, names, scan::Scan};

/// Recognizes exports whose root folder was renamed or left out, by the sidecars in their folders. Besides these folders,
/// the export has the folder above them, folders beside them that are those of an album or a year, and folders of other
/// parts with the same names.
pub(super) fn recognize(scan: &mut Scan, json: &JsonFiles) {
    let folders_with = |is_wanted: fn(&TakeoutFile) -> bool| -> HashSet<usize> {
        let files =
            json.iter().filter(|(_, file)| matches!(file, JsonFile::Takeout(file) if is_wanted(file)));
        files.filter_map(|(item, _)| Some(scan.items.get(*item)?.folder)).collect()
    };
    let of_photos = folders_with(|file| matches!(file, TakeoutFile::Photo(_)));
    let of_albums = folders_with(|file| matches!(file, TakeoutFile::Album(_)));
    let roots: HashSet<(usize, &str)> =
        of_photos.iter().filter_map(|number| scan.folders.get(*number)).map(root).collect();
    let is_member = |number: usize, folder: &Folder| {
        of_photos.contains(&number)
            || roots.contains(&(folder.source, folder.full()))
            || (roots.contains(&root(folder))
                && (of_albums.contains(&number) || names::is_year_title(folder.name())))
    };
    let folders = || scan.folders.iter().enumerate();
    let members: HashSet<&str> = folders()
        .filter(|(number, folder)| is_member(*number, folder))
        .map(|(_, folder)| folder.tail())
        .collect();
    let found: Vec<usize> = folders()
        .filter(|(_, folder)| !folder.is_takeout && members.contains(folder.tail()))
        .map(|(number, _)| number)
        .collect();
    for folder in found {
        scan.mark_as_takeout(folder);
    }
}

/// The folder above.
fn root(folder: &Folder) -> (usize, &str) {
    (folder.source, folder.parent())
}

/// Marks the photos that were in the trash.
pub(super) fn mark_trash(draft: &mut Draft<'_>) {
    let is_trashed: Vec<bool> = draft
        .sidecars
        .iter()
        .map(|sidecar| sidecar.described.as_ref().is_some_and(|described| described.is_trashed))
        .collect();
    for photo in &mut draft.photos {
        photo.is_trashed |= photo.takeout.is_some_and(|sidecar| is_trashed.get(sidecar) == Some(&true));
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
