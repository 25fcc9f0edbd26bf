use std::{io, pin::pin};

use accounts::Caller;
use blobs::ChecksumVerifier;
use bytes::Bytes;
use domain::{Checksum, ChecksumAlgorithm, FilePath};
use futures_util::{FutureExt as _, Stream, StreamExt as _, TryStreamExt as _, stream};
use media::MediaError;
use storage::{
    FileChange, FileCondition, FileKind, FileRefusal, FileTimes, FileWritten, LockToken, NewFile,
    NewFileContent, NewImage,
};

use super::{FileError, name_kind::NameKind, sidecars::collect};
use crate::{
    ImportError, Ingest, Upload,
    import::{Original, Source},
    reserved_bytes::Reservation,
};

#[derive(Debug, Clone, Default)]
pub struct PutFile {
    pub path: FilePath,
    /// Its length in bytes, if the client announced it.
    pub bytes: Option<u64>,
    /// The checksums that the client announced.
    pub checksums: Vec<Checksum>,
    /// Its times as sent.
    pub times: FileTimes,
    /// Whether missing folders above it are created.
    pub create_folders: bool,
    /// What must be at the path.
    pub condition: FileCondition,
    /// The lock tokens that the client sent.
    pub lock_tokens: Vec<LockToken>,
    /// The bytes of its upload's parts. They count as stored until the upload is finished, so the quota leaves them out.
    pub parts_bytes: u64,
}

impl PutFile {
    pub(super) fn verifier(&self) -> ChecksumVerifier {
        ChecksumVerifier::new(self.checksums.iter().cloned())
    }
}

impl Ingest {
    /// Creates or replaces a file from a stream, which is hashed while it is written. When this returns, the bytes and the
    /// file survive a loss of power. A photo becomes an image; a sidecar is applied to the photo beside it.
    ///
    /// # Errors
    /// [`FileError`]; nothing of the file is kept.
    pub async fn put_file<E: Into<io::Error> + Send>(
        &self,
        caller: &Caller,
        file: PutFile,
        stream: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<FileWritten, FileError> {
        let name = file.path.name().ok_or(FileRefusal::IsFolder)?.as_str().to_owned();
        let room = self.check_put(caller, &file).await?;
        // An empty file is a placeholder, whatever its name.
        let mut stream = pin!(stream);
        let first = next_bytes(&mut stream).await?;
        let Some(first) = first else {
            check_length(&file, 0)?;
            check_checksums(file.verifier())?;
            return self.put_content(caller, &file, NewFileContent::Placeholder, 0).await;
        };
        let stream = stream::iter([Ok(first)]).chain(stream.map_err(Into::into));
        match NameKind::of(&name) {
            NameKind::Junk => {
                drop(room);
                let bytes = self.skip(&file, stream).await?;
                self.put_content(caller, &file, NewFileContent::Junk, bytes).await
            }
            NameKind::Sidecar(kind) => {
                let content = collect(&file, stream).await?;
                drop(room);
                self.put_sidecar(caller, file, kind, content).await
            }
            NameKind::Photo { is_partial } => self.put_photo(caller, file, is_partial, room, stream).await,
        }
    }

    /// Refuses a file before its bytes are received, or reserves room for it. The store checks again when it adds the file.
    async fn check_put(&self, caller: &Caller, file: &PutFile) -> Result<Reservation, FileError> {
        let (store, account) = (&self.parts.store, caller.account.id);
        let present = store.file(account, &file.path).await?;
        if present.as_ref().is_some_and(|entry| entry.kind == FileKind::Folder) {
            return Err(FileRefusal::IsFolder.into());
        }
        if present.is_none() && !file.create_folders {
            let parent = store.file(account, &file.path.parent().unwrap_or_default()).await?;
            if parent.is_none_or(|parent| parent.kind != FileKind::Folder) {
                return Err(FileRefusal::NoParent.into());
            }
        }
        if !file.condition.is_met(present.map(|entry| (entry.id, entry.version))) {
            return Err(FileRefusal::Condition.into());
        }
        let locks = store.file_locks(account, &file.path, self.parts.clock.now()).await?;
        if locks.iter().any(|lock| !file.lock_tokens.contains(&lock.token)) {
            return Err(FileRefusal::Locked.into());
        }
        Ok(self.reserve_file(account, &self.upload_of(file)).await?)
    }

    pub(super) async fn put_content(
        &self,
        caller: &Caller,
        file: &PutFile,
        content: NewFileContent,
        bytes: u64,
    ) -> Result<FileWritten, FileError> {
        let new = new_file(file, content, bytes);
        Ok(self.parts.store.put_file(self.put_change(caller, file), new).await??)
    }

    fn put_change(&self, caller: &Caller, file: &PutFile) -> FileChange {
        let change = self.change(caller, &file.lock_tokens);
        let quota_bytes = change.quota_bytes.map(|quota| quota.saturating_add(file.parts_bytes));
        FileChange { quota_bytes, ..change }
    }

    async fn put_photo(
        &self,
        caller: &Caller,
        file: PutFile,
        is_partial: bool,
        mut room: Reservation,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<FileWritten, FileError> {
        let upload = self.upload_of(&file);
        let (original, staged) = self.receive(caller.account.id, &upload, &mut room, stream).await?;
        let original = original.ok_or(ImportError::Refused(MediaError::Empty))?;
        let content = if is_partial {
            let media_type = original.format.media_type();
            NewFileContent::Partial { original: original.hash, media_type }
        } else {
            NewFileContent::Photo(self.image_of(caller, &file.path, original, upload).await?)
        };
        let new = &new_file(&file, content, original.bytes);
        let change = &self.put_change(caller, &file);
        let written = self.with_original(original, Source::Staged(Some(staged)), || {
            async move {
                match self.parts.store.put_file(change.clone(), new.clone()).await? {
                    Err(FileRefusal::OriginalGone) => Ok(None),
                    other => Ok(Some(other)),
                }
            }
            .boxed()
        });
        let written = written.await??;
        // The store counts the file now.
        drop(room);
        self.parts.indexer.queue_changed();
        if let NewFileContent::Photo(image) = &new.content {
            // A sidecar that arrived in between found no photo.
            self.apply_sidecars_beside(caller, &file.path, &written.entry, &image.sidecars).await?;
        }
        Ok(written)
    }

    pub(super) fn upload_of(&self, file: &PutFile) -> Upload {
        Upload {
            name: file.path.name().map(ToString::to_string),
            modified_at: file.times.modified_at,
            quota_bytes: self.parts.limits.account_quota_bytes,
            parts_bytes: file.parts_bytes,
            bytes: file.bytes,
            checksums: file.checksums.clone(),
            ..Upload::default()
        }
    }

    /// The image of a photo that is put at a path, with the sidecars beside it.
    pub(super) async fn image_of(
        &self,
        caller: &Caller,
        path: &FilePath,
        original: Original,
        upload: Upload,
    ) -> Result<NewImage, FileError> {
        let sidecars = self.sidecars_beside(caller, path).await?;
        let image = self.new_image(caller.account.id, original, &Upload { sidecars, ..upload })?;
        Ok(NewImage { restore_deleted: storage::RestoreDeleted::IfDeletedWithFiles, ..image })
    }

    /// Reads a stream whose bytes are not stored, and returns their number.
    async fn skip(
        &self,
        file: &PutFile,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<u64, FileError> {
        let max_bytes = self.parts.limits.max_upload_bytes;
        let mut stream = pin!(stream);
        let mut bytes = 0;
        let mut verifier = file.verifier();
        while let Some(chunk) = next_bytes(&mut stream).await? {
            verifier.update(&chunk);
            bytes += chunk.len() as u64;
            if bytes > max_bytes {
                return Err(ImportError::TooLarge { max_bytes }.into());
            }
        }
        check_length(file, bytes)?;
        check_checksums(verifier)?;
        Ok(bytes)
    }
}

fn new_file(file: &PutFile, content: NewFileContent, bytes: u64) -> NewFile {
    NewFile {
        path: file.path.clone(),
        content,
        bytes,
        times: file.times,
        sha1: file
            .checksums
            .iter()
            .find(|checksum| checksum.algorithm() == ChecksumAlgorithm::Sha1)
            .and_then(|checksum| checksum.value().try_into().ok()),
        create_folders: file.create_folders,
        condition: file.condition.clone(),
    }
}

/// The next chunk that has bytes.
pub(super) async fn next_bytes<E: Into<io::Error>>(
    stream: &mut (impl Stream<Item = Result<Bytes, E>> + Unpin),
) -> Result<Option<Bytes>, ImportError> {
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| ImportError::Interrupted(error.into()))?;
        if !chunk.is_empty() {
            return Ok(Some(chunk));
        }
    }
    Ok(None)
}

/// Checks the checksums of bytes that a verifier has seen.
pub(super) fn check_checksums(verifier: ChecksumVerifier) -> Result<(), ImportError> {
    if verifier.matches() { Ok(()) } else { Err(ImportError::ChecksumMismatch) }
}

pub(super) fn check_length(file: &PutFile, bytes: u64) -> Result<(), ImportError> {
    match file.bytes {
        Some(expected) if expected != bytes => Err(ImportError::WrongLength { expected }),
        _ => Ok(()),
    }
}
