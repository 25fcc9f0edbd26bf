use std::{io, path::Path, time::Duration};

use blobs::{BlobError, Fingerprint, PutError, Staged};
use domain::{AccountId, BlobKind, ImageId, Sidecar, Timestamp, clean_text};
use keys::new_id;
use media::{Format, MediaError};
use storage::{AddOutcome, AnnounceOutcome, BlobRef, ExistingImage, ImageState, NewImage, StorageError};

use crate::{Library, Unavailable, indexing::StorageErrorOrBlob};

/// How often a file is offered anew when its blob is just being removed, and how long to wait in between.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(200);

/// What is known of a file besides its bytes.
#[derive(Debug, Clone, Default)]
pub struct FileFacts {
    /// Its name, without folders.
    pub name: Option<String>,
    /// When it was last modified, as its bringer says.
    pub modified_at: Option<Timestamp>,
    /// What came beside it and describes it.
    pub sidecars: Vec<Sidecar>,
}

/// What became of a file that was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// It is new, or is tried again, and will be indexed.
    Queued(ImageId),
    /// The account has these bytes already.
    Duplicate(ImageId, ImageState),
    /// The account had deleted these bytes and has them back.
    Restored(ImageId, ImageState),
}

/// Why a file was not taken in; nothing of it is kept.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is no photo that can be read here, as its first bytes tell.
    #[error(transparent)]
    Refused(MediaError),
    /// It is longer than allowed.
    #[error("the file has {bytes} bytes, more than the {max_bytes} that are allowed")]
    TooLarge {
        /// Its length.
        bytes: u64,
        /// The most that are allowed.
        max_bytes: u64,
    },
    /// It changed while it was read; it can be tried again.
    #[error("the file changed while it was read")]
    Changed,
    /// It cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(io::Error),
    /// Its earlier copy is just being removed; it can be tried again.
    #[error("an earlier copy of the file is still being removed; try again in a moment")]
    BeingRemoved,
    /// The account was deleted.
    #[error("the account was deleted")]
    AccountGone,
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The service cannot answer now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl ImportError {
    /// Whether something other than the file is at fault, so that other files would fare no better.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Blob(_) | Self::Unavailable(_) | Self::AccountGone)
    }
}

impl From<StorageError> for ImportError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<StorageErrorOrBlob> for ImportError {
    fn from(error: StorageErrorOrBlob) -> Self {
        match error {
            StorageErrorOrBlob::Storage(error) => error.into(),
            StorageErrorOrBlob::Blob(error) => Self::Blob(error),
        }
    }
}

impl From<PutError> for ImportError {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Changed => Self::Changed,
            PutError::Read(error) => Self::Read(error),
            PutError::Blob(error) => Self::Blob(error),
        }
    }
}

impl Library {
    /// Takes in a file from the machine's disk.
    ///
    /// # Errors
    /// [`ImportError`]; nothing of the file is kept.
    pub async fn import_file(&self, account: AccountId, path: &Path) -> Result<Received, ImportError> {
        self.mark_synced(account).await?;
        self.take_in(account, path, Vec::new()).await
    }

    /// [`Self::import_file`] for an account whose sync is marked already, with what describes the file.
    pub(crate) async fn take_in(
        &self,
        account: AccountId,
        path: &Path,
        sidecars: Vec<Sidecar>,
    ) -> Result<Received, ImportError> {
        let max_bytes = self.parts.settings.max_upload_bytes;
        let owned = path.to_owned();
        let read = tokio::task::spawn_blocking(move || inspect(&owned, max_bytes));
        let (fingerprint, facts) =
            read.await.map_err(|error| ImportError::Read(io::Error::other(error)))??;
        self.receive(account, &fingerprint, &FileFacts { sidecars, ..facts }, path).await
    }

    /// Takes in a file that arrived over the network.
    ///
    /// # Errors
    /// [`ImportError`]; nothing of the file is kept.
    pub async fn import_staged(
        &self,
        account: AccountId,
        staged: &Staged,
        facts: &FileFacts,
    ) -> Result<Received, ImportError> {
        self.mark_synced(account).await?;
        self.receive(account, &staged.fingerprint, facts, staged.path()).await
    }

    /// Announces, writes and adds an original, so that whatever is killed when, either the image is there or the
    /// register knows of a blob to remove.
    async fn receive(
        &self,
        account: AccountId,
        fingerprint: &Fingerprint,
        facts: &FileFacts,
        path: &Path,
    ) -> Result<Received, ImportError> {
        let format = acceptable(fingerprint, self.parts.settings.max_upload_bytes)?;
        // What came beside it may be new although the file is not.
        if facts.sidecars.is_empty()
            && let Some(received) = self.already_there(account, fingerprint).await?
        {
            return Ok(received);
        }
        let image = self.new_image(account, fingerprint, format, facts)?;
        let blob = BlobRef { kind: BlobKind::Original, hash: fingerprint.hash, bytes: fingerprint.bytes };
        for _ in 0..TRIES {
            if self.parts.store.announce_blobs(&[blob], self.parts.clock.now()).await?
                == AnnounceOutcome::Ready
            {
                self.parts.blobs.put_file(BlobKind::Original, fingerprint.hash, path).await?;
                let outcome = self.parts.store.add_image(image.clone()).await?;
                if let Some(received) = received(outcome, &image.id)? {
                    self.parts.queue_changed.notify_one();
                    return Ok(received);
                }
            }
            self.finish_removals().await?;
            tokio::time::sleep(PAUSE).await;
        }
        Err(ImportError::BeingRemoved)
    }

    /// Answers for bytes that need not be written again. An original that was lost, or that could not be read, is
    /// taken in once more: whoever brings a file again wants it there.
    async fn already_there(
        &self,
        account: AccountId,
        fingerprint: &Fingerprint,
    ) -> Result<Option<Received>, ImportError> {
        let known = self.parts.store.image_by_original(account, &fingerprint.hash).await?;
        let Some(known) = known.filter(|known| !known.deleted) else { return Ok(None) };
        let is_there = match known.state {
            ImageState::Pending => true,
            ImageState::Ready => self.parts.blobs.contains(BlobKind::Original, fingerprint.hash).await?,
            ImageState::Failed { .. } => false,
        };
        Ok(is_there.then(|| duplicate(known)))
    }

    fn new_image(
        &self,
        account: AccountId,
        fingerprint: &Fingerprint,
        format: Format,
        facts: &FileFacts,
    ) -> Result<NewImage, ImportError> {
        let id = new_id(self.random()).map_err(Unavailable::from)?;
        // A new id has the characters of one.
        let id = ImageId::parse(id).ok_or(Unavailable::Random(keys::RandomError))?;
        Ok(NewImage {
            id,
            account,
            original: fingerprint.hash,
            original_bytes: fingerprint.bytes,
            media_type: format.media_type(),
            file_name: facts.name.as_deref().and_then(clean_text),
            modified_at: facts.modified_at,
            added_at: self.parts.clock.now(),
            sidecars: facts.sidecars.clone(),
        })
    }
}

fn duplicate(known: ExistingImage) -> Received {
    Received::Duplicate(known.id, known.state)
}

/// `None`: the original was removed meanwhile.
fn received(outcome: AddOutcome, new: &ImageId) -> Result<Option<Received>, ImportError> {
    Ok(match outcome {
        AddOutcome::Added => Some(Received::Queued(new.clone())),
        AddOutcome::Retried(id) => Some(Received::Queued(id)),
        AddOutcome::Duplicate(known) | AddOutcome::Reindexed(known) => Some(duplicate(known)),
        AddOutcome::Restored(known) => Some(Received::Restored(known.id, known.state)),
        AddOutcome::OriginalGone => None,
        AddOutcome::AccountGone => return Err(ImportError::AccountGone),
    })
}

fn acceptable(fingerprint: &Fingerprint, max_bytes: u64) -> Result<Format, ImportError> {
    if fingerprint.bytes == 0 {
        return Err(ImportError::Refused(MediaError::Empty));
    }
    if fingerprint.bytes > max_bytes {
        return Err(ImportError::TooLarge { bytes: fingerprint.bytes, max_bytes });
    }
    media::supported_format(&fingerprint.head).map_err(ImportError::Refused)
}

/// Reads a file's facts and, unless it is too large, its fingerprint. It blocks.
fn inspect(path: &Path, max_bytes: u64) -> Result<(Fingerprint, FileFacts), ImportError> {
    let metadata = std::fs::metadata(path).map_err(ImportError::Read)?;
    if metadata.len() > max_bytes {
        return Err(ImportError::TooLarge { bytes: metadata.len(), max_bytes });
    }
    let modified_at = metadata.modified().ok().and_then(|modified| {
        let millis = match modified.duration_since(std::time::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).ok()?,
            Err(before) => i64::try_from(before.duration().as_millis()).ok()?.checked_neg()?,
        };
        Timestamp::from_millis(millis)
    });
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let fingerprint = blobs::fingerprint(path).map_err(ImportError::Read)?;
    Ok((fingerprint, FileFacts { name, modified_at, sidecars: Vec::new() }))
}
