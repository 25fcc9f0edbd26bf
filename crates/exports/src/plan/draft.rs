//! The plan while it is made.

use std::collections::{HashMap, HashSet};

use domain::{AlbumOrder, AlbumTitle, Sidecar, SidecarKind};
use media::{ApplePhoto, TakeoutFile, TakeoutPhoto};

use super::{
    Plan, PlannedAlbum, PlannedPhoto, SidecarFile,
    json::{JsonFile, JsonFiles},
};
use crate::{
    ListedAlbum, Problem,
    folder::Folder,
    limits::{MAX_CSV_BYTES, MAX_SIDECAR_BYTES},
    names,
    scan::{Item, Place, Scan},
};

/// The length of an album's title, in characters.
const MAX_TITLE_CHARS: usize = 100;

#[derive(Debug)]
pub(super) struct Photo<'a> {
    pub(super) item: &'a Item,
    pub(super) folder: &'a Folder,
    /// Positions of its sidecars in [`Draft::sidecars`].
    pub(super) xmp: Option<usize>,
    pub(super) takeout: Option<usize>,
    pub(super) listed: Option<ApplePhoto>,
    /// Whether it was deleted before the export.
    pub(super) is_trashed: bool,
}

/// A file that is a sidecar by its name.
#[derive(Debug)]
pub(super) struct SidecarItem<'a> {
    pub(super) item: &'a Item,
    pub(super) folder: &'a Folder,
    pub(super) kind: SidecarKind,
    /// The photo that a JSON file describes, if it describes one.
    pub(super) described: Option<TakeoutPhoto>,
    pub(super) is_used: bool,
}

#[derive(Debug)]
pub(super) struct Csv<'a> {
    pub(super) item: &'a Item,
    pub(super) content: Vec<u8>,
}

/// Identifies a folder across all parts of an export.
pub(super) type FolderKey<'a> = (bool, &'a str);

pub(super) fn folder_key(folder: &Folder) -> FolderKey<'_> {
    (folder.is_export, folder.key())
}

/// Everything that was found, by its purpose.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) scan: &'a Scan,
    pub(super) photos: Vec<Photo<'a>>,
    pub(super) sidecars: Vec<SidecarItem<'a>>,
    /// The title of each folder that is an album, and the file with the title.
    pub(super) album_titles: HashMap<FolderKey<'a>, (String, &'a Item)>,
    /// Folders that have a title but hold the photos of a year, so they are no albums.
    pub(super) year_folders: HashSet<FolderKey<'a>>,
    /// Photos that belong to the album of a folder but are in other folders.
    pub(super) members: Vec<(FolderKey<'a>, usize)>,
    pub(super) csv_files: Vec<Csv<'a>>,
    /// The lists of albums in exports of this library.
    pub(super) album_lists: Vec<(&'a Item, Vec<ListedAlbum>)>,
    pub(super) failed: Vec<Problem>,
    pub(super) unmatched: Vec<Problem>,
    pub(super) skipped: Vec<Problem>,
    pub(super) ambiguous: Vec<Problem>,
}

impl<'a> Draft<'a> {
    /// `json` has the content of the JSON files.
    pub(super) fn of(scan: &'a Scan, mut json: JsonFiles) -> Self {
        let mut draft = Self {
            scan,
            photos: Vec::new(),
            sidecars: Vec::new(),
            album_titles: HashMap::new(),
            year_folders: HashSet::new(),
            members: Vec::new(),
            csv_files: Vec::new(),
            album_lists: Vec::new(),
            failed: Vec::new(),
            unmatched: Vec::new(),
            skipped: Vec::new(),
            ambiguous: Vec::new(),
        };
        for (number, item) in scan.items.iter().enumerate() {
            let Some(folder) = scan.folders.get(item.folder) else { continue };
            match json.remove(&number) {
                Some(file) => draft.add_json(item, folder, file),
                None => draft.add(item, folder),
            }
        }
        draft
    }

    fn add(&mut self, item: &'a Item, folder: &'a Folder) {
        match media::sidecar_kind(&item.name) {
            Some(kind) => self.add_sidecar(item, folder, kind, None),
            None if names::has_extension(&item.name, "csv") => match self.scan.read(item, MAX_CSV_BYTES) {
                Ok(content) => self.csv_files.push(Csv { item, content }),
                Err(error) => self.fail(item, &error),
            },
            None => self.add_photo(item),
        }
    }

    /// Adds a photo, or a file of unknown purpose, which the import then refuses.
    pub(super) fn add_photo(&mut self, item: &'a Item) {
        let Some(folder) = self.scan.folders.get(item.folder) else { return };
        self.photos.push(Photo {
            item,
            folder,
            xmp: None,
            takeout: None,
            listed: None,
            is_trashed: item.is_trashed,
        });
    }

    fn add_sidecar(
        &mut self,
        item: &'a Item,
        folder: &'a Folder,
        kind: SidecarKind,
        described: Option<TakeoutPhoto>,
    ) {
        self.sidecars.push(SidecarItem { item, folder, kind, described, is_used: false });
    }

    fn add_json(&mut self, item: &'a Item, folder: &'a Folder, file: JsonFile) {
        let file = match file {
            JsonFile::Albums(albums) => return self.album_lists.push((item, albums)),
            JsonFile::Unreadable(error) => return self.fail(item, &error),
            JsonFile::Takeout(file) => file,
        };
        match file {
            TakeoutFile::Photo(photo) => self.add_sidecar(item, folder, SidecarKind::Takeout, Some(photo)),
            TakeoutFile::Album(album) if album.is_certain || folder.is_export => {
                self.album_titles.entry(folder_key(folder)).or_insert((album.title, item));
            }
            _ if folder.is_export => self.skip(item, NO_PHOTO),
            _ => self.add_sidecar(item, folder, SidecarKind::Takeout, None),
        }
    }

    /// Whether a folder is an album of an export.
    pub(super) fn is_album(&self, folder: FolderKey<'_>) -> bool {
        self.album_titles.contains_key(&folder) && !self.year_folders.contains(&folder)
    }

    pub(super) fn problem(&self, item: &Item, reason: impl std::fmt::Display) -> Problem {
        Problem::new(self.scan.path(item), reason)
    }

    fn fail(&mut self, item: &Item, reason: &dyn std::fmt::Display) {
        self.failed.push(self.problem(item, reason));
    }

    pub(super) fn skip(&mut self, item: &Item, reason: &str) {
        self.skipped.push(self.problem(item, reason));
    }

    /// Reports sidecars without a photo. A file on disk that has the name of a sidecar but not its content counts as a photo,
    /// so that the import refuses it.
    pub(super) fn report_unmatched(&mut self) {
        let unused: Vec<(&'a Item, SidecarKind, bool)> = self
            .sidecars
            .iter()
            .filter(|sidecar| !sidecar.is_used)
            .map(|sidecar| (sidecar.item, sidecar.kind, sidecar.folder.is_export))
            .collect();
        for (item, kind, is_export) in unused {
            match self.scan.read(item, MAX_SIDECAR_BYTES) {
                Ok(content) if media::is_sidecar_content(kind, &content) => {
                    self.unmatched.push(self.problem(item, "describes no photo that is imported with it"));
                }
                Ok(_) if is_export => self.skip(item, NO_PHOTO),
                Ok(_) => self.add_photo(item),
                Err(error) => self.fail(item, &error),
            }
        }
    }

    /// Ends the draft. `albums` have positions in [`photos`](Self::photos).
    pub(super) fn finish(self, albums: Vec<PlannedAlbum>) -> Finished {
        let plan = Plan {
            photos: self.photos.iter().map(|photo| self.planned(photo)).collect(),
            albums: merged(albums, &self.photos),
            failed: self.failed,
            unmatched: self.unmatched,
            skipped: self.skipped,
            ambiguous: self.ambiguous,
            archives: Vec::new(),
        };
        Finished { plan }
    }

    fn planned(&self, photo: &Photo<'a>) -> PlannedPhoto {
        let sidecar = |position: usize| {
            let sidecar = self.sidecars.get(position)?;
            let (path, place) = (self.scan.path(sidecar.item), sidecar.item.place.clone());
            Some(SidecarFile { kind: sidecar.kind, path, place })
        };
        let listed = photo.listed.as_ref().filter(|_| photo.xmp.is_none()).and_then(ApplePhoto::xmp);
        PlannedPhoto {
            path: self.scan.path(photo.item),
            name: photo.item.name.to_string(),
            archived_bytes: (!matches!(photo.item.place, Place::Disk(_)))
                .then(|| self.scan.bytes(photo.item)),
            modified_at: self.year_of_folder(photo).or(photo.item.modified_at),
            sidecars: photo.xmp.into_iter().chain(photo.takeout).filter_map(sidecar).collect(),
            listed: listed.map(|content| Sidecar { kind: SidecarKind::Xmp, content }),
            is_trashed: photo.is_trashed,
            place: photo.item.place.clone(),
        }
    }

    /// The year that the folder of a photo without a sidecar is for. The time of the file is of no use: in an export of
    /// Google, it is the time of the export.
    fn year_of_folder(&self, photo: &Photo<'_>) -> Option<domain::Timestamp> {
        let is_candidate =
            photo.folder.is_takeout && photo.takeout.is_none() && !self.is_album(folder_key(photo.folder));
        let year = names::year(photo.folder.name()).filter(|_| is_candidate)?;
        domain::Timestamp::parse_iso(&format!("{year}-01-01")).ok()
    }
}

/// Why a file of an export is left out.
pub(super) const NO_PHOTO: &str = "describes no photo and no album";

/// A plan without its archives.
pub(super) struct Finished {
    plan: Plan,
}

impl Finished {
    pub(super) fn into_plan(mut self, scan: Scan) -> Plan {
        self.plan.failed.splice(0..0, scan.failed);
        for list in [&mut self.plan.unmatched, &mut self.plan.skipped, &mut self.plan.ambiguous] {
            list.sort();
        }
        Plan { archives: scan.archives, ..self.plan }
    }
}

/// The albums without deleted photos. Albums with the same title become one.
fn merged(albums: Vec<PlannedAlbum>, photos: &[Photo<'_>]) -> Vec<PlannedAlbum> {
    let is_kept = |photo: &usize| photos.get(*photo).is_some_and(|photo| !photo.is_trashed);
    let mut merged: Vec<PlannedAlbum> = Vec::new();
    let mut by_title: HashMap<String, usize> = HashMap::new();
    for album in albums {
        let cut: String = album.title.chars().take(MAX_TITLE_CHARS).collect();
        let Ok(title) = AlbumTitle::parse(&cut) else { continue };
        let photos: Vec<usize> = album.photos.iter().copied().filter(is_kept).collect();
        let next = merged.len();
        let position = *by_title.entry(title.as_str().to_owned()).or_insert(next);
        if position == next {
            let title = title.as_str().to_owned();
            let cover = album.cover.filter(is_kept);
            merged.push(PlannedAlbum { title, photos, cover, ..album });
        } else if let Some(known) = merged.get_mut(position) {
            known.photos.extend(photos);
        }
    }
    for album in &mut merged {
        if album.order == Some(AlbumOrder::ByHand) {
            let mut seen = HashSet::new();
            album.photos.retain(|photo| seen.insert(*photo));
        } else {
            album.photos.sort_unstable();
            album.photos.dedup();
        }
    }
    merged.retain(|album| !album.photos.is_empty());
    merged
}
