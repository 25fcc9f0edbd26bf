//! Sends files to a backend, long ones in parts, so that memory stays bounded.

use std::{io, path::Path, time::Duration};

use bytes::Bytes;
use domain::ContentHash;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt as _, path::Path as Key};
use tokio::{
    fs::File,
    io::AsyncReadExt as _,
    runtime::Handle,
    sync::{Semaphore, SemaphorePermit},
    task::JoinSet,
};

use crate::{BlobError, PutError, content_hash, fingerprint::Hasher};

/// Files up to this length are sent in one piece. Longer ones are sent in parts of this length. S3 accepts 5 MiB or
/// more, and at most 10,000 parts.
const PART_BYTES: usize = 8 * 1024 * 1024;
/// How many parts of a file are sent at once.
const PARTS_AT_ONCE: usize = 2;
/// Maximum memory for one file: the parts that are being sent, and the part that is read meanwhile.
const MAX_FILE_MIB: u64 = 8 * (PARTS_AT_ONCE as u64 + 1);

/// How long an upload waits for memory that other uploads hold.
const MEMORY_WAIT: Duration = Duration::from_secs(20);

/// Memory for the files that this process sends, in MiB. Other uploads wait.
static MEMORY: Semaphore = Semaphore::const_new(128);

/// Stores a file under a key. With an expected hash, a file with other bytes is not stored.
pub(crate) async fn put_file(
    objects: &dyn ObjectStore,
    key: &Key,
    path: &Path,
    expected: Option<ContentHash>,
) -> Result<(), PutError> {
    let mut file = File::open(path).await.map_err(PutError::Read)?;
    let bytes = file.metadata().await.map_err(PutError::Read)?.len();
    let _memory = reserve_memory(bytes).await?;
    let first = read_part(&mut file).await?;
    if first.len() < PART_BYTES {
        if expected.is_some_and(|expected| content_hash(&first) != expected) {
            return Err(PutError::Changed);
        }
        objects.put(key, first.into()).await?;
        return Ok(());
    }
    let mut upload = PartUpload::new(objects.put_multipart(key).await?);
    let stored = match send_parts(&mut upload, first, file, expected).await {
        Ok(bytes) => complete(objects, key, &mut upload, bytes).await,
        Err(error) => Err(error),
    };
    if stored.is_err() {
        upload.abort().await;
    }
    stored
}

/// Waits until there is memory for a file of this length.
async fn reserve_memory(bytes: u64) -> Result<SemaphorePermit<'static>, PutError> {
    let mebibytes = bytes.div_ceil(1 << 20).clamp(1, MAX_FILE_MIB);
    let reserving = MEMORY.acquire_many(u32::try_from(mebibytes).unwrap_or(1));
    match tokio::time::timeout(MEMORY_WAIT, reserving).await {
        Ok(reserved) => reserved.map_err(|error| PutError::Read(io::Error::other(error))),
        Err(_) => Err(PutError::Blob(BlobError::TimedOut)),
    }
}

/// Completes an upload. If the response is lost, the retry finds no upload. The upload then counts as complete if the
/// object exists with this length.
async fn complete(
    objects: &dyn ObjectStore,
    key: &Key,
    upload: &mut PartUpload,
    bytes: u64,
) -> Result<(), PutError> {
    let Err(error) = upload.complete().await else { return Ok(()) };
    match objects.head(key).await {
        Ok(meta) if meta.size == bytes => Ok(()),
        _ => Err(error.into()),
    }
}

/// Sends all parts of a file and returns its length.
async fn send_parts(
    upload: &mut PartUpload,
    first: Bytes,
    mut file: File,
    expected: Option<ContentHash>,
) -> Result<u64, PutError> {
    let (mut hasher, mut bytes) = (Hasher::new(), 0);
    let mut part = first;
    while !part.is_empty() {
        bytes += part.len() as u64;
        if expected.is_some() {
            hasher.update(&part);
        }
        upload.put(part).await?;
        part = read_part(&mut file).await?;
    }
    if expected.is_some_and(|expected| hasher.finish().hash != expected) {
        return Err(PutError::Changed);
    }
    upload.wait_for_less_than(1).await?;
    Ok(bytes)
}

async fn read_part(file: &mut File) -> Result<Bytes, PutError> {
    // Without a capacity, the vector would grow to twice the length.
    let left = file.metadata().await.map_err(PutError::Read)?.len().min(PART_BYTES as u64);
    let mut part = Vec::with_capacity(usize::try_from(left).unwrap_or_default());
    file.take(PART_BYTES as u64).read_to_end(&mut part).await.map_err(PutError::Read)?;
    Ok(part.into())
}

/// An upload in parts. It is aborted when it is dropped before it is complete, as when the caller is cancelled: S3 keeps
/// the parts of an upload until then.
struct PartUpload {
    /// Taken when the upload is complete or aborted.
    upload: Option<Box<dyn MultipartUpload>>,
    running: JoinSet<object_store::Result<()>>,
}

impl PartUpload {
    fn new(upload: Box<dyn MultipartUpload>) -> Self {
        Self { upload: Some(upload), running: JoinSet::new() }
    }

    /// Begins to send the next part, once few enough are being sent.
    async fn put(&mut self, part: Bytes) -> Result<(), BlobError> {
        self.wait_for_less_than(PARTS_AT_ONCE).await?;
        if let Some(upload) = &mut self.upload {
            self.running.spawn(upload.put_part(part.into()));
        }
        Ok(())
    }

    async fn wait_for_less_than(&mut self, parts: usize) -> Result<(), BlobError> {
        while self.running.len() >= parts
            && let Some(sent) = self.running.join_next().await
        {
            sent.map_err(|source| object_store::Error::JoinError { source })??;
        }
        Ok(())
    }

    async fn complete(&mut self) -> Result<(), BlobError> {
        if let Some(upload) = &mut self.upload {
            upload.complete().await?;
            self.upload = None;
        }
        Ok(())
    }

    async fn abort(&mut self) {
        if let Some(upload) = self.upload.take() {
            // A task of its own also ends if the caller is cancelled now. It fails only at the end of the runtime.
            let _ = tokio::spawn(abort(upload, std::mem::take(&mut self.running))).await;
        }
    }
}

impl Drop for PartUpload {
    fn drop(&mut self) {
        // Without a runtime the process is about to end; the periodic clean-up aborts the upload.
        if let Some(upload) = self.upload.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(abort(upload, std::mem::take(&mut self.running)));
        }
    }
}

async fn abort(mut upload: Box<dyn MultipartUpload>, mut running: JoinSet<object_store::Result<()>>) {
    // A part that arrives after the upload was aborted would stay.
    running.shutdown().await;
    match upload.abort().await {
        // A completed upload no longer exists.
        Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
        Err(error) => {
            let error = BlobError::from(error);
            tracing::warn!(%error, "an upload to the blob store was not aborted; the clean-up retries after a day");
        }
    }
}
