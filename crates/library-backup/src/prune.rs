//! Deletes what only earlier backups needed.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use blobs::BlobStore;
use domain::ContentHash;
use futures_util::TryStreamExt as _;
use storage::{BlobKind, BlobRef};
use tokio::sync::mpsc;

use crate::{
    BackupError, Manifest, RowsError,
    folder::{Folder, blocking},
    pages::blob_pages,
};

/// Deletes files and blobs that the manifest does not name, and returns the number of blobs.
pub(crate) async fn delete_others(
    folder: &Arc<Folder>,
    blobs: &BlobStore,
    manifest: &Manifest,
) -> Result<u64, BackupError> {
    let (path, cleaning, named) = (folder.path(), Arc::clone(folder), manifest.clone());
    blocking(path, move || cleaning.delete_others(&named)).await?;
    // Temporary files of killed processes. The lock of the folder keeps others away.
    blobs.run_exclusively(async {}).await?;
    let rows = folder.file(&manifest.rows_file());
    let mut needed = NeededBlobs::new(rows);
    let mut deleted = 0;
    for kind in [BlobKind::Original, BlobKind::Rendition] {
        for shard in 0..=u8::MAX {
            let needed = needed.shard(kind, shard).await?;
            let stored: Vec<ContentHash> =
                blobs.content.list_shard(kind, shard).map_ok(|(hash, _)| hash).try_collect().await?;
            for hash in stored.into_iter().filter(|hash| !needed.contains(hash)) {
                blobs.content.delete(kind, hash).await?;
                deleted += 1;
            }
        }
    }
    Ok(deleted)
}

/// The blobs of a file with rows, shard by shard, so that only the blobs of one shard are in memory.
struct NeededBlobs {
    rows: PathBuf,
    pages: mpsc::Receiver<Result<Vec<BlobRef>, RowsError>>,
    page: std::vec::IntoIter<BlobRef>,
    next: Option<BlobRef>,
}

impl NeededBlobs {
    fn new(rows: PathBuf) -> Self {
        let pages = blob_pages(rows.clone());
        Self { rows, pages, page: Vec::new().into_iter(), next: None }
    }

    /// The blobs of a shard. Shards are requested in the order of kind and number, which is that of the rows.
    async fn shard(&mut self, kind: BlobKind, shard: u8) -> Result<BTreeSet<ContentHash>, BackupError> {
        let mut hashes = BTreeSet::new();
        loop {
            if self.next.is_none() {
                self.next = self.read().await?;
            }
            match self.next {
                Some(blob) if blob.kind == kind && blob.hash.as_bytes().first() == Some(&shard) => {
                    hashes.insert(blob.hash);
                    self.next = None;
                }
                _ => return Ok(hashes),
            }
        }
    }

    async fn read(&mut self) -> Result<Option<BlobRef>, BackupError> {
        loop {
            if let Some(blob) = self.page.next() {
                return Ok(Some(blob));
            }
            match self.pages.recv().await {
                Some(page) => self.page = page.map_err(BackupError::rows(&self.rows))?.into_iter(),
                None => return Ok(None),
            }
        }
    }
}
