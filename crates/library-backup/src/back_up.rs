//! Makes a backup.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufWriter},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use blobs::{BlobStore, create_private_file};
use domain::{ContentHash, Timestamp};
use futures_util::{TryStreamExt as _, stream};
use library_copy::{BlobCopy, CopyError, Counter, copy_blob};
use storage::{BlobKind, CopiedColumns, CopiedTable, PageLimit, SharedStore, SnapshotPart, SnapshotReceiver};

use crate::{
    BackupError, BackupProgress, BlobCount, FileSum, Hex, LostBlob, Manifest, Place, RowsWriter, TableSum,
    file_sum::{SummingWriter, sum_of},
    folder::{Folder, blocking},
    manifest::{FORMAT, rows_file, secret_file},
    pages::blob_pages,
    prune,
};

/// Maximum number of snapshots for one backup. Another snapshot is taken if blobs vanished. Servers delete blobs every
/// ten minutes, and all snapshots but the first take seconds.
const MAX_SNAPSHOTS: u32 = 6;
/// How many lost blobs a backup may have.
const MAX_LOST: usize = 10_000;
/// Tables whose rows are not in a backup, because it does not contain the received parts of uploads. Their highest ids
/// are in the backup.
const LEFT_OUT: [CopiedTable; 2] = [CopiedTable::Uploads, CopiedTable::UploadParts];

/// How a backup is made.
#[derive(Debug, Clone)]
pub struct BackupOptions {
    /// The id of the backup: letters, digits, `-` and `_`. It must be unique.
    pub id: String,
    pub at: Timestamp,
    /// The version of this program.
    pub program: String,
    /// How many rows are read at once.
    pub page: PageLimit,
    /// How many files are copied at once.
    pub files_at_once: usize,
}

impl BackupOptions {
    /// The usual options.
    pub fn new(id: String, at: Timestamp, program: &str) -> Self {
        Self {
            id,
            at,
            program: program.to_owned(),
            page: PageLimit { rows: 500, bytes: 8 << 20 },
            files_at_once: 8,
        }
    }
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    pub manifest: Manifest,
    /// How many blobs this run copied; the others were in the folder.
    pub copied: u64,
    /// Their length.
    pub copied_bytes: u64,
    /// How many blobs of earlier backups were deleted.
    pub deleted: u64,
    /// Where the lost blobs should be in the library. They are missing in the backup, too.
    pub lost: Vec<String>,
}

/// Backs a library up into a folder. An earlier backup there is replaced when this one is complete.
///
/// # Errors
/// [`BackupError`]. An earlier backup is left as it was.
pub async fn back_up(
    from: &Place,
    secret: &[u8],
    folder: &Path,
    options: &BackupOptions,
    mut progress: impl FnMut(BackupProgress) + Send,
) -> Result<BackupReport, BackupError> {
    let path = folder.to_owned();
    let folder = Arc::new(blocking(folder, move || Folder::create(&path)).await?);
    let opening = folder.blobs();
    let blobs = blocking(folder.path(), move || Ok(BlobStore::open_folder(&opening)?)).await?;
    let mut pass = Passes { from, folder: &folder, blobs: &blobs, options, copied: BlobCount::default() };
    let (snapshot, content) = pass.complete(&mut progress).await?;
    let manifest = Manifest {
        format: FORMAT,
        program: options.program.clone(),
        id: options.id.clone(),
        taken_at: options.at.to_string(),
        migrations: applied_migrations(&from.store).await?,
        rows: snapshot.sum,
        secret: sum_of(secret),
        tables: snapshot.tables,
        originals: content.originals,
        renditions: content.renditions,
        lost: content.lost,
        checksum: Hex(ContentHash::new([0; 32])),
    };
    commit(&folder, &manifest, secret.to_owned()).await?;
    Counter::new(&mut progress, "deleting", "files of earlier backups");
    let deleted = prune::delete_others(&folder, &blobs, &manifest).await?;
    let lost = manifest.lost.iter().map(|lost| from.blobs.content.location(lost.kind, lost.sha256.0));
    Ok(BackupReport {
        lost: lost.collect(),
        copied: pass.copied.files,
        copied_bytes: pass.copied.bytes,
        deleted,
        manifest,
    })
}

async fn applied_migrations(store: &SharedStore) -> Result<Vec<String>, BackupError> {
    let pending = store.pending_migrations().await?;
    let mut applied = store.known_migrations()?;
    applied.retain(|name| !pending.contains(name));
    Ok(applied)
}

/// Writes the secret, and then makes the backup valid by replacing the manifest.
async fn commit(folder: &Arc<Folder>, manifest: &Manifest, secret: Vec<u8>) -> Result<(), BackupError> {
    let (path, folder, manifest) = (folder.path(), Arc::clone(folder), manifest.clone());
    blocking(path, move || {
        folder.write(&secret_file(&manifest.id), &secret)?;
        folder.commit(&manifest)
    })
    .await
}

/// The rows of a snapshot.
struct Snapshot {
    sum: FileSum,
    tables: Vec<TableSum>,
}

/// The blobs that a snapshot names.
#[derive(Default)]
struct Content {
    originals: BlobCount,
    renditions: BlobCount,
    lost: Vec<LostBlob>,
}

/// Takes snapshots and copies the blobs that they name.
struct Passes<'a> {
    from: &'a Place,
    folder: &'a Arc<Folder>,
    blobs: &'a BlobStore,
    options: &'a BackupOptions,
    copied: BlobCount,
}

impl Passes<'_> {
    /// Takes snapshots until the backup has every blob that the last snapshot names, except those that the library
    /// lost. A blob counts as lost if it was missing and a snapshot that was taken afterwards names it.
    async fn complete(
        &mut self,
        progress: &mut (impl FnMut(BackupProgress) + Send),
    ) -> Result<(Snapshot, Content), BackupError> {
        let mut missed = BTreeSet::new();
        for _ in 0..MAX_SNAPSHOTS {
            Counter::new(progress, "reading", "rows");
            let snapshot = self.read_rows().await?;
            let content = self.copy_blobs(progress).await?;
            if content.lost.iter().all(|lost| missed.contains(lost)) {
                return Ok((snapshot, content));
            }
            missed = content.lost.into_iter().collect();
        }
        Err(BackupError::Unstable(MAX_SNAPSHOTS))
    }

    async fn read_rows(&self) -> Result<Snapshot, BackupError> {
        let path = self.folder.file(&rows_file(&self.options.id));
        let store = Arc::clone(&self.from.store);
        let columns = Box::new(move |table| store.copied_columns(table));
        let dump = Arc::new(Mutex::new(Dump { path: path.clone(), columns, state: DumpState::Empty }));
        // Weak, so that the snapshot ends if this future is dropped.
        let receiving = Arc::downgrade(&dump);
        let receiver: SnapshotReceiver = Arc::new(move |part| match receiving.upgrade() {
            Some(dump) => dump.lock().unwrap_or_else(PoisonError::into_inner).receive(part),
            None => ControlFlow::Break(()),
        });
        self.from.store.read_snapshot(self.options.page, receiver).await?;
        let failed = path.clone();
        blocking(&failed, move || {
            let mut dump = dump.lock().unwrap_or_else(PoisonError::into_inner);
            dump.finish().map_err(BackupError::io(&path))
        })
        .await
    }

    async fn copy_blobs(
        &mut self,
        progress: &mut (impl FnMut(BackupProgress) + Send),
    ) -> Result<Content, BackupError> {
        let rows = self.folder.file(&rows_file(&self.options.id));
        let mut counter = Counter::new(progress, "copying", "photo files");
        let mut content = Content::default();
        let mut pages = blob_pages(rows.clone());
        while let Some(page) = pages.recv().await {
            let page = page.map_err(BackupError::rows(&rows))?;
            let (from, to) = (&self.from.blobs.content, self.blobs);
            let copying = page
                .into_iter()
                .map(|blob| async move { Ok::<_, CopyError>((blob, copy_blob(from, to, blob).await?)) });
            let mut copied = std::pin::pin!(futures_util::StreamExt::buffer_unordered(
                stream::iter(copying),
                self.options.files_at_once
            ));
            while let Some((blob, outcome)) = copied.try_next().await? {
                counter.add(1);
                if outcome == BlobCopy::Lost {
                    content.lost.push(LostBlob { kind: blob.kind, sha256: Hex(blob.hash) });
                    continue;
                }
                if outcome == BlobCopy::Copied {
                    self.copied.add(blob.bytes);
                }
                match blob.kind {
                    BlobKind::Original => content.originals.add(blob.bytes),
                    BlobKind::Rendition => content.renditions.add(blob.bytes),
                }
            }
            if content.lost.len() > MAX_LOST {
                return Err(BackupError::TooManyLost(MAX_LOST));
            }
        }
        content.lost.sort();
        Ok(content)
    }
}

impl BlobCount {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

type Rows = RowsWriter<SummingWriter<BufWriter<File>>>;

/// Writes a snapshot to a file.
struct Dump {
    path: PathBuf,
    columns: Box<dyn Fn(CopiedTable) -> CopiedColumns + Send>,
    state: DumpState,
}

enum DumpState {
    Empty,
    Writing { out: Box<Rows>, tables: Vec<TableSum>, is_left_out: bool, buffer: Vec<u8> },
    Failed(io::Error),
}

impl Dump {
    fn receive(&mut self, part: SnapshotPart) -> ControlFlow<()> {
        match self.write(part) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.state = DumpState::Failed(error);
                ControlFlow::Break(())
            }
        }
    }

    fn write(&mut self, part: SnapshotPart) -> io::Result<()> {
        match (part, &mut self.state) {
            (SnapshotPart::Begin, state) => {
                let file = create_private_file(&self.path)?;
                let out = SummingWriter::new(BufWriter::with_capacity(256 * 1024, file));
                let out = Box::new(RowsWriter::new(out)?);
                *state =
                    DumpState::Writing { out, tables: Vec::new(), is_left_out: false, buffer: Vec::new() };
            }
            (
                SnapshotPart::Table { table, highest_id },
                DumpState::Writing { out, tables, is_left_out, .. },
            ) => {
                out.table(table.name(), &(self.columns)(table), highest_id)?;
                tables.push(TableSum::empty(table.name()));
                *is_left_out = LEFT_OUT.contains(&table);
            }
            (SnapshotPart::Rows(rows), DumpState::Writing { out, tables, is_left_out: false, buffer }) => {
                for row in &rows {
                    out.row(row)?;
                    if let Some(sum) = tables.last_mut() {
                        sum.add(row, buffer);
                    }
                }
            }
            (SnapshotPart::Table { .. } | SnapshotPart::Rows(_), _) => {}
        }
        Ok(())
    }

    /// Syncs the file.
    fn finish(&mut self) -> io::Result<Snapshot> {
        match std::mem::replace(&mut self.state, DumpState::Empty) {
            DumpState::Writing { out, tables, .. } => {
                let (out, sum) = out.finish()?.finish();
                out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
                Ok(Snapshot { sum, tables })
            }
            DumpState::Failed(error) => Err(error),
            DumpState::Empty => Err(io::Error::other("the store returned no rows")),
        }
    }
}
