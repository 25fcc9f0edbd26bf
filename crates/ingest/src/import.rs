use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
    pin::pin,
    time::Duration,
};

use accounts::Unavailable;
use blobs::{HEAD_BYTES, StagedFile};
use bytes::Bytes;
use domain::{AccountId, BlobKind, Checksum, ContentHash, ImageId, Sidecar, Timestamp, clean_text, composed};
use futures_util::{FutureExt as _, Stream, StreamExt as _, future::BoxFuture};
use keys::new_id;
use media::{Format, MediaError};
use storage::{
    AddOutcome, AnnounceOutcome, BlobRef, ExistingImage, ImageState, NewImage, RestoreDeleted, exceeds_quota,
};

use crate::{
    Ingest,
    import_error::ImportError,
    reserved_bytes::{Reservation, RoomFor},
};

/// How often a file is retried while its blob is being removed, and the pause between retries.
const MAX_ATTEMPTS: u32 = 50;
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// The sender's information about a file to import.
#[derive(Debug, Clone, Default)]
pub struct Upload {
    /// Its name, without folders.
    pub name: Option<String>,
    /// When it was last modified.
    pub modified_at: Option<Timestamp>,
    pub sidecars: Vec<Sidecar>,
    /// Maximum number of bytes that the account may store; `None` for no limit.
    pub quota_bytes: Option<u64>,
    /// The bytes of the parts that hold the file. They count as stored until the upload is finished, so the quota leaves
    /// them out.
    pub parts_bytes: u64,
    /// Sidecars that are stored only if the image has none of their kind, so that they replace none.
    pub sidecars_if_new: Vec<Sidecar>,
    /// Its length in bytes, if the sender announced it.
    pub bytes: Option<u64>,
    /// The checksums that the sender announced.
    pub checksums: Vec<Checksum>,
    /// What happens to an image with these bytes that the account deleted.
    pub restore_deleted: RestoreDeleted,
    /// Whether a new image goes to the trash. An image that the account has stays as it is.
    pub is_trashed: bool,
}

impl Upload {
    /// The number of bytes that the account may store while the parts of the file count, too.
    fn limit(&self) -> Option<u64> {
        self.quota_bytes.map(|quota| quota.saturating_add(self.parts_bytes))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    /// The image is new, or failed before, and is queued for indexing.
    Queued(ImageId),
    /// The account has an image with these bytes.
    Duplicate(ImageId, ImageState),
    /// The account has an image with these bytes, and it is queued to be indexed with a sidecar that is new.
    Reindexed(ImageId),
    /// The account had deleted the image with these bytes, and it is restored.
    Restored(ImageId, ImageState),
}

/// A file that can be stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Original {
    pub(crate) hash: ContentHash,
    pub(crate) bytes: u64,
    pub(crate) format: Format,
}

/// Where the bytes of an [`Original`] are.
pub(crate) enum Source<'a> {
    /// In a file that belongs to somebody else.
    Local(&'a Path),
    /// In the staging folder; `None` once they were moved to the content store.
    Staged(Option<StagedFile>),
    /// In the content store already.
    Stored,
}

impl Ingest {
    /// Imports a file that arrives as a stream. Its format is detected from the first 4 KB, before the rest is read.
    /// The bytes are hashed while they are written to the staging folder, and the file is then moved into the content
    /// store. An image that the account deleted is restored.
    ///
    /// # Errors
    /// [`ImportError`]; nothing of the file is kept.
    pub async fn import_stream<E: Into<io::Error>>(
        &self,
        account: AccountId,
        upload: Upload,
        stream: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<ImportOutcome, ImportError> {
        // Held until the store counts the file.
        let mut room = self.reserve_file(account, &upload).await?;
        let (original, staged) = self.receive(account, &upload, &mut room, stream).await?;
        self.parts.store.mark_synced(account, self.parts.clock.now()).await?;
        let original = original.ok_or(ImportError::Refused(MediaError::Empty))?;
        self.store_original(account, original, &upload, Source::Staged(Some(staged))).await
    }

    /// Receives a stream into the staging folder. A stream without bytes has no original.
    pub(crate) async fn receive<E: Into<io::Error>>(
        &self,
        account: AccountId,
        upload: &Upload,
        room: &mut Reservation,
        stream: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<(Option<Original>, StagedFile), ImportError> {
        let max_bytes = self.parts.limits.max_upload_bytes;
        let mut file = self.parts.blobs.staging.create(upload.checksums.iter().cloned()).await?;
        let mut format = None;
        let mut stream = pin!(stream);
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| ImportError::Interrupted(error.into()))?;
            let received = file.bytes().saturating_add(chunk.len() as u64);
            if received > max_bytes {
                return Err(ImportError::TooLarge { max_bytes });
            }
            if let Some(expected) = upload.bytes.filter(|expected| received > *expected) {
                return Err(ImportError::WrongLength { expected });
            }
            room.cover(self, received).await?;
            file.write(&chunk).await?;
            if format.is_none() && file.head().len() >= HEAD_BYTES {
                format = Some(supported_format(file.head())?);
            }
        }
        if let Some(expected) = upload.bytes.filter(|expected| file.bytes() != *expected) {
            return Err(ImportError::WrongLength { expected });
        }
        if format.is_none() && file.bytes() > 0 {
            format = Some(supported_format(file.head())?);
        }
        let staged = file.finish().await?;
        let (hash, bytes) = (staged.fingerprint().hash, staged.fingerprint().bytes);
        self.check_room(account, upload, &hash, bytes).await?;
        Ok((format.map(|format| Original { hash, bytes, format }), staged))
    }

    /// Refuses a file before it is received if it is too long, and reserves room for it. Parts are stored already.
    pub(crate) async fn reserve_file(
        &self,
        account: AccountId,
        upload: &Upload,
    ) -> Result<Reservation, ImportError> {
        let max_bytes = self.parts.limits.max_upload_bytes;
        if upload.bytes.is_some_and(|expected| expected > max_bytes) {
            return Err(ImportError::TooLarge { max_bytes });
        }
        let quota_bytes = upload.quota_bytes.filter(|_| upload.parts_bytes == 0);
        self.reserve(account, quota_bytes, RoomFor::File, upload.bytes.unwrap_or_default()).await
    }

    /// Checks that the account has room for an original, before it is moved into the content store. The store checks
    /// again when it adds the image.
    async fn check_room(
        &self,
        account: AccountId,
        upload: &Upload,
        original: &ContentHash,
        bytes: u64,
    ) -> Result<(), ImportError> {
        let Some(quota_bytes) = upload.limit() else { return Ok(()) };
        let store = &self.parts.store;
        if exceeds_quota(store.stored_bytes(account).await?, bytes, Some(quota_bytes))
            && !store.stores_original(account, original).await?
        {
            return Err(ImportError::QuotaExceeded { quota_bytes });
        }
        Ok(())
    }

    /// Imports a local file, which stays where it is. Its time of modification is used unless `upload` has one. The caller
    /// has marked the account as synced.
    ///
    /// # Errors
    /// [`ImportError`]; nothing of the file is kept.
    pub(crate) async fn import_local_file(
        &self,
        account: AccountId,
        path: &Path,
        upload: Upload,
    ) -> Result<ImportOutcome, ImportError> {
        let max_bytes = self.parts.limits.max_upload_bytes;
        let owned = path.to_owned();
        let read = tokio::task::spawn_blocking(move || inspect(&owned, max_bytes));
        let (original, modified_at) =
            read.await.map_err(|error| ImportError::Read(io::Error::other(error)))??;
        let upload = Upload { modified_at: upload.modified_at.or(modified_at), ..upload };
        self.store_original(account, original, &upload, Source::Local(path)).await
    }

    /// Announces, writes and adds an original. If the process is killed in between, either the image exists or the
    /// register names a blob to remove.
    async fn store_original(
        &self,
        account: AccountId,
        original: Original,
        upload: &Upload,
        source: Source<'_>,
    ) -> Result<ImportOutcome, ImportError> {
        // A sidecar may be new although the file is not.
        if upload.sidecars.is_empty()
            && upload.sidecars_if_new.is_empty()
            && let Some(duplicate) = self.find_duplicate(account, &original.hash).await?
        {
            return Ok(duplicate);
        }
        let image = &self.new_image(account, original, upload)?;
        let outcome = self.with_original(original, source, || {
            async move { import_outcome(self.parts.store.add_image(image.clone()).await?, image) }.boxed()
        });
        let outcome = outcome.await?;
        self.parts.indexer.queue_changed();
        Ok(outcome)
    }

    /// Announces and writes an original, and then calls `add`, which refers to it in the store. This is repeated while
    /// `add` returns `None` because the original was removed in between.
    pub(crate) async fn with_original<'f, T>(
        &self,
        original: Original,
        mut source: Source<'_>,
        add: impl Fn() -> BoxFuture<'f, Result<Option<T>, ImportError>> + Send + Sync,
    ) -> Result<T, ImportError> {
        let blob = BlobRef { kind: BlobKind::Original, hash: original.hash, bytes: original.bytes };
        for _ in 0..MAX_ATTEMPTS {
            if self.parts.store.announce_blobs(&[blob], self.parts.clock.now()).await?
                == AnnounceOutcome::Ready
            {
                let content = &self.parts.blobs.content;
                match &mut source {
                    Source::Local(path) => {
                        content.put_file(BlobKind::Original, original.hash, path).await?;
                    }
                    Source::Staged(staged) => {
                        let staged = staged.take().ok_or(ImportError::BeingRemoved)?;
                        content.put_staged(BlobKind::Original, staged).await?;
                    }
                    Source::Stored => {}
                }
                if let Some(added) = add().await? {
                    return Ok(added);
                }
            }
            self.parts.roles.finish_removals().await?;
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        Err(ImportError::BeingRemoved)
    }

    /// The image with these bytes, if nothing has to be written. An original that is lost or could not be decoded is
    /// stored again.
    async fn find_duplicate(
        &self,
        account: AccountId,
        hash: &ContentHash,
    ) -> Result<Option<ImportOutcome>, ImportError> {
        let existing = self.parts.store.image_by_original(account, hash).await?;
        let Some(existing) = existing.filter(|existing| !existing.deleted) else { return Ok(None) };
        let is_stored = match existing.state {
            ImageState::Pending | ImageState::Ready => {
                self.parts.blobs.content.contains(BlobKind::Original, *hash).await?
            }
            ImageState::Failed { .. } => false,
        };
        Ok(is_stored.then(|| duplicate(existing)))
    }

    pub(crate) fn new_image(
        &self,
        account: AccountId,
        original: Original,
        upload: &Upload,
    ) -> Result<NewImage, ImportError> {
        let id = new_id(self.random()).map_err(Unavailable::from)?;
        // A new id is always valid.
        let id = ImageId::parse(id).ok_or(Unavailable::Random(keys::RandomError))?;
        Ok(NewImage {
            id,
            account,
            original: original.hash,
            original_bytes: original.bytes,
            media_type: original.format.media_type(),
            file_name: upload.name.as_deref().map(composed).as_deref().and_then(clean_text),
            modified_at: upload.modified_at,
            added_at: self.parts.clock.now(),
            sidecars: upload.sidecars.clone(),
            sidecars_if_missing: upload.sidecars_if_new.clone(),
            restore_deleted: if upload.is_trashed { RestoreDeleted::Never } else { upload.restore_deleted },
            is_deleted: upload.is_trashed,
            quota_bytes: upload.limit(),
        })
    }
}

fn duplicate(existing: ExistingImage) -> ImportOutcome {
    ImportOutcome::Duplicate(existing.id, existing.state)
}

/// `None` when the original was removed in between.
fn import_outcome(added: AddOutcome, new: &NewImage) -> Result<Option<ImportOutcome>, ImportError> {
    Ok(match added {
        AddOutcome::Added => Some(ImportOutcome::Queued(new.id.clone())),
        AddOutcome::Retried(id) => Some(ImportOutcome::Queued(id)),
        AddOutcome::Duplicate(existing) | AddOutcome::StaysDeleted(existing) => Some(duplicate(existing)),
        AddOutcome::Reindexed(existing) => Some(ImportOutcome::Reindexed(existing.id)),
        AddOutcome::Restored(existing) => Some(ImportOutcome::Restored(existing.id, existing.state)),
        AddOutcome::OriginalGone => None,
        AddOutcome::QuotaExceeded => {
            let quota_bytes = new.quota_bytes.unwrap_or_default();
            return Err(ImportError::QuotaExceeded { quota_bytes });
        }
        AddOutcome::AccountGone => return Err(ImportError::AccountGone),
    })
}

/// The format of a file by its first bytes.
pub(crate) fn supported_format(head: &[u8]) -> Result<Format, ImportError> {
    if head.is_empty() {
        return Err(ImportError::Refused(MediaError::Empty));
    }
    media::supported_format(head).map_err(ImportError::Refused)
}

/// Checks the length and the first bytes of a local file, and then hashes it. Also returns when it was modified. Blocks.
fn inspect(path: &Path, max_bytes: u64) -> Result<(Original, Option<Timestamp>), ImportError> {
    let metadata = std::fs::metadata(path).map_err(ImportError::Read)?;
    if metadata.len() > max_bytes {
        return Err(ImportError::TooLarge { max_bytes });
    }
    let mut head = Vec::with_capacity(HEAD_BYTES);
    let file = File::open(path).map_err(ImportError::Read)?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(ImportError::Read)?;
    let format = supported_format(&head)?;
    let modified_at = metadata.modified().ok().and_then(|modified| {
        let millis = match modified.duration_since(std::time::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).ok()?,
            Err(before) => i64::try_from(before.duration().as_millis()).ok()?.checked_neg()?,
        };
        Timestamp::from_millis(millis)
    });
    let fingerprint = blobs::fingerprint(path).map_err(ImportError::Read)?;
    if fingerprint.bytes > max_bytes {
        return Err(ImportError::TooLarge { max_bytes });
    }
    if fingerprint.head != head {
        return Err(ImportError::Changed);
    }
    let original = Original { hash: fingerprint.hash, bytes: fingerprint.bytes, format };
    Ok((original, modified_at))
}
