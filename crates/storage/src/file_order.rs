use domain::{FilePath, Timestamp};

use crate::{FileEntry, FileId};

/// A file or folder with its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedFile {
    /// Its path.
    pub path: FilePath,
    /// The file or folder.
    pub entry: FileEntry,
}

impl LocatedFile {
    /// A member of a folder; `None` if its path would be too deep.
    pub fn in_folder(folder: &FilePath, entry: FileEntry) -> Option<Self> {
        let names = folder.names().iter().chain(&entry.name).cloned().collect();
        Some(Self { path: FilePath::new(names).ok()?, entry })
    }
}

/// A place in the order of files by [`FileEntry::modified_at`], and among equal times by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePosition {
    /// When the file was modified.
    pub modified_at: Timestamp,
    /// Its id.
    pub id: FileId,
}

impl FilePosition {
    /// The place after all files of this time.
    pub const fn after(modified_at: Timestamp) -> Self {
        Self { modified_at, id: FileId(i64::MAX) }
    }

    /// The place of a file.
    pub fn of(entry: &FileEntry) -> Self {
        Self { modified_at: entry.modified_at(), id: entry.id }
    }
}

/// A part of the files and folders of an account, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentFiles {
    /// The files and folders, without the root folder. There may be fewer than were asked for.
    pub files: Vec<LocatedFile>,
    /// Where the next part begins; `None` if there are no more.
    pub next: Option<FilePosition>,
}
