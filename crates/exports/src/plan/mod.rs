//! Decides what is imported, with which sidecars and in which albums.

mod apple;
mod copies;
mod draft;
mod json;
mod members;
mod own_albums;
mod pairing;
mod takeout;
#[cfg(test)]
mod tests;
mod years;

use std::{
    collections::HashMap,
    io::Read,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use domain::{AlbumOrder, Sidecar, SidecarKind, Timestamp};

use crate::{
    EntryError, Problem,
    archive::Archive,
    limits::MAX_SIDECAR_BYTES,
    scan::{self, ListedArchive, Place, Scan},
};
use draft::Draft;

/// A photo to import, or a file of unknown purpose, which the import accepts or refuses by its content.
#[derive(Debug)]
pub struct PlannedPhoto {
    /// Its path. The path of a file in an archive continues that of the archive.
    pub path: PathBuf,
    /// Its name, without folders.
    pub name: String,
    /// The length in bytes that its archive declares; `None` for a file on disk.
    pub archived_bytes: Option<u64>,
    /// When it was last modified, or the first day of the year that its folder is for. `None` for the file's own time.
    pub modified_at: Option<Timestamp>,
    pub sidecars: Vec<SidecarFile>,
    /// A sidecar made from the list of an export. It must not replace a sidecar that an image in the library has.
    pub listed: Option<Sidecar>,
    /// Whether its owner had deleted it before the export. It belongs in the trash.
    pub is_trashed: bool,
    place: Place,
}

impl PlannedPhoto {
    /// Whether it is a file on disk, to be read from [`path`](Self::path). Otherwise it is in an archive.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.place, Place::Disk(_))
    }
}

#[derive(Debug)]
pub struct SidecarFile {
    /// Its format, judged by its name.
    pub kind: SidecarKind,
    /// Its path, in the same form as the path of a photo.
    pub path: PathBuf,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedAlbum {
    /// The title, not blank.
    pub title: String,
    /// The file that describes the album.
    pub path: PathBuf,
    /// Positions in [`Plan::photos`], each once.
    pub photos: Vec<usize>,
    /// The order of its photos, if the export tells.
    pub order: Option<AlbumOrder>,
    /// The position of the photo that was chosen to represent it.
    pub cover: Option<usize>,
}

/// What is imported from folders and archives.
#[derive(Debug, Default)]
pub struct Plan {
    /// The photos. Those of one archive are in its order.
    pub photos: Vec<PlannedPhoto>,
    /// The albums, without deleted photos. Titles are unique.
    pub albums: Vec<PlannedAlbum>,
    /// Files and archives that cannot be read.
    pub failed: Vec<Problem>,
    /// Sidecars, and lines of lists, without a photo.
    pub unmatched: Vec<Problem>,
    /// Files that are not about photos.
    pub skipped: Vec<Problem>,
    /// Files whose metadata are not used, because it is not clear to which photo they belong.
    pub ambiguous: Vec<Problem>,
    archives: Vec<Archive>,
}

/// Finds the photos in files, folders with their subfolders, and archives.
pub fn plan(paths: &[PathBuf]) -> Plan {
    plan_with_progress(paths, &mut |_| ())
}

/// Does the same as [`plan`], and calls a function while it lists archives. The first pass over a big compressed archive
/// takes minutes.
pub fn plan_with_progress(paths: &[PathBuf], on_listed: &mut dyn FnMut(ListedArchive<'_>)) -> Plan {
    let mut scan = Scan::of(paths, on_listed);
    let json = json::read_all(&scan);
    takeout::recognize(&mut scan, &json);
    let mut draft = Draft::of(&scan, json);
    pair_sidecars(&mut draft);
    takeout::mark_trash(&mut draft);
    members::add(&mut draft);
    let apple = apple::apply(&mut draft);
    draft.report_unmatched();
    let own = own_albums::find(&mut draft);
    let albums = [takeout::albums(&draft), apple, own].concat();
    draft.finish(albums).into_plan(scan)
}

fn pair_sidecars(draft: &mut Draft<'_>) {
    pairing::pair(draft);
    let copies = copies::find(draft);
    years::mark(draft, &copies);
    copies::share_sidecars(draft, &copies);
    copies::take_by_title(draft);
    // After the other matches, because a photo's own sidecar, even in another folder, is better than that of its
    // original.
    pairing::pair_edited(draft);
    copies::share_sidecars(draft, &copies);
    copies::report_contradictions(draft, &copies);
}

impl Plan {
    /// Reads a sidecar.
    ///
    /// # Errors
    /// The file cannot be read or is longer than 1 MB.
    pub fn read_sidecar(&self, sidecar: &SidecarFile) -> Result<Vec<u8>, EntryError> {
        scan::read(&self.archives, &sidecar.place, MAX_SIDECAR_BYTES)
    }

    /// Reads the photos that are in archives, one after the other. `on_photo` takes the position in
    /// [`photos`](Self::photos) and the content; it breaks to stop. What it leaves unread is skipped.
    pub fn read_archived(
        &self,
        mut on_photo: impl FnMut(usize, Result<&mut dyn Read, EntryError>) -> ControlFlow<()>,
    ) {
        let mut of_archive: Vec<Vec<(usize, usize)>> = self.archives.iter().map(|_| Vec::new()).collect();
        for (position, photo) in self.photos.iter().enumerate() {
            if let Place::Archived(archive, entry) = photo.place
                && let Some(wanted) = of_archive.get_mut(archive)
            {
                wanted.push((entry, position));
            }
        }
        for (archive, wanted) in self.archives.iter().zip(of_archive) {
            let entries: Vec<usize> = wanted.iter().map(|(entry, _)| *entry).collect();
            let positions: HashMap<usize, usize> = wanted.into_iter().collect();
            let flow = archive.read_each(&entries, &mut |entry, content| match positions.get(&entry) {
                Some(position) => on_photo(*position, content),
                None => ControlFlow::Continue(()),
            });
            if flow.is_break() {
                return;
            }
        }
    }
}

/// The name of a file without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
