//! Search for files.

mod window;

use std::{cmp::Ordering, ops::RangeInclusive};

use accounts::Caller;
use domain::{FilePath, Timestamp};
use storage::{FileContent, FileEntry, FileId, FileKind, FilePosition, LocatedFile, StorageError};

use crate::Ingest;
use window::Window;

/// Maximum number of files that a search visits, from the newest to the oldest: a request must not read a library of any
/// size.
const MAX_VISITED_FILES: usize = 100_000;

/// Maximum number of results of a search, including those that are skipped.
pub(super) const MAX_FOUND_FILES: usize = 10_000;

/// Limits of the number of files that are read from the store at once.
const PAGE_FILES: RangeInclusive<usize> = 50..=1000;

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

pub struct FileSearch<'a> {
    /// Where to search.
    pub folder: FilePath,
    /// How far below the folder.
    pub depth: SearchDepth,
    /// The id that every match has, if that is known.
    pub id: Option<FileId>,
    /// The modification times of matches. They only save work: `matches` checks the times as well.
    pub modified: RangeInclusive<Timestamp>,
    /// Whether a file matches.
    pub matches: &'a (dyn Fn(&LocatedFile) -> bool + Send + Sync),
    /// The order of the results.
    pub order: &'a (dyn Fn(&LocatedFile, &LocatedFile) -> Ordering + Send + Sync),
    /// Whether `order` puts files of a later second first, so that a search can stop early.
    pub is_newest_first: bool,
    /// The number of results that are left out at the start of this order.
    pub skip: usize,
    /// Maximum number of results.
    pub limit: usize,
}

impl FileSearch<'_> {
    fn includes(&self, path: &FilePath) -> bool {
        match self.depth {
            SearchDepth::Itself => *path == self.folder,
            SearchDepth::Members => path.parent().as_ref() == Some(&self.folder),
            SearchDepth::Below => *path != self.folder && path.starts_with(&self.folder),
        }
    }
}

impl Ingest {
    /// Searches files and folders; `None` if nothing is at the path of the search.
    ///
    /// Photos whose image was deleted are found by their id only. They stay listed, so that clients do not send them
    /// again, but a search by other criteria leaves them out, because their owner does not look for them.
    ///
    /// Below a folder, the search visits the newest 100,000 files between the two times at most. It returns at most the
    /// first 10,000 results.
    pub async fn search_files(
        &self,
        caller: &Caller,
        search: &FileSearch<'_>,
    ) -> Result<Option<Vec<LocatedFile>>, StorageError> {
        let (store, account) = (&self.parts.store, caller.account.id);
        let Some(entry) = store.file(account, &search.folder).await? else { return Ok(None) };
        let mut window = Window::new(search);
        if window.is_empty() {
            return Ok(Some(Vec::new()));
        }
        if let Some(id) = search.id {
            let found = store.located_file(account, id).await?;
            window.extend(
                found.into_iter().filter(|file| search.includes(&file.path) && (search.matches)(file)),
            );
            return Ok(Some(window.results()));
        }
        match search.depth {
            SearchDepth::Itself => {
                window.extend(matching(search, [LocatedFile { path: search.folder.clone(), entry }]));
            }
            SearchDepth::Members => {
                window.extend(matching(search, self.members(caller, &search.folder).await?));
            }
            SearchDepth::Below => self.visit(caller, search, &mut window).await?,
        }
        Ok(Some(window.results()))
    }

    async fn members(&self, caller: &Caller, folder: &FilePath) -> Result<Vec<LocatedFile>, StorageError> {
        let listing = self.list_files(caller, folder).await?;
        let members = listing.into_iter().flat_map(|listing| listing.members);
        Ok(members.filter_map(|entry| LocatedFile::in_folder(folder, entry)).collect())
    }

    /// Visits the files of the account from the newest to the oldest, until the window is full.
    async fn visit(
        &self,
        caller: &Caller,
        search: &FileSearch<'_>,
        window: &mut Window<'_>,
    ) -> Result<(), StorageError> {
        let max = window.len().clamp(*PAGE_FILES.start(), *PAGE_FILES.end());
        let since = *search.modified.start();
        let mut next = Some(FilePosition::after(*search.modified.end()));
        let mut visited = 0;
        while let Some(before) = next.filter(|_| visited < MAX_VISITED_FILES && !window.is_full()) {
            let size = u32::try_from(max).unwrap_or(u32::MAX);
            let page = self.parts.store.recent_files(caller.account.id, since, before, size).await?;
            window.extend(matching(search, page.files));
            visited += max;
            next = page.next;
        }
        Ok(())
    }
}

fn matching<'a>(
    search: &'a FileSearch<'_>,
    files: impl IntoIterator<Item = LocatedFile> + 'a,
) -> impl Iterator<Item = LocatedFile> + 'a {
    let is_match = |file: &LocatedFile| {
        search.includes(&file.path) && !is_image_deleted(&file.entry) && (search.matches)(file)
    };
    files.into_iter().filter(is_match)
}

/// Whether a file is a photo whose image was deleted.
fn is_image_deleted(entry: &FileEntry) -> bool {
    match &entry.kind {
        FileKind::File(FileContent::Photo { image, .. }) => {
            image.as_ref().is_none_or(|image| image.is_deleted)
        }
        _ => false,
    }
}
