//! Exports of iCloud Photos from Apple's data and privacy page.

use std::collections::{HashMap, HashSet};

use domain::clean_text;
use media::ApplePhoto;

use super::{
    PlannedAlbum,
    draft::{Csv, Draft, NO_PHOTO},
    stem,
};
use crate::{
    folder::Folder,
    names::{composed, printable},
    scan::Item,
};

const ALBUMS: &str = "Albums";

/// Applies the lists of photos, and returns the albums. CSV files of any other kind are left out of exports; on disk they
/// count as photos, so that the import refuses them.
pub(super) fn apply(draft: &mut Draft<'_>) -> Vec<PlannedAlbum> {
    let mut lists = Vec::new();
    let mut others = Vec::new();
    for file in std::mem::take(&mut draft.csv_files) {
        match media::apple_photos_csv(&file.content) {
            Some(rows) => lists.push((file.item, rows)),
            None => others.push(file),
        }
    }
    let photos = AppleExport::of(draft, &lists);
    for (item, rows) in lists {
        photos.apply_list(draft, item, rows);
    }
    let mut albums = Vec::new();
    for file in others {
        let folder = draft.scan.folders.get(file.item.folder);
        let is_in_albums = folder.is_some_and(|folder| folder.name() == ALBUMS);
        match media::apple_album_csv(&file.content).filter(|_| is_in_albums && !photos.by_name.is_empty()) {
            Some(names) => albums.extend(photos.album(draft, &file, &names)),
            None if folder.is_some_and(|folder| folder.is_export) => draft.skip(file.item, NO_PHOTO),
            None => draft.add_photo(file.item),
        }
    }
    albums
}

/// The photos that lists may name, as positions in the draft.
struct AppleExport {
    by_name: HashMap<String, Vec<usize>>,
    by_folder: HashMap<(usize, String), Vec<usize>>,
    /// Those in the folder for deleted photos. Only a row that says so means them.
    in_trash: HashMap<String, Vec<usize>>,
}

/// The photos that a list means with a name.
enum Meaning {
    None,
    Photos(Vec<usize>),
    Ambiguous,
}

impl AppleExport {
    /// The photos in the folders with a list, in folders with the same name, and in archives that are not Google's.
    fn of(draft: &Draft<'_>, lists: &[(&Item, Vec<ApplePhoto>)]) -> Self {
        let listed: HashSet<&str> = lists
            .iter()
            .filter_map(|(item, _)| draft.scan.folders.get(item.folder))
            .map(Folder::name)
            .collect();
        let mut found = Self { by_name: HashMap::new(), by_folder: HashMap::new(), in_trash: HashMap::new() };
        for (position, photo) in draft.photos.iter().enumerate() {
            let folder = photo.folder;
            let is_archived = folder.is_export && !folder.is_takeout;
            if is_archived || listed.contains(folder.name()) {
                let name = composed(&photo.item.name).into_owned();
                let by_name = if photo.item.is_trashed { &mut found.in_trash } else { &mut found.by_name };
                by_name.entry(name.clone()).or_default().push(position);
                found.by_folder.entry((photo.item.folder, name)).or_default().push(position);
            }
        }
        found
    }

    /// The photos of that name that are not in the folder for deleted ones.
    fn meaning(&self, draft: &Draft<'_>, name: &str) -> Meaning {
        Self::meaning_among(draft, &self.by_name, name)
    }

    /// The photos of that name. Several photos count only if they have the same content.
    fn meaning_among(draft: &Draft<'_>, by_name: &HashMap<String, Vec<usize>>, name: &str) -> Meaning {
        let photos = by_name.get(composed(name).as_ref()).map_or(&[][..], Vec::as_slice);
        let items: Vec<&Item> =
            photos.iter().filter_map(|photo| draft.photos.get(*photo)).map(|photo| photo.item).collect();
        let are_equal =
            items.windows(2).all(|pair| matches!(pair, [one, other] if draft.scan.are_equal(one, other)));
        match photos {
            [] => Meaning::None,
            photos if are_equal => Meaning::Photos(photos.to_vec()),
            _ => Meaning::Ambiguous,
        }
    }

    /// Applies a list of photos. A name means the photos of that name in the list's own folder, if there are any.
    fn apply_list(&self, draft: &mut Draft<'_>, list: &Item, rows: Vec<ApplePhoto>) {
        let mut by_name: HashMap<String, Option<ApplePhoto>> = HashMap::with_capacity(rows.len());
        let mut names = Vec::new();
        for row in rows {
            let name = composed(&row.name).into_owned();
            match by_name.get_mut(&name) {
                Some(known) if known.as_ref() != Some(&row) => *known = None,
                Some(_) => {}
                None => {
                    names.push(name.clone());
                    by_name.insert(name, Some(row));
                }
            }
        }
        for name in names {
            let row = by_name.remove(&name).flatten();
            let here = self.by_folder.get(&(list.folder, name.clone()));
            let mut meaning =
                here.map_or_else(|| self.meaning(draft, &name), |photos| Meaning::Photos(photos.clone()));
            if here.is_none() && row.as_ref().is_some_and(|row| row.is_deleted) {
                match Self::meaning_among(draft, &self.in_trash, &name) {
                    Meaning::None => {}
                    in_trash => meaning = in_trash,
                }
            }
            match (meaning, row) {
                (Meaning::Photos(photos), Some(row)) => apply_row(draft, &photos, &row),
                (Meaning::None, Some(row)) if row.is_deleted => {}
                (Meaning::None, _) => missing(draft, list, &name),
                (Meaning::Photos(_) | Meaning::Ambiguous, _) => ambiguous(draft, list, &name),
            }
        }
    }

    fn album(&self, draft: &mut Draft<'_>, file: &Csv<'_>, names: &[String]) -> Option<PlannedAlbum> {
        let mut photos = Vec::new();
        for (row, name) in names.iter().enumerate() {
            match self.meaning(draft, name) {
                Meaning::Photos(found) => photos.extend(found),
                Meaning::Ambiguous => ambiguous(draft, file.item, name),
                // The first row may be the column's header.
                Meaning::None if row == 0 => {}
                Meaning::None => missing(draft, file.item, name),
            }
        }
        let title = clean_text(&stem(std::path::Path::new(&*file.item.name)))?;
        Some(PlannedAlbum { title, path: draft.scan.path(file.item), photos, order: None, cover: None })
    }
}

fn missing(draft: &mut Draft<'_>, list: &Item, name: &str) {
    let reason = format!("lists {}, which is not imported with it", printable(name));
    draft.unmatched.push(draft.problem(list, reason));
}

fn ambiguous(draft: &mut Draft<'_>, list: &Item, name: &str) {
    let reason = format!("lists {}, which is the name of several photos", printable(name));
    draft.ambiguous.push(draft.problem(list, reason));
}

fn apply_row(draft: &mut Draft<'_>, photos: &[usize], row: &ApplePhoto) {
    for photo in photos {
        let Some(photo) = draft.photos.get_mut(*photo) else { continue };
        photo.is_trashed |= row.is_deleted;
        if photo.listed.is_none() {
            photo.listed = Some(row.clone());
        }
    }
}
