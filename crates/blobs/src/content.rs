use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use domain::{BlobKind, ContentHash};
use futures_util::{FutureExt as _, Stream, StreamExt as _, TryFutureExt as _, TryStreamExt as _, stream};
use object_store::{
    GetOptions, GetRange, ObjectStore, ObjectStoreExt as _, local::LocalFileSystem, path::Path as Key,
};
use tokio::time::timeout;

use crate::{
    BlobError, BlobReader, PutError, StagedFile, blocking::run_blocking, content_hash, error::system_error,
    fingerprint::Hasher, listing::files_named, permissions::create_private_folder, reading::unreadable,
    s3_failure::S3Failure, sync::sync_folder, upload::put_file,
};

/// How long a check that the backend can be reached may take. Load balancers wait about as long.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

const ORIGINALS: &str = "originals";
const RENDITIONS: &str = "renditions";

/// Originals and renditions by their content hash, on any backend of `object_store`. Clones share the backend.
///
/// The backend needs no conditional writes and no appends, because two writers of one blob write the same bytes. Only
/// [`list`](Self::list) needs listing.
#[derive(Debug, Clone)]
pub struct ContentStore {
    objects: Arc<dyn ObjectStore>,
    /// The root folder, if the backend is a local folder.
    folder: Option<PathBuf>,
}

impl ContentStore {
    /// A content store on any backend.
    pub fn new(objects: Arc<dyn ObjectStore>) -> Self {
        Self { objects, folder: None }
    }

    /// A content store in a local folder, which is created if it does not exist. Every write is synced to disk.
    ///
    /// # Errors
    /// [`BlobError::Folder`] when the folder cannot be used.
    pub fn in_folder(root: &Path) -> Result<Self, BlobError> {
        // Paths of staged files are absolute, too.
        let root = &std::path::absolute(root).map_err(|error| BlobError::folder(root, error))?;
        for name in [ORIGINALS, RENDITIONS] {
            create_private_folder(&root.join(name)).map_err(|error| BlobError::folder(root, error))?;
        }
        let objects = LocalFileSystem::new_with_prefix(root)?.with_fsync(true);
        Ok(Self { objects: Arc::new(objects), folder: Some(root.to_owned()) })
    }

    /// The folders that a content store in a local folder has, or will have.
    pub(crate) fn folders(root: &Path) -> impl Iterator<Item = PathBuf> {
        [BlobKind::Original, BlobKind::Rendition].into_iter().flat_map(move |kind| {
            let shards = (0..=u8::MAX).map(move |shard| root.join(shard_folder(kind, shard)));
            [root.join(folder_of(kind))].into_iter().chain(shards)
        })
    }

    /// A content store in a local folder that exists. Nothing is created, so the folder may be read-only.
    ///
    /// # Errors
    /// [`BlobError::Folder`] when there is no such folder.
    pub fn in_existing_folder(root: &Path) -> Result<Self, BlobError> {
        let root = &fs::canonicalize(root).map_err(|error| BlobError::folder(root, error))?;
        let objects = LocalFileSystem::new_with_prefix(root)?.with_fsync(true);
        Ok(Self { objects: Arc::new(objects), folder: Some(root.to_owned()) })
    }

    /// Stores a file whose fingerprint was computed before. A blob that exists is left as it is. The file is hashed again
    /// while it is read, so a file that changed in between is not stored.
    ///
    /// # Errors
    /// [`PutError`]; nothing is stored.
    pub async fn put_file(&self, kind: BlobKind, hash: ContentHash, path: &Path) -> Result<(), PutError> {
        if self.is_stored(kind, hash).await? {
            return Ok(());
        }
        put_file(&*self.objects, &key(kind, hash), path, Some(hash)).await
    }

    /// Stores a staged file. On the file system of a local content store this is a rename; otherwise the file is
    /// uploaded. The staged file is gone afterwards.
    ///
    /// # Errors
    /// [`PutError`]; nothing is stored.
    pub async fn put_staged(&self, kind: BlobKind, staged: StagedFile) -> Result<(), PutError> {
        let hash = staged.fingerprint().hash;
        if self.is_stored(kind, hash).await? {
            return Ok(());
        }
        if let Some(from) = self.local_key(staged.path()) {
            let staged = staged.sync().await.map_err(PutError::Read)?;
            match self.objects.rename(&from, &key(kind, hash)).await {
                Ok(()) => {
                    staged.forget();
                    return Ok(());
                }
                // The blobs are on a file system of their own.
                Err(error) if system_error(&error) == Some(io::ErrorKind::CrossesDevices) => {}
                Err(error) => return Err(error.into()),
            }
            return self.put_file(kind, hash, staged.path()).await;
        }
        self.put_file(kind, hash, staged.path()).await
    }

    /// The key of a file below the root folder of a local content store.
    fn local_key(&self, path: &Path) -> Option<Key> {
        Key::parse(path.strip_prefix(self.folder.as_ref()?).ok()?.to_str()?).ok()
    }

    /// Stores bytes and returns their address.
    pub async fn put_bytes(&self, kind: BlobKind, bytes: Bytes) -> Result<ContentHash, BlobError> {
        let hash = content_hash(&bytes);
        if !self.is_stored(kind, hash).await? {
            self.objects.put(&key(kind, hash), bytes.into()).await?;
        }
        Ok(hash)
    }

    /// Whether a blob exists and survives a loss of power. Another writer may have renamed it, but not yet synced its
    /// folder.
    async fn is_stored(&self, kind: BlobKind, hash: ContentHash) -> Result<bool, BlobError> {
        if !self.contains(kind, hash).await? {
            return Ok(false);
        }
        let Some(root) = &self.folder else { return Ok(true) };
        let blob = root.join(key(kind, hash).as_ref());
        // The folder of the blob may be new, too.
        for folder in blob.ancestors().skip(1).take(2).map(Path::to_owned) {
            let sync = move || sync_folder(&folder).map_err(|error| BlobError::folder(&folder, error));
            run_blocking(sync).await.flatten()?;
        }
        Ok(true)
    }

    /// Whether a blob exists.
    pub async fn contains(&self, kind: BlobKind, hash: ContentHash) -> Result<bool, BlobError> {
        Ok(self.length(kind, hash).await?.is_some())
    }

    /// Checks that the backend can be reached, in at most 5 seconds.
    pub async fn probe(&self) -> Result<(), BlobError> {
        // The response to a HEAD request does not tell a missing bucket from a missing blob.
        let read = self.open(BlobKind::Original, ContentHash::new([0; 32]), None);
        match timeout(PROBE_LIMIT, read).await {
            Ok(Ok(_) | Err(BlobError::Missing { .. })) => Ok(()),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(S3Failure::TimedOut.into()),
        }
    }

    /// The length of a blob in bytes; `None` if the blob does not exist. A link, pipe or device at its path does not
    /// count as a blob.
    pub async fn length(&self, kind: BlobKind, hash: ContentHash) -> Result<Option<u64>, BlobError> {
        if self.is_special_file(kind, hash).await? {
            return Ok(None);
        }
        match self.objects.head(&key(kind, hash)).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a blob and returns the hash of its bytes, which differs from its address if the blob is damaged.
    ///
    /// # Errors
    /// [`BlobError::Missing`] when the blob does not exist.
    pub async fn read_hash(&self, kind: BlobKind, hash: ContentHash) -> Result<ContentHash, BlobError> {
        let mut hasher = Hasher::new();
        let mut chunks = std::pin::pin!(self.open(kind, hash, None).await?.into_stream());
        while let Some(chunk) = chunks.next().await {
            hasher.update(&chunk?);
        }
        Ok(hasher.finish().hash)
    }

    /// Renames a damaged blob to `HASH.damaged`, or `HASH.damaged-2` and so on if that exists, and returns its new
    /// [`location`](Self::location). The blob then counts as missing, so the same bytes can be stored again. The
    /// remaining bytes of the damaged blob are kept.
    pub async fn set_aside(&self, kind: BlobKind, hash: ContentHash) -> Result<String, BlobError> {
        let mut aside = Key::from(format!("{}.damaged", key(kind, hash)));
        let mut number = 2_u64;
        while self.exists(&aside).await? {
            aside = Key::from(format!("{}.damaged-{number}", key(kind, hash)));
            number += 1;
        }
        self.objects.rename(&key(kind, hash), &aside).await?;
        Ok(self.location_of(&aside))
    }

    async fn exists(&self, key: &Key) -> Result<bool, BlobError> {
        match self.objects.head(key).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a link, pipe or device has the path of a blob. The local backend opens a file to learn its length: it follows links,
    /// and waits for the writer of a pipe.
    async fn is_special_file(&self, kind: BlobKind, hash: ContentHash) -> Result<bool, BlobError> {
        let Some(path) = self.path_of(kind, hash) else { return Ok(false) };
        run_blocking(move || fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file())).await
    }

    /// The path of a blob in a local folder.
    fn path_of(&self, kind: BlobKind, hash: ContentHash) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(key(kind, hash).as_ref()))
    }

    /// Where a blob is, for messages: the path in a local folder, otherwise the key.
    pub fn location(&self, kind: BlobKind, hash: ContentHash) -> String {
        self.location_of(&key(kind, hash))
    }

    fn location_of(&self, key: &Key) -> String {
        match &self.folder {
            Some(folder) => folder.join(key.as_ref()).display().to_string(),
            None => key.to_string(),
        }
    }

    /// Opens a blob or a range of its bytes. A range that reaches beyond the end is cut there.
    ///
    /// # Errors
    /// [`BlobError::Missing`] when the blob does not exist.
    pub async fn open(
        &self,
        kind: BlobKind,
        hash: ContentHash,
        range: Option<Range<u64>>,
    ) -> Result<BlobReader, BlobError> {
        if let Some(path) = self.path_of(kind, hash) {
            let opened = run_blocking(move || match BlobReader::of_file(&path, range) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Err(BlobError::Missing { kind, hash })
                }
                opened => opened.map_err(unreadable),
            });
            return opened.await.flatten();
        }
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        match self.objects.get_opts(&key(kind, hash), options).await {
            Ok(result) => Ok(BlobReader::of_object(result)),
            Err(object_store::Error::NotFound { .. }) => Err(BlobError::Missing { kind, hash }),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a blob. It is no error if the blob does not exist.
    pub async fn delete(&self, kind: BlobKind, hash: ContentHash) -> Result<(), BlobError> {
        match self.objects.delete(&key(kind, hash)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// All blobs of a kind with their lengths, in no order.
    pub fn list(
        &self,
        kind: BlobKind,
    ) -> impl Stream<Item = Result<(ContentHash, u64), BlobError>> + Send + 'static {
        match self.folder.clone() {
            None => self.list_below(&Key::from(folder_of(kind))).left_stream(),
            Some(root) => stream::iter(0..=u8::MAX)
                .flat_map(move |shard| list_local_shard(&root, kind, shard))
                .boxed()
                .right_stream(),
        }
    }

    /// The blobs of a kind whose hash begins with a byte, with their lengths, in no order.
    pub fn list_shard(
        &self,
        kind: BlobKind,
        shard: u8,
    ) -> impl Stream<Item = Result<(ContentHash, u64), BlobError>> + Send + 'static {
        match &self.folder {
            None => self.list_below(&Key::from(shard_folder(kind, shard))).left_stream(),
            Some(root) => list_local_shard(root, kind, shard).right_stream(),
        }
    }

    fn list_below(
        &self,
        folder: &Key,
    ) -> impl Stream<Item = Result<(ContentHash, u64), BlobError>> + Send + 'static + use<> {
        let listed = self.objects.list(Some(folder)).map_err(BlobError::from);
        listed
            .try_filter_map(|meta| async move { Ok(hash_of(&meta.location).map(|hash| (hash, meta.size))) })
            .boxed()
    }

    /// The temporary files of a local content store. Blocks.
    pub(crate) fn temporary_files(&self) -> io::Result<Vec<fs::DirEntry>> {
        let mut files = Vec::new();
        let Some(root) = &self.folder else { return Ok(files) };
        for kind in [ORIGINALS, RENDITIONS] {
            for shard in fs::read_dir(root.join(kind))? {
                let shard = shard?;
                if shard.file_type()?.is_dir() && shard.file_name().len() == 2 {
                    files.extend(files_named(&shard.path(), is_temporary)?);
                }
            }
        }
        Ok(files)
    }
}

/// The blobs of a shard of a local content store. Does not use the local backend, because that would follow links.
fn list_local_shard(
    root: &Path,
    kind: BlobKind,
    shard: u8,
) -> impl Stream<Item = Result<(ContentHash, u64), BlobError>> + Send + 'static + use<> {
    let folder = root.join(shard_folder(kind, shard));
    let listed = run_blocking(move || list_folder(&folder).map_err(unreadable));
    let blobs = listed.map(Result::flatten).map_ok(|blobs| stream::iter(blobs.into_iter().map(Ok)));
    blobs.try_flatten_stream().boxed()
}

/// The blobs in a folder, which may not exist. Blocks.
fn list_folder(folder: &Path) -> io::Result<Vec<(ContentHash, u64)>> {
    let files = match files_named(folder, |name| hash_named(name).is_some()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let mut blobs = Vec::with_capacity(files.len());
    for file in files {
        match (file.metadata(), file.file_name().to_str().and_then(hash_named)) {
            (Ok(metadata), Some(hash)) => blobs.push((hash, metadata.len())),
            // It was deleted in between.
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => {}
            (Err(error), _) => return Err(error),
            (Ok(_), None) => {}
        }
    }
    Ok(blobs)
}

/// Whether this is the name of a temporary file of the local backend, which writes `HASH#1` and renames it to `HASH`.
fn is_temporary(name: &str) -> bool {
    name.split_once('#').is_some_and(|(hash, number)| {
        hash.len() == 64
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn folder_of(kind: BlobKind) -> &'static str {
    match kind {
        BlobKind::Original => ORIGINALS,
        BlobKind::Rendition => RENDITIONS,
    }
}

fn shard_folder(kind: BlobKind, shard: u8) -> String {
    format!("{}/{shard:02x}", folder_of(kind))
}

/// Each kind has 256 folders: few enough to list quickly, enough for millions of files.
fn key(kind: BlobKind, hash: ContentHash) -> Key {
    let name = hash.to_string();
    let shard: String = name.chars().take(2).collect();
    Key::from(format!("{}/{shard}/{name}", folder_of(kind)))
}

fn hash_of(key: &Key) -> Option<ContentHash> {
    hash_named(key.filename()?)
}

/// The hash that is the name of a blob.
fn hash_named(name: &str) -> Option<ContentHash> {
    let byte = |at: usize| name.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Vec<u8> = (0..32).map_while(byte).collect();
    ContentHash::from_slice(&bytes).filter(|hash| hash.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[tokio::test]
    async fn an_existing_blob_counts_as_stored_only_after_its_folder_is_synced() {
        let dir = tempfile::tempdir().unwrap();
        let objects = Arc::new(object_store::memory::InMemory::new());
        let backend = ContentStore::new(objects.clone());
        let store = ContentStore { objects, folder: Some(dir.path().to_owned()) };
        let (kind, bytes) = (BlobKind::Original, Bytes::from_static(b"hello"));
        let hash = backend.put_bytes(kind, bytes.clone()).await.unwrap();
        let file = dir.path().join("file");
        fs::write(&file, &bytes).unwrap();
        // The folder cannot be synced, because it does not exist.
        assert!(matches!(store.put_bytes(kind, bytes.clone()).await, Err(BlobError::Folder { .. })));
        assert!(matches!(store.put_file(kind, hash, &file).await, Err(PutError::Blob(_))));
        let shard: String = hash.to_string().chars().take(2).collect();
        fs::create_dir_all(dir.path().join(ORIGINALS).join(shard)).unwrap();
        assert_eq!(store.put_bytes(kind, bytes).await.unwrap(), hash);
        store.put_file(kind, hash, &file).await.unwrap();
    }

    #[test]
    fn temporary_names_are_recognized() {
        let hash = "0f".repeat(32);
        assert!(is_temporary(&format!("{hash}#1")));
        for other in [hash.as_str(), "IMG #1.jpg", "#1", &format!("{hash}#1.jpg"), &format!("{hash}x#1")] {
            assert!(!is_temporary(other), "{other}");
        }
    }
}
