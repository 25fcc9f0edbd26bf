//! The whole tree below a folder.

use accounts::Caller;
use domain::FilePath;
use storage::{FileKind, FileRefusal, LocatedFile, StorageError};

use super::FileError;
use crate::Ingest;

/// How often a tree is read while it changes.
const MAX_READS: u32 = 5;

impl Ingest {
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
    ) -> Result<Option<Vec<LocatedFile>>, FileError> {
        for _ in 0..MAX_READS {
            let Some(entry) = self.file(caller, path).await? else { return Ok(None) };
            let files = self.read_tree(caller, LocatedFile { path: path.clone(), entry }, max).await?;
            // The version of a folder changes with anything below it.
            if self.file(caller, path).await?.as_ref() == files.first().map(|top| &top.entry) {
                return Ok(Some(files));
            }
        }
        Err(StorageError::Unavailable("the folder changes while it is read".to_owned()).into())
    }

    async fn read_tree(
        &self,
        caller: &Caller,
        top: LocatedFile,
        max: usize,
    ) -> Result<Vec<LocatedFile>, FileError> {
        let mut files = vec![top];
        let mut next = 0;
        while let Some(LocatedFile { path, entry }) = files.get(next) {
            next += 1;
            if entry.kind != FileKind::Folder {
                continue;
            }
            let folder = path.clone();
            // If a folder was deleted, the version of its parent has changed as well, and the tree is read again.
            let Some(listing) = self.list_files(caller, &folder).await? else { continue };
            if files.len() + listing.members.len() > max {
                return Err(FileRefusal::TooMany.into());
            }
            let members = listing.members.into_iter();
            files.extend(members.filter_map(|entry| LocatedFile::in_folder(&folder, entry)));
        }
        Ok(files)
    }
}
