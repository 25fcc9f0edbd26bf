use std::{
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use domain::{BlobKind, ContentHash};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use object_store::{
    GetOptions, GetRange, ObjectStore, ObjectStoreExt as _, WriteMultipart, local::LocalFileSystem,
    path::Path as Key,
};
use tokio::io::AsyncReadExt as _;

use crate::{
    BlobError, BlobReader, PutError, StageError, Staged, TemporaryFile,
    local::{self, Alone, Folder},
    staging::{self, Hasher},
};

/// Files up to this length are stored in one piece; longer ones in parts of it, so that memory stays bounded.
const PART_BYTES: usize = 8 * 1024 * 1024;

/// The right to remove blobs, which one process at a time has, until it is dropped.
#[derive(Debug)]
pub struct Sweeper {
    _lock: File,
}

/// The right to work on what is queued, which one process at a time has, until it is dropped.
#[derive(Debug)]
pub struct Indexer {
    _lock: File,
}

/// Tells other processes that this one stays, until it is dropped.
#[derive(Debug)]
pub struct Service {
    _lock: File,
}

/// Where originals and renditions stand. Clones share it.
#[derive(Debug, Clone)]
pub struct BlobStore {
    objects: Arc<dyn ObjectStore>,
    root: PathBuf,
    staging: PathBuf,
    folder: Arc<Folder>,
}

impl BlobStore {
    /// Opens a folder, and makes it if there is none.
    ///
    /// # Errors
    /// [`BlobError::Folder`] when it cannot be used.
    pub fn open_folder(root: &Path) -> Result<Self, BlobError> {
        let folder = Folder::open(root)?;
        let objects = LocalFileSystem::new_with_prefix(root)?.with_fsync(true);
        Ok(Self {
            objects: Arc::new(objects),
            root: root.to_owned(),
            staging: root.join(local::STAGING),
            folder: Arc::new(folder),
        })
    }

    /// Runs `tidy` while no other process uses the store, if none does now, after removing what killed processes left
    /// unfinished. Other processes that open it wait until `tidy` is over. `None` when there are others.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub async fn while_alone<T>(&self, tidy: impl Future<Output = T>) -> Result<Option<T>, BlobError> {
        let folder = self.folder.clone();
        let alone = off_thread(move || {
            let alone = folder.alone()?;
            if let Some(Err(error)) = alone.as_ref().map(Alone::remove_unfinished) {
                tracing::warn!(%error, "what a killed process left in the blob folder could not be removed");
            }
            Ok::<_, BlobError>(alone)
        });
        let Some(alone) = alone.await.flatten()? else { return Ok(None) };
        let tidied = tidy.await;
        off_thread(move || drop(alone)).await?;
        Ok(Some(tidied))
    }

    /// The temporary files of uploads and writes: of running ones, and what killed processes left.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub async fn temporary_files(&self) -> Result<Vec<TemporaryFile>, BlobError> {
        let root = self.root.clone();
        let found = off_thread(move || {
            local::unfinished(&root).map_err(|source| BlobError::Folder { path: root, source })
        });
        found.await.flatten()
    }

    /// The right to remove blobs; `None` while another process has it.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub fn sweeper(&self) -> Result<Option<Sweeper>, BlobError> {
        Ok(self.folder.sweeper()?.map(|lock| Sweeper { _lock: lock }))
    }

    /// The right to work on what is queued, so that one process decodes at a time and its memory budget holds for
    /// all; `None` while another process has it.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub fn indexer(&self) -> Result<Option<Indexer>, BlobError> {
        Ok(self.folder.indexer()?.map(|lock| Indexer { _lock: lock }))
    }

    /// Tells other processes that this one stays and wants to be the [`indexer`](Self::indexer). `None` when one of
    /// them is asking right now: then it is to be told again.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub fn service(&self) -> Result<Option<Service>, BlobError> {
        Ok(self.folder.service()?.map(|lock| Service { _lock: lock }))
    }

    /// Whether a process uses the store that stays. To be asked only by one that does not.
    ///
    /// # Errors
    /// [`BlobError::Folder`].
    pub fn has_service(&self) -> Result<bool, BlobError> {
        self.folder.has_service()
    }

    /// Takes in bytes as they arrive, at most `max_bytes` of them.
    ///
    /// # Errors
    /// [`StageError`]; nothing of the bytes is left then.
    pub async fn stage<E: Into<std::io::Error>>(
        &self,
        source: impl Stream<Item = Result<Bytes, E>> + Send,
        max_bytes: u64,
    ) -> Result<Staged, StageError> {
        staging::stage(&self.staging, source, max_bytes).await
    }

    /// Stores a file under the address that its fingerprint gave; a blob that stands there already is left as it
    /// is. The file is hashed again on its way, so that one that changed meanwhile is not stored.
    ///
    /// # Errors
    /// [`PutError`]; nothing new stands under the address then.
    pub async fn put_file(&self, kind: BlobKind, hash: ContentHash, path: &Path) -> Result<(), PutError> {
        if self.contains(kind, hash).await? {
            return Ok(());
        }
        let mut file = tokio::fs::File::open(path).await.map_err(PutError::Read)?;
        let first = read_part(&mut file).await?;
        if first.len() < PART_BYTES {
            if sha256(&first) != hash {
                return Err(PutError::Changed);
            }
            self.objects.put(&key(kind, hash), first.into()).await?;
            return Ok(());
        }
        self.put_parts(kind, hash, first, file).await
    }

    async fn put_parts(
        &self,
        kind: BlobKind,
        hash: ContentHash,
        first: Bytes,
        mut file: tokio::fs::File,
    ) -> Result<(), PutError> {
        let upload = self.objects.put_multipart(&key(kind, hash)).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        let mut hasher = Hasher::new();
        let mut part = first;
        while !part.is_empty() {
            hasher.update(&part);
            upload.wait_for_capacity(2).await?;
            upload.put(part);
            part = match read_part(&mut file).await {
                Ok(part) => part,
                Err(error) => {
                    upload.abort().await?;
                    return Err(error);
                }
            };
        }
        if hasher.finish().hash != hash {
            upload.abort().await?;
            return Err(PutError::Changed);
        }
        upload.finish().await?;
        Ok(())
    }

    /// The address that these bytes have.
    pub fn content_hash(bytes: &[u8]) -> ContentHash {
        sha256(bytes)
    }

    /// Stores bytes under their address.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn put_bytes(&self, kind: BlobKind, bytes: Bytes) -> Result<ContentHash, BlobError> {
        let hash = sha256(&bytes);
        if !self.contains(kind, hash).await? {
            self.objects.put(&key(kind, hash), bytes.into()).await?;
        }
        Ok(hash)
    }

    /// Whether a blob stands there.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn contains(&self, kind: BlobKind, hash: ContentHash) -> Result<bool, BlobError> {
        match self.objects.head(&key(kind, hash)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a blob, or so many of its bytes; a range is cut at the blob's end.
    ///
    /// # Errors
    /// [`BlobError::Missing`] when there is none.
    pub async fn open(
        &self,
        kind: BlobKind,
        hash: ContentHash,
        range: Option<Range<u64>>,
    ) -> Result<BlobReader, BlobError> {
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        match self.objects.get_opts(&key(kind, hash), options).await {
            Ok(result) => Ok(BlobReader::new(result)),
            Err(object_store::Error::NotFound { .. }) => Err(BlobError::Missing { kind, hash }),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a blob; removing an absent one is no error.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn delete(&self, kind: BlobKind, hash: ContentHash) -> Result<(), BlobError> {
        match self.objects.delete(&key(kind, hash)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Every blob of a kind with its length, in no order.
    pub fn list(
        &self,
        kind: BlobKind,
    ) -> impl Stream<Item = Result<(ContentHash, u64), BlobError>> + Send + 'static {
        let listed = self.objects.list(Some(&Key::from(folder_of(kind)))).map_err(BlobError::from);
        listed
            .try_filter_map(|meta| async move { Ok(hash_of(&meta.location).map(|hash| (hash, meta.size))) })
            .boxed()
    }
}

/// Runs what may block.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, BlobError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| object_store::Error::JoinError { source: error }.into())
}

async fn read_part(file: &mut tokio::fs::File) -> Result<Bytes, PutError> {
    let mut part = Vec::new();
    file.take(PART_BYTES as u64).read_to_end(&mut part).await.map_err(PutError::Read)?;
    Ok(part.into())
}

fn sha256(bytes: &[u8]) -> ContentHash {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher.finish().hash
}

fn folder_of(kind: BlobKind) -> &'static str {
    match kind {
        BlobKind::Original => local::ORIGINALS,
        BlobKind::Rendition => local::RENDITIONS,
    }
}

/// 256 folders of each kind: few enough to walk quickly, enough for millions of files.
fn key(kind: BlobKind, hash: ContentHash) -> Key {
    let name = hash.to_string();
    let shard: String = name.chars().take(2).collect();
    Key::from(format!("{}/{shard}/{name}", folder_of(kind)))
}

fn hash_of(key: &Key) -> Option<ContentHash> {
    let name = key.filename()?;
    let byte = |at: usize| name.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Vec<u8> = (0..32).map_while(byte).collect();
    ContentHash::from_slice(&bytes).filter(|hash| hash.to_string() == name)
}
