use std::cmp::Ordering;

use domain::{FilePath, Timestamp};
use storage::{FileContent, FileEntry, FileId, FileKind, FilePosition, LocatedFile, StorageError};

use crate::{Caller, Library};

/// Maximum number of files that a search visits, the newest ones. Older files are not found, unless the times of the
/// search lead to them: a request must not read a library of any size.
const MAX_VISITED_FILES: usize = 100_000;

/// Limits of the number of files that are read from the store at once.
const PAGE_FILES: std::ops::RangeInclusive<usize> = 50..=1000;

/// How far below its folder a search looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchDepth {
    /// Only the file or folder itself.
    Itself,
    /// The direct members of the folder.
    Members,
    /// Everything below the folder.
    Below,
}

/// A search for files.
pub struct FileSearch<'a> {
    /// Where to search.
    pub folder: &'a FilePath,
    /// How far below the folder.
    pub depth: SearchDepth,
    /// The id that every match has, if that is known.
    pub id: Option<FileId>,
    /// The earliest time at which a match was modified.
    pub since: Timestamp,
    /// The latest time at which a match was modified.
    pub until: Timestamp,
    /// Whether a file matches.
    pub matches: &'a (dyn Fn(&LocatedFile) -> bool + Send + Sync),
    /// The order of the results.
    pub order: &'a (dyn Fn(&LocatedFile, &LocatedFile) -> Ordering + Send + Sync),
    /// Whether the order begins with the files of the latest second, so that a search can stop early.
    pub is_newest_first: bool,
    /// How many results of this order are left out at the start.
    pub skip: usize,
    /// Maximum number of results.
    pub limit: usize,
}

impl Library {
    /// Searches files; `None` if the folder does not exist. Photos whose image was deleted are only found by their id:
    /// they stay listed for the client that sent them, but nobody looks for them.
    ///
    /// A search with times visits only the files between them, and one for the newest files stops when it has enough. In
    /// total, the newest 100,000 files are visited at most.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn search_files(
        &self,
        caller: &Caller,
        search: &FileSearch<'_>,
    ) -> Result<Option<Vec<LocatedFile>>, StorageError> {
        let store = &self.parts.store;
        let account = caller.account.id;
        let Some(listing) = (match search.depth {
            SearchDepth::Members if search.id.is_none() => store.list_files(account, search.folder).await?,
            _ => store.file(account, search.folder).await?.map(alone),
        }) else {
            return Ok(None);
        };
        todo!()
    }
}
