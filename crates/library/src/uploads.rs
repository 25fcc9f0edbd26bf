//! Uploads that arrive in parts, over several requests.

use std::{
    collections::HashSet,
    io,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use blobs::{HEAD_BYTES, PartWriter, StagingError};
use bytes::Bytes;
use domain::{AccountId, ContentHash, ImageId, Timestamp};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use keys::new_id;
use media::MediaError;
use storage::{
    AddPart, BeginUpload, NewUpload, StorageError, UploadId, UploadPart, UploadProtocol, UploadState,
};

use crate::{
    Caller, Checksum, ImportError, ImportOutcome, Library, Unavailable, Upload, import::supported_format,
    indexing::StoreFailure,
};

/// How long an upload is kept after it was last written to: a day for tus, three days for chunks, because their clients
/// retry less often.
const TUS_EXPIRES_MS: i64 = 24 * 3600 * 1000;
const CHUNKED_EXPIRES_MS: i64 = 3 * TUS_EXPIRES_MS;

/// The age from which a file without a part in the store is left over from a killed process.
const ORPHAN_MS: i64 = 24 * 3600 * 1000;

/// How many uploads one write covers, so that other writes wait only briefly.
const SWEEP_BATCH: u32 = 100;

/// How many files one query asks for.
const FILES_PER_QUERY: usize = 500;

/// Maximum number of hashes in a question which originals are known.
pub const MAX_KNOWN_HASHES: usize = 1000;

/// Why an upload did not go on.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// There is none of this name in this account, or it has expired.
    #[error("there is no such upload; begin a new one")]
    NotFound,
    /// There is an unfinished one of this name.
    #[error("there is already an upload of this name")]
    Exists,
    /// The account has too many unfinished uploads, or the upload has too many parts.
    #[error("there are too many unfinished uploads")]
    TooMany,
    /// The bytes do not continue those that were received.
    #[error("the upload continues at byte {received}")]
    WrongOffset {
        /// The number of bytes received.
        received: u64,
    },
    /// Another request writes to it.
    #[error("another request is writing to this upload; try again in a moment")]
    Busy,
    /// Parts of it are lost, so it was cancelled.
    #[error("parts of the upload are lost; send the file again")]
    Lost,
    /// The file is not accepted.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl From<StorageError> for UploadError {
    fn from(error: StorageError) -> Self {
        Self::Import(error.into())
    }
}

impl From<Unavailable> for UploadError {
    fn from(error: Unavailable) -> Self {
        Self::Import(error.into())
    }
}

/// What came of an uploaded photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadOutcome {
    /// It is new.
    Imported,
    /// The account has it.
    Duplicate,
    /// The account had deleted it, and it is restored.
    Restored,
}

impl UploadOutcome {
    const ALL: [Self; 3] = [Self::Imported, Self::Duplicate, Self::Restored];

    /// The name, as clients see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Imported => "imported",
            Self::Duplicate => "duplicate",
            Self::Restored => "restored",
        }
    }
}

/// The result of a finished upload of one photo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadResult {
    /// What came of it.
    pub outcome: UploadOutcome,
    /// The image.
    pub image: ImageId,
}

impl UploadResult {
    /// Reads what [`Display`](std::fmt::Display) writes.
    fn parse(text: &str) -> Option<Self> {
        let (outcome, image) = text.split_once(' ')?;
        let outcome = UploadOutcome::ALL.into_iter().find(|known| known.as_str() == outcome)?;
        Some(Self { outcome, image: ImageId::parse(image)? })
    }
}

impl std::fmt::Display for UploadResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.outcome.as_str(), self.image)
    }
}

impl From<ImportOutcome> for UploadResult {
    fn from(outcome: ImportOutcome) -> Self {
        match outcome {
            ImportOutcome::Queued(image) => Self { outcome: UploadOutcome::Imported, image },
            ImportOutcome::Duplicate(image, _) => Self { outcome: UploadOutcome::Duplicate, image },
            ImportOutcome::Restored(image, _) => Self { outcome: UploadOutcome::Restored, image },
        }
    }
}

/// Bytes that continue a tus upload.
#[derive(Debug, Clone, Copy)]
pub struct TusPart {
    /// Where they begin.
    pub offset: u64,
    /// Their number, if it was announced.
    pub bytes: Option<u64>,
    /// Their checksum, if it was announced.
    pub checksum: Option<Checksum>,
}

/// A chunk of a chunked upload.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Its position among the chunks.
    pub number: u64,
    /// Its name in URLs.
    pub name: String,
    /// Its length in bytes, if it was announced.
    pub bytes: Option<u64>,
}

/// The progress of a tus upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The number of bytes received.
    pub received: u64,
    /// When it expires unless more bytes are received.
    pub expires_at: Timestamp,
    /// The result, once all bytes were received.
    pub result: Option<UploadResult>,
}

/// The uploads that requests to this process write to now.
#[derive(Debug, Default, Clone)]
pub(crate) struct UploadLocks(Arc<Mutex<HashSet<UploadId>>>);

struct UploadLock {
    locks: UploadLocks,
    upload: UploadId,
}

impl UploadLocks {
    fn try_lock(&self, upload: UploadId) -> Option<UploadLock> {
        let mut locked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locked.insert(upload).then(|| UploadLock { locks: self.clone(), upload })
    }
}

impl Drop for UploadLock {
    fn drop(&mut self) {
        self.locks.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.upload);
    }
}

/// What the received bytes of a request are checked against.
struct PartLimits {
    /// Maximum number of bytes.
    max_bytes: u64,
    /// The announced number of bytes.
    expected: Option<u64>,
    checksum: Option<Checksum>,
    /// Whether the bytes of a broken stream are kept.
    keeps_broken: bool,
}

/// A received part whose file is synced, but which the store does not name yet.
struct Received {
    file: String,
    bytes: u64,
    /// Why the stream broke, if it did.
    broken: Option<io::Error>,
}

impl Library {
    /// Begins an upload whose length may be announced. Its name in URLs is unique per account and protocol.
    ///
    /// # Errors
    /// [`UploadError`].
    pub async fn begin_upload(
        &self,
        caller: &Caller,
        protocol: UploadProtocol,
        name: &str,
        total_bytes: Option<u64>,
        metadata: &str,
    ) -> Result<(), UploadError> {
        let account = caller.account.id;
        if total_bytes == Some(0) && protocol == UploadProtocol::Tus {
            return Err(ImportError::Refused(MediaError::Empty).into());
        }
        self.check_upload_length(account, total_bytes.unwrap_or_default()).await?;
        let upload = NewUpload {
            account,
            protocol,
            name: name.to_owned(),
            total_bytes,
            metadata: metadata.to_owned(),
            at: self.parts.clock.now(),
        };
        match self.parts.store.begin_upload(upload).await? {
            BeginUpload::Begun(_) => Ok(()),
            BeginUpload::Exists => Err(UploadError::Exists),
            BeginUpload::TooMany => Err(UploadError::TooMany),
            BeginUpload::AccountGone => Err(ImportError::AccountGone.into()),
        }
    }

    /// A new name for an upload, which cannot be guessed.
    ///
    /// # Errors
    /// The random source failed.
    pub fn new_upload_name(&self) -> Result<String, Unavailable> {
        Ok(new_id(self.random())?)
    }

    /// An upload of the caller's account.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn upload(
        &self,
        caller: &Caller,
        protocol: UploadProtocol,
        name: &str,
    ) -> Result<Option<UploadState>, StorageError> {
        self.parts.store.upload(caller.account.id, protocol, name).await
    }

    /// The progress of an upload that has just begun.
    pub fn begun(&self) -> Progress {
        self.progress(0)
    }

    /// The progress of an upload that was written to now.
    fn progress(&self, received: u64) -> Progress {
        Progress { received, result: None, expires_at: expiry(self.parts.clock.now()) }
    }

    /// Continues a tus upload with a stream, in a task of its own: it also ends when the caller stops waiting. When this
    /// returns, the bytes survive a loss of power. The bytes of a broken stream are kept, unless they have a checksum. The
    /// last bytes import the file; `file` describes it.
    ///
    /// # Errors
    /// [`UploadError`]. A file that is not accepted is forgotten.
    pub async fn continue_upload(
        &self,
        caller: Caller,
        name: String,
        part: TusPart,
        file: Upload,
        stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<Progress, UploadError> {
        let library = self.clone();
        let task =
            tokio::spawn(
                async move { library.continue_upload_now(&caller, &name, part, file, stream).await },
            );
        task.await.map_err(|error| ImportError::Staging(io::Error::other(error)))?
    }

    async fn continue_upload_now(
        &self,
        caller: &Caller,
        name: &str,
        part: TusPart,
        file: Upload,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<Progress, UploadError> {
        let (upload, _lock) = self.locked_upload(caller, name).await?;
        let received = upload.received_bytes();
        if part.offset != received {
            return Err(UploadError::WrongOffset { received });
        }
        let total = upload.total_bytes.unwrap_or_default();
        if upload.result.is_some() || received == total {
            return self.complete_upload(caller, upload, file).await;
        }
        self.check_upload_length(caller.account.id, total - received).await?;
        let added = self.append(&upload, part, stream).await;
        if let Err(UploadError::Import(ImportError::Refused(_))) = &added {
            self.cancel_upload(&upload).await?;
        }
        let received = received + added?;
        if received < total {
            return Ok(self.progress(received));
        }
        let upload = self.upload(caller, UploadProtocol::Tus, name).await?.ok_or(UploadError::NotFound)?;
        self.complete_upload(caller, upload, file).await
    }

    /// The progress of a tus upload. If all its bytes are there but their import was interrupted, it is imported now.
    ///
    /// # Errors
    /// [`UploadError`].
    pub async fn upload_progress(
        &self,
        caller: &Caller,
        name: &str,
        file: Upload,
    ) -> Result<Progress, UploadError> {
        let upload = self.upload(caller, UploadProtocol::Tus, name).await?.ok_or(UploadError::NotFound)?;
        let received = upload.received_bytes();
        if upload.total_bytes != Some(received) {
            return Ok(Progress { received, result: None, expires_at: expiry(upload.touched_at) });
        }
        let (upload, _lock) = self.locked_upload(caller, name).await?;
        self.complete_upload(caller, upload, file).await
    }

    async fn locked_upload(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<(UploadState, UploadLock), UploadError> {
        let find = || self.upload(caller, UploadProtocol::Tus, name);
        let upload = find().await?.ok_or(UploadError::NotFound)?;
        let lock = self.parts.upload_locks.try_lock(upload.id).ok_or(UploadError::Busy)?;
        // Another request may have written before the lock was taken.
        let upload = find().await?.ok_or(UploadError::NotFound)?;
        Ok((upload, lock))
    }

    /// Receives the bytes of a part; returns how many were added.
    async fn append(
        &self,
        upload: &UploadState,
        part: TusPart,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<u64, UploadError> {
        let total = upload.total_bytes.unwrap_or_default();
        let max_bytes = total.saturating_sub(part.offset);
        if part.bytes.is_some_and(|bytes| bytes > max_bytes) {
            return Err(ImportError::WrongLength { expected: total }.into());
        }
        let limits = PartLimits {
            max_bytes,
            expected: part.bytes,
            checksum: part.checksum,
            keeps_broken: part.checksum.is_none(),
        };
        let head = Head::Judged(self.head_of(upload).await?);
        let received = self.receive_part(limits, head, stream).await?;
        let Some(received) = received else { return Ok(0) };
        let added = self.add_part(upload.id, part.offset, &part.offset.to_string(), &received).await;
        added?;
        match received.broken {
            Some(error) => Err(ImportError::Interrupted(error).into()),
            None => Ok(received.bytes),
        }
    }

    /// The first bytes of an upload, as many as its format is detected from.
    async fn head_of(&self, upload: &UploadState) -> Result<Vec<u8>, UploadError> {
        let mut head = Vec::new();
        let mut content = pin!(self.upload_content(upload));
        while head.len() < HEAD_BYTES
            && let Some(chunk) = content.next().await
        {
            let chunk = chunk.map_err(ImportError::Staging)?;
            head.extend(chunk.iter().take(HEAD_BYTES - head.len()));
        }
        Ok(head)
    }

    /// Receives a chunk of a chunked upload, in a task of its own: it also ends when the caller stops waiting. When this
    /// returns, the chunk survives a loss of power. It replaces one of the same number. A broken one is dropped.
    ///
    /// # Errors
    /// [`UploadError`]; nothing of the chunk is kept.
    pub async fn put_chunk(
        &self,
        caller: Caller,
        upload: UploadState,
        chunk: Chunk,
        stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<(), UploadError> {
        let library = self.clone();
        let task = tokio::spawn(async move { library.put_chunk_now(&caller, &upload, chunk, stream).await });
        task.await.map_err(|error| ImportError::Staging(io::Error::other(error)))?
    }

    async fn put_chunk_now(
        &self,
        caller: &Caller,
        upload: &UploadState,
        chunk: Chunk,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<(), UploadError> {
        let settings = &self.parts.settings;
        let others = upload.parts.iter().filter(|part| part.number != chunk.number).map(|part| part.bytes);
        let max_bytes = settings.max_upload_bytes.saturating_sub(others.sum());
        if chunk.bytes.is_some_and(|bytes| bytes > max_bytes) {
            return Err(ImportError::TooLarge { max_bytes: settings.max_upload_bytes }.into());
        }
        self.check_upload_length(caller.account.id, chunk.bytes.unwrap_or_default()).await?;
        let limits = PartLimits { max_bytes, expected: chunk.bytes, checksum: None, keeps_broken: false };
        match self.receive_part(limits, Head::NotJudged, stream).await? {
            Some(received) => self.add_part(upload.id, chunk.number, &chunk.name, &received).await,
            None => Ok(()),
        }
    }

    /// Writes a stream to a file. Returns `None` if it has no bytes.
    async fn receive_part(
        &self,
        limits: PartLimits,
        mut head: Head,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<Option<Received>, UploadError> {
        let mut file = self.parts.blobs.parts.create(limits.checksum).await.map_err(ImportError::Staging)?;
        let mut stream = pin!(stream);
        let mut broken = None;
        while let Some(chunk) = stream.next().await {
            match chunk {
                Ok(chunk) => receive_chunk(&mut file, &limits, &mut head, &chunk).await?,
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        if let Some(expected) = limits.expected.filter(|expected| *expected != file.bytes())
            && broken.is_none()
        {
            broken = Some(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("{expected} bytes were announced"),
            ));
        }
        let bytes = file.bytes();
        match broken {
            Some(error) if !limits.keeps_broken || bytes == 0 => Err(ImportError::Interrupted(error).into()),
            None if bytes == 0 => Ok(None),
            broken => {
                let file = file.finish().await.map_err(ImportError::from)?;
                Ok(Some(Received { file, bytes, broken }))
            }
        }
    }

    /// Names a received part in the store.
    async fn add_part(
        &self,
        upload: UploadId,
        number: u64,
        name: &str,
        received: &Received,
    ) -> Result<(), UploadError> {
        let part = UploadPart {
            number,
            name: name.to_owned(),
            bytes: received.bytes,
            file: received.file.clone(),
            received_at: self.parts.clock.now(),
        };
        // If the store fails, it may name the file all the same, so the file stays until the sweep.
        let (unneeded, result) = match self.parts.store.add_part(upload, part).await? {
            AddPart::Added { replaced } => (replaced, Ok(())),
            AddPart::NoUpload => (Some(received.file.clone()), Err(UploadError::NotFound)),
            AddPart::WrongOffset(received_bytes) => {
                let error = UploadError::WrongOffset { received: received_bytes };
                (Some(received.file.clone()), Err(error))
            }
            AddPart::TooMany => (Some(received.file.clone()), Err(UploadError::TooMany)),
        };
        self.delete_part_files(unneeded.into_iter().collect()).await;
        result
    }

    /// The bytes of an upload, its parts in the order of their numbers. A lost part is an error.
    pub fn upload_content(
        &self,
        upload: &UploadState,
    ) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        let parts = upload.parts.iter().map(|part| (part.file.clone(), part.bytes)).collect();
        self.parts.blobs.parts.read(parts)
    }

    /// Imports the photo of a tus upload whose bytes are all there, and finishes it. A file that is not accepted is
    /// forgotten. If the service fails, the bytes stay.
    async fn complete_upload(
        &self,
        caller: &Caller,
        upload: UploadState,
        file: Upload,
    ) -> Result<Progress, UploadError> {
        let received = upload.received_bytes();
        if let Some(result) = &upload.result {
            let (result, expires_at) = (UploadResult::parse(result), expiry(upload.touched_at));
            return Ok(Progress { received, result, expires_at });
        }
        let imported = self.import_parts(caller.account.id, &upload, file).await;
        if let Err(error) = &imported
            && !is_passing(error)
        {
            self.cancel_upload(&upload).await?;
        }
        let result = UploadResult::from(imported?);
        self.finish_upload(&upload, &result.to_string()).await?;
        Ok(Progress { result: Some(result), ..self.progress(received) })
    }

    async fn import_parts(
        &self,
        account: AccountId,
        upload: &UploadState,
        file: Upload,
    ) -> Result<ImportOutcome, UploadError> {
        let received = upload.received_bytes();
        let quota_bytes = self.parts.settings.account_quota_bytes;
        // The parts count as stored, and go when the photo is stored.
        let with_parts = quota_bytes.map(|quota| quota.saturating_add(received));
        let file = Upload { bytes: Some(received), quota_bytes: with_parts, ..file };
        let content = self.upload_content(upload).map_err(io::Error::other);
        self.import_stream(account, file, content).await.map_err(|error| match error {
            ImportError::QuotaExceeded { .. } => {
                ImportError::QuotaExceeded { quota_bytes: quota_bytes.unwrap_or_default() }.into()
            }
            ImportError::Interrupted(error) => {
                tracing::error!(%error, "parts of an upload cannot be read");
                UploadError::Lost
            }
            error => error.into(),
        })
    }

    /// Marks an upload as finished with a result, and deletes its parts.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn finish_upload(&self, upload: &UploadState, result: &str) -> Result<(), StorageError> {
        let files = self.parts.store.finish_upload(upload.id, result, self.parts.clock.now()).await?;
        self.delete_part_files(files).await;
        Ok(())
    }

    /// Forgets an upload and deletes its parts.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn cancel_upload(&self, upload: &UploadState) -> Result<(), StorageError> {
        let files = self.parts.store.delete_upload(upload.id).await?;
        self.delete_part_files(files).await;
        Ok(())
    }

    /// Deletes files that the store no longer names. If that fails, the periodic clean-up repeats it.
    async fn delete_part_files(&self, files: Vec<String>) {
        if files.is_empty() {
            return;
        }
        if let Err(error) = self.parts.blobs.parts.delete(files).await {
            tracing::warn!(%error, "parts of an upload could not be deleted; it will be retried");
        }
    }

    /// Refuses bytes that are too many for a file or for the account, before they are received.
    async fn check_upload_length(&self, account: AccountId, bytes: u64) -> Result<(), ImportError> {
        let settings = &self.parts.settings;
        if bytes > settings.max_upload_bytes {
            return Err(ImportError::TooLarge { max_bytes: settings.max_upload_bytes });
        }
        let Some(quota_bytes) = settings.account_quota_bytes else { return Ok(()) };
        let stored = self.parts.store.stored_bytes(account).await?;
        if stored.saturating_add(bytes) > quota_bytes {
            return Err(ImportError::QuotaExceeded { quota_bytes });
        }
        Ok(())
    }

    /// Which of these originals the caller's account has as images that are neither deleted nor failed; only the first
    /// [`MAX_KNOWN_HASHES`] are looked up.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn known_originals(
        &self,
        caller: &Caller,
        originals: &[ContentHash],
    ) -> Result<Vec<ContentHash>, StorageError> {
        let originals = originals.get(..MAX_KNOWN_HASHES).unwrap_or(originals);
        self.parts.store.known_originals(caller.account.id, originals).await
    }

    /// The caller with this API key or sync password, without the name of the account.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the key is wrong.
    pub async fn caller_by_upload_key(&self, key: &str) -> Result<Option<Caller>, StorageError> {
        self.key_caller(key).await
    }

    /// Forgets expired uploads, and deletes files that belong to no part.
    pub(crate) async fn sweep_uploads(&self, stopped: impl Fn() -> bool) -> Result<(), StoreFailure> {
        let now = self.parts.clock.now();
        for (protocol, expires_ms) in
            [(UploadProtocol::Tus, TUS_EXPIRES_MS), (UploadProtocol::Chunked, CHUNKED_EXPIRES_MS)]
        {
            while !stopped() {
                let before = now.plus_millis(-expires_ms);
                let swept = self.parts.store.sweep_uploads(protocol, before, SWEEP_BATCH).await?;
                self.delete_part_files(swept.files).await;
                if swept.uploads == 0 {
                    break;
                }
            }
        }
        self.sweep_part_files(now.millis() - ORPHAN_MS).await
    }

    /// Deletes files that were last written to before a time, and that the store does not name.
    async fn sweep_part_files(&self, before_ms: i64) -> Result<(), StoreFailure> {
        let files = match self.parts.blobs.parts.files().await {
            Ok(files) => files,
            Err(error) => {
                tracing::warn!(%error, "the folder of uploads cannot be read");
                return Ok(());
            }
        };
        let old = files.into_iter().filter(|file| unix_millis(file.modified) < before_ms);
        let mut old: Vec<String> = old.map(|file| file.name).collect();
        while !old.is_empty() {
            let batch = old.split_off(old.len().saturating_sub(FILES_PER_QUERY));
            let known: HashSet<String> =
                self.parts.store.known_part_files(&batch).await?.into_iter().collect();
            self.delete_part_files(batch.into_iter().filter(|name| !known.contains(name)).collect()).await;
        }
        Ok(())
    }
}

/// The first bytes of a file while they arrive.
enum Head {
    /// The format must be supported.
    Judged(Vec<u8>),
    /// The bytes are in the middle of a file.
    NotJudged,
}

impl Head {
    /// Adds bytes; refuses an unsupported format once enough bytes are there.
    fn extend(&mut self, chunk: &[u8]) -> Result<(), ImportError> {
        let Self::Judged(head) = self else { return Ok(()) };
        let missing = HEAD_BYTES.saturating_sub(head.len());
        head.extend(chunk.iter().take(missing));
        if head.len() >= HEAD_BYTES {
            supported_format(head)?;
            *self = Self::NotJudged;
        }
        Ok(())
    }
}

async fn receive_chunk(
    file: &mut PartWriter,
    limits: &PartLimits,
    head: &mut Head,
    chunk: &[u8],
) -> Result<(), UploadError> {
    if file.bytes().saturating_add(chunk.len() as u64) > limits.max_bytes {
        return Err(ImportError::TooLarge { max_bytes: limits.max_bytes }.into());
    }
    head.extend(chunk)?;
    Ok(file.write(chunk).await.map_err(|error| ImportError::from(StagingError::Io(error)))?)
}

/// When a tus upload expires that was last written to at this time.
fn expiry(touched_at: Timestamp) -> Timestamp {
    touched_at.plus_millis(TUS_EXPIRES_MS)
}

/// Whether an import that failed may succeed later with the same bytes.
fn is_passing(error: &UploadError) -> bool {
    matches!(error, UploadError::Import(error) if error.is_outage() || matches!(error, ImportError::BeingRemoved))
}

/// Milliseconds since 1970; a time before counts as 1970.
fn unix_millis(time: std::time::SystemTime) -> i64 {
    let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_back() {
        let image = ImageId::parse("abc").unwrap();
        for outcome in UploadOutcome::ALL {
            let result = UploadResult { outcome, image: image.clone() };
            assert_eq!(UploadResult::parse(&result.to_string()), Some(result));
        }
        for other in ["", "imported", "lost abc", "imported "] {
            assert_eq!(UploadResult::parse(other), None, "{other}");
        }
    }

    #[test]
    fn an_upload_has_one_writer() {
        let locks = UploadLocks::default();
        let first = locks.try_lock(UploadId(1));
        assert!(first.is_some() && locks.try_lock(UploadId(1)).is_none());
        assert!(locks.try_lock(UploadId(2)).is_some());
        drop(first);
        assert!(locks.try_lock(UploadId(1)).is_some());
    }
}
