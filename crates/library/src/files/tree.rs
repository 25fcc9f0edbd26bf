//! The whole tree below a folder.

use domain::FilePath;
use storage::{FileEntry, FileKind, FileRefusal, StorageError};

use super::FileError;
use crate::{Caller, Library};

/// How often a tree is read while it changes.
const MAX_READS: u32 = 5;

impl Library {
    /// The file or folder at a path with everything below it, in the order of the folders; `None` if there is nothing.
    /// The entries are from one moment.
    ///
    /// # Errors
    /// [`FileRefusal::TooMany`]: there are more than `max` entries. [`FileError::Unavailable`]: the store is unavailable,
    /// or the tree changes faster than it is read.
    pub async fn file_tree(
        &self,
        caller: &Caller,
        path: &FilePath,
        max: usize,
    ) -> Result<Option<Vec<(FilePath, FileEntry)>>, FileError> {
        for _ in 0..MAX_READS {
            let Some(top) = self.file(caller, path).await? else { return Ok(None) };
            let entries = self.read_tree(caller, (path.clone(), top), max).await?;
            // The version of a folder changes with anything below it.
            if self.file(caller, path).await?.as_ref() == entries.first().map(|(_, top)| top) {
                return Ok(Some(entries));
            }
        }
        Err(StorageError::Unavailable("the folder changes while it is read".to_owned()).into())
    }

    async fn read_tree(
        &self,
        caller: &Caller,
        top: (FilePath, FileEntry),
        max: usize,
    ) -> Result<Vec<(FilePath, FileEntry)>, FileError> {
        let mut entries = vec![top];
        let mut next = 0;
        while let Some((folder, entry)) = entries.get(next) {
            next += 1;
            if entry.kind != FileKind::Folder {
                continue;
            }
            let folder = folder.clone();
            // A folder that has gone has changed its parents, too.
            let Some(listing) = self.list_files(caller, &folder).await? else { continue };
            if entries.len() + listing.members.len() > max {
                return Err(FileRefusal::TooMany.into());
            }
            for member in listing.members {
                let names = folder.names().iter().chain(&member.name).cloned().collect();
                if let Ok(path) = FilePath::new(names) {
                    entries.push((path, member));
                }
            }
        }
        Ok(entries)
    }
}
