//! Restores a backup into empty stores.

use blobs::ContentStore;
use domain::Timestamp;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use library_copy::{BlobCopy, CopyError, Counter, copy_blob, index_words, raise_ids, require_empty, sum};
use storage::{CopiedTable, LibraryState, PageLimit, RowKey, Transfer};

use crate::{
    BackupError, BackupProgress, Damage, Hex, LostBlob, Place, TableHeader, TableSum, VerifiedBackup,
    pages::{Page, blob_pages, row_pages},
};

/// How a backup is restored.
#[derive(Debug, Clone)]
pub struct RestoreOptions {
    pub at: Timestamp,
    /// How many rows are written at once.
    pub page: PageLimit,
    /// How many files are copied at once.
    pub files_at_once: usize,
}

impl RestoreOptions {
    /// The usual options.
    pub fn new(at: Timestamp) -> Self {
        Self { at, page: PageLimit { rows: 500, bytes: 8 << 20 }, files_at_once: 8 }
    }
}

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// The rows of each table.
    pub tables: Vec<TableSum>,
    /// The number of originals and renditions that the library has.
    pub files: u64,
    /// How many of them this run copied.
    pub copied: u64,
    /// How many of them the backup lacks, because the library had lost them.
    pub lost: u64,
}

/// A restore that has begun: nobody uses the target until it is complete.
pub struct BegunRestore<'a> {
    backup: &'a VerifiedBackup,
    to: &'a Place,
    options: &'a RestoreOptions,
    mark: LibraryState,
}

/// Marks the target, unless an earlier run did. `None` if an earlier run restored this backup completely.
///
/// # Errors
/// The target is not empty, or the backup has other tables than this program.
pub async fn begin_restore<'a>(
    backup: &'a VerifiedBackup,
    to: &'a Place,
    options: &'a RestoreOptions,
) -> Result<Option<BegunRestore<'a>>, BackupError> {
    require_same_tables(backup, to)?;
    let id = &backup.manifest().id;
    let state = to.store.library_state().await?;
    let begun = |mark| Ok(Some(BegunRestore { backup, to, options, mark }));
    match &state {
        LibraryState::Receiving(transfer) if transfer.id == *id => begun(state),
        LibraryState::Received(transfer) if transfer.id == *id => Ok(None),
        LibraryState::Receiving(transfer) => {
            Err(CopyError::ReceivesOther { to: to.name.clone(), transfer: transfer.clone() }.into())
        }
        LibraryState::Received(_) | LibraryState::Moving(_) | LibraryState::Moved(_) => {
            Err(CopyError::NotEmpty { to: to.name.clone(), found: "another library" }.into())
        }
        LibraryState::Open => {
            require_empty(to, false).await?;
            let peer = format!("{} (a backup)", backup.path().display());
            let mark = LibraryState::Receiving(Transfer { id: id.clone(), peer, began_at: options.at });
            if to.store.change_library_state(&state, &mark).await? {
                begun(mark)
            } else {
                Err(BackupError::MarkChanged(to.name.clone()))
            }
        }
    }
}

fn require_same_tables(backup: &VerifiedBackup, to: &Place) -> Result<(), BackupError> {
    let other = |table: &str| BackupError::OtherVersion {
        program: backup.manifest().program.clone(),
        table: table.to_owned(),
    };
    for (at, table) in CopiedTable::ALL.iter().copied().enumerate() {
        let columns = to.store.copied_columns(table);
        let is_same = backup.tables.get(at).is_some_and(|header| {
            header.name == table.name()
                && header.key == columns.key
                && header.columns.iter().map(String::as_str).eq(columns.names.iter().copied())
        });
        if !is_same {
            return Err(other(table.name()));
        }
    }
    match backup.tables.get(CopiedTable::ALL.len()) {
        Some(unknown) => Err(other(&unknown.name)),
        None => Ok(()),
    }
}

impl BegunRestore<'_> {
    /// Writes rows and files, compares the rows with the backup, and opens the library.
    ///
    /// # Errors
    /// [`BackupError`]. The target stays marked as incomplete, and another run continues.
    pub async fn complete(
        self,
        mut progress: impl FnMut(BackupProgress) + Send,
    ) -> Result<RestoreReport, BackupError> {
        self.restore_rows(&mut progress).await?;
        let (files, copied, lost) = self.restore_blobs(&mut progress).await?;
        index_words(&self.to.store, &mut progress).await?;
        let tables = self.compare(&mut progress).await?;
        let LibraryState::Receiving(transfer) = &self.mark else {
            return Err(BackupError::MarkChanged(self.to.name.clone()));
        };
        let restored = LibraryState::Received(transfer.clone());
        if !self.to.store.change_library_state(&self.mark, &restored).await? {
            return Err(BackupError::MarkChanged(self.to.name.clone()));
        }
        Ok(RestoreReport { tables, files, copied, lost })
    }

    /// Adds all rows. A row that an earlier run added stays as it is.
    async fn restore_rows(
        &self,
        progress: &mut (impl FnMut(BackupProgress) + Send),
    ) -> Result<(), BackupError> {
        let path = self.backup.rows();
        let mut pages = row_pages(path.clone(), self.options.page);
        let mut current: Option<Restored> = None;
        let mut counter = Counter::new(progress, "restoring", "rows");
        while let Some(page) = pages.recv().await {
            match page.map_err(BackupError::rows(&path))? {
                Page::Table(header) => {
                    self.end_table(current.take()).await?;
                    current = CopiedTable::from_name(&header.name).map(|table| Restored {
                        table,
                        header,
                        last: None,
                    });
                }
                Page::Rows(rows) => {
                    let Some(Restored { table, last, .. }) = &mut current else { continue };
                    *last = rows.last().map(storage::CopiedRow::key);
                    let number = rows.len();
                    self.to.store.add_copied_rows(*table, rows).await?;
                    counter.add(number);
                }
            }
        }
        self.end_table(current).await
    }

    async fn end_table(&self, restored: Option<Restored>) -> Result<(), BackupError> {
        if let Some(Restored { table, header: TableHeader { highest_id: Some(highest), .. }, last }) =
            restored
        {
            raise_ids(&self.to.store, table, highest, last).await?;
        }
        Ok(())
    }

    /// Returns the number of all blobs, of blobs copied now, and of blobs that the backup lacks.
    async fn restore_blobs(
        &self,
        progress: &mut (impl FnMut(BackupProgress) + Send),
    ) -> Result<(u64, u64, u64), BackupError> {
        let path = self.backup.rows();
        let mut counter = Counter::new(progress, "restoring", "photo files");
        let (mut files, mut copied, mut lost) = (0, 0, 0);
        let mut pages = blob_pages(path.clone());
        while let Some(page) = pages.recv().await {
            let page = page.map_err(BackupError::rows(&path))?;
            let (from, to): (&ContentStore, _) = (&self.backup.content, &self.to.blobs);
            let copying = page
                .into_iter()
                .map(|blob| async move { Ok::<_, CopyError>((blob, copy_blob(from, to, blob).await?)) });
            let mut outcomes =
                std::pin::pin!(stream::iter(copying).buffer_unordered(self.options.files_at_once));
            while let Some((blob, outcome)) = outcomes.try_next().await? {
                counter.add(1);
                files += 1;
                match outcome {
                    BlobCopy::Present => {}
                    BlobCopy::Copied => copied += 1,
                    BlobCopy::Lost => {
                        files -= 1;
                        lost += 1;
                        if !self.backup.lost.contains(&LostBlob { kind: blob.kind, sha256: Hex(blob.hash) }) {
                            let part = from.location(blob.kind, blob.hash);
                            let reason = "was damaged during the restore".to_owned();
                            return Err(BackupError::Damaged {
                                folder: self.backup.path().to_owned(),
                                count: 1,
                                examples: vec![Damage { part, reason }],
                            });
                        }
                    }
                }
            }
        }
        Ok((files, copied, lost))
    }

    /// Compares the restored rows with the checksums of the backup.
    async fn compare(
        &self,
        progress: &mut (impl FnMut(BackupProgress) + Send),
    ) -> Result<Vec<TableSum>, BackupError> {
        let expected = &self.backup.manifest().tables;
        let mut different = Vec::new();
        for (table, expected) in CopiedTable::ALL.iter().copied().zip(expected) {
            let mut counter = Counter::new(progress, "comparing", table.name());
            let restored = sum(&self.to.store, table, self.options.page, |rows| counter.add(rows)).await?;
            if (restored.rows, Hex(restored.checksum)) != (expected.rows, expected.checksum) {
                different.push(expected.name.clone());
            }
        }
        if different.is_empty() { Ok(expected.clone()) } else { Err(BackupError::Differs(different)) }
    }
}

/// A table that is being restored.
struct Restored {
    table: CopiedTable,
    header: TableHeader,
    last: Option<RowKey>,
}
