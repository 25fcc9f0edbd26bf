//! Finds what an import takes from folders, archives and the exports of other services.
//!
//! [`plan`] walks folders and lists archives (`.zip`, `.tar`, `.tar.gz`, `.tgz`), which are read in place. The result is a
//! [`Plan`]: photos with their sidecars, albums, and what is left out with its reason. The parts of an export are planned
//! together, because a photo and its sidecar may be in different parts. [`Plan::read_archived`] then streams the photos
//! of the archives.
//!
//! Archives are untrusted. Memory is bounded by limits on the entries, on their names and on the metadata files. The
//! names of entries never become paths of files: nothing is unpacked.
//!
//! An export of this library is read like the others. [`safe_file_name`] and [`albums_file`] give the names and the list of
//! albums that it writes.
//!
//! This crate knows no stores, no network and no async runtime. All functions block.
//!
//! To support another service's export, add a module to `plan` that reads the service's metadata files.

mod albums_file;
mod archive;
mod file_name;
mod folder;
mod limits;
mod names;
mod plan;
#[cfg(test)]
mod samples;
mod scan;

use std::path::PathBuf;

pub use albums_file::{ALBUMS_FILE, ListedAlbum, ListedOrder, albums_file, read_albums_file};
pub use archive::EntryError;
pub use file_name::safe_file_name;
pub use limits::MAX_SIDECAR_BYTES;
pub use names::is_archive_name;
pub use plan::{Plan, PlannedAlbum, PlannedPhoto, SidecarFile, plan, plan_with_progress};
pub use scan::ListedArchive;

/// A file or folder that is not imported or not used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Its path. The path of a file in an archive continues that of the archive.
    pub path: PathBuf,
    /// The reason, in words for the user.
    pub reason: String,
}

impl Problem {
    fn new(path: impl Into<PathBuf>, reason: impl std::fmt::Display) -> Self {
        Self { path: path.into(), reason: reason.to_string() }
    }
}
