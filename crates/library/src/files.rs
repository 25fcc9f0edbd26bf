//! The synced files of an account, and the photos in them.

use std::{io, pin::pin};

use bytes::Bytes;
use domain::{FilePath, Sidecar, SidecarKind};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use media::MediaError;
use storage::{
    FileChange, FileCondition, FileContent, FileEntry, FileId, FileImage, FileKind, FileListing, FileLock,
    FileMove, FileRefusal, FileTimes, FileWritten, LockToken, NewFile, NewFileContent, NewImage,
    StorageError,
};

use crate::{
    Caller, Checksum, ImportError, Library, Unavailable, Upload,
    import::{Original, Source},
    sidecars::MAX_SIDECAR_BYTES,
};

/// Extensions of the temporary names under which some apps upload a file before they move it to its final name.
const PARTIAL_EXTENSIONS: [&str; 5] = [".part", ".tmp", ".tacitpart", ".filepart", ".partial"];

/// Maximum number of files that are considered when a sidecar and its photo are matched.
const MAX_SIDECAR_CANDIDATES: u32 = 1000;

/// How many deleted files one write covers, so that other writes wait only briefly.
const SWEEP_BATCH: u32 = 200;

/// A file to put.
#[derive(Debug, Clone, Default)]
pub struct PutFile {
    /// Its path.
    pub path: FilePath,
    /// Its length in bytes, if the client announced it.
    pub bytes: Option<u64>,
    /// Its checksum, if the client announced it.
    pub checksum: Option<Checksum>,
    /// Its times as sent.
    pub times: FileTimes,
    /// Whether missing folders above it are created.
    pub create_folders: bool,
    /// What must be at the path.
    pub condition: FileCondition,
    /// The lock tokens that the client sent.
    pub lock_tokens: Vec<LockToken>,
}

/// A file or folder to move or copy.
#[derive(Debug, Clone)]
pub struct MoveFile {
    /// The present path.
    pub from: FilePath,
    /// The new path.
    pub to: FilePath,
    /// Whether an entry at the new path is replaced.
    pub overwrite: bool,
    /// Whether missing folders above the new path are created.
    pub create_folders: bool,
    /// What must be at the new path.
    pub condition: FileCondition,
    /// The lock tokens that the client sent.
    pub lock_tokens: Vec<LockToken>,
}

/// Why an operation on files failed. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It conflicts with what is there.
    #[error("{}", reason(*.0))]
    Refused(FileRefusal),
    /// The content was not accepted.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The service is unavailable.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<StorageError> for FileError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<FileRefusal> for FileError {
    fn from(refusal: FileRefusal) -> Self {
        Self::Refused(refusal)
    }
}

fn reason(refusal: FileRefusal) -> &'static str {
    match refusal {
        FileRefusal::NotFound => "there is no such file or folder",
        FileRefusal::NoParent => "the folder above does not exist",
        FileRefusal::Exists => "there is already a file or folder of this name",
        FileRefusal::IsFolder => "there is a folder of this name",
        FileRefusal::IntoItself => "a folder cannot be moved or copied into itself",
        FileRefusal::Condition => "the file has changed",
        FileRefusal::Locked => "the file is locked",
        FileRefusal::QuotaExceeded => "the account's storage is full",
        FileRefusal::TooMany => "there are too many files or locks",
        FileRefusal::OriginalGone => {
            "an earlier copy of the file is still being removed; try again in a moment"
        }
        FileRefusal::AccountGone => "the account was deleted",
    }
}

/// What the bytes of a file will be, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameKind {
    Photo { is_partial: bool },
    Sidecar(SidecarKind),
    Junk,
}

impl NameKind {
    fn of(name: &str) -> Self {
        let final_name = final_name(name);
        if media::is_junk_file_name(final_name) {
            return Self::Junk;
        }
        match media::sidecar_kind(final_name) {
            Some(kind) => Self::Sidecar(kind),
            None => Self::Photo { is_partial: final_name.len() < name.len() },
        }
    }
}

/// The name without the extension of a partial upload.
fn final_name(name: &str) -> &str {
    let extension = |extension: &&str| {
        let start = name.len().checked_sub(extension.len())?;
        let end = name.get(start..)?;
        end.eq_ignore_ascii_case(extension).then_some(start)
    };
    let found = PARTIAL_EXTENSIONS.iter().find_map(extension).filter(|start| *start > 0);
    found.and_then(|start| name.get(..start)).unwrap_or(name)
}

impl Library {
    /// The file or folder at a path.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn file(&self, caller: &Caller, path: &FilePath) -> Result<Option<FileEntry>, StorageError> {
        self.parts.store.file(caller.account.id, path).await
    }

    /// The image of a file; `None` if there is no such file or it has no image.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn image_of_file(
        &self,
        caller: &Caller,
        id: FileId,
    ) -> Result<Option<FileImage>, StorageError> {
        let entry = self.parts.store.file_by_id(caller.account.id, id).await?;
        Ok(entry.and_then(|entry| match entry.kind {
            FileKind::File(FileContent::Photo { image, .. }) => image,
            _ => None,
        }))
    }

    /// The file or folder at a path with its members, by name.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list_files(
        &self,
        caller: &Caller,
        path: &FilePath,
    ) -> Result<Option<FileListing>, StorageError> {
        self.parts.store.list_files(caller.account.id, path).await
    }

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
        self.check_put(caller, &file).await?;
        // An empty file is a placeholder, whatever its name.
        let mut stream = pin!(stream);
        let first = next_bytes(&mut stream).await?;
        let Some(first) = first else {
            check_length(&file, 0)?;
            return self.put_content(caller, &file, NewFileContent::Placeholder, 0).await;
        };
        let stream = stream::iter([Ok(first)]).chain(stream.map_err(Into::into));
        match NameKind::of(&name) {
            NameKind::Junk => {
                let bytes = self.skip(&file, stream).await?;
                self.put_content(caller, &file, NewFileContent::Junk, bytes).await
            }
            NameKind::Sidecar(kind) => self.put_sidecar(caller, file, kind, stream).await,
            NameKind::Photo { is_partial } => self.put_photo(caller, file, is_partial, stream).await,
        }
    }

    /// Refuses a file before its bytes are received. The store checks again when it adds the file.
    async fn check_put(&self, caller: &Caller, file: &PutFile) -> Result<(), FileError> {
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
        Ok(())
    }

    fn change(&self, caller: &Caller, lock_tokens: &[LockToken]) -> FileChange {
        let at = self.parts.clock.now();
        FileChange { account: caller.account.id, lock_tokens: lock_tokens.to_vec(), at }
    }

    async fn put_content(
        &self,
        caller: &Caller,
        file: &PutFile,
        content: NewFileContent,
        bytes: u64,
    ) -> Result<FileWritten, FileError> {
        let new = new_file(file, content, bytes);
        Ok(self.parts.store.put_file(self.change(caller, &file.lock_tokens), new).await??)
    }

    async fn put_photo(
        &self,
        caller: &Caller,
        file: PutFile,
        is_partial: bool,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<FileWritten, FileError> {
        let upload = self.upload_of(&file);
        let (original, staged) = self.receive(caller.account.id, &upload, stream).await?;
        let original = original.ok_or(ImportError::Refused(MediaError::Empty))?;
        let content = if is_partial {
            let media_type = original.format.media_type();
            NewFileContent::Partial { original: original.hash, media_type, quota_bytes: upload.quota_bytes }
        } else {
            NewFileContent::Photo(self.image_of(caller, &file.path, original, upload).await?)
        };
        let new = &new_file(&file, content, original.bytes);
        let change = &self.change(caller, &file.lock_tokens);
        let written = self.with_original(original, Source::Staged(Some(staged)), || async move {
            match self.parts.store.put_file(change.clone(), new.clone()).await? {
                Err(FileRefusal::OriginalGone) => Ok(None),
                other => Ok(Some(other)),
            }
        });
        let written = written.await??;
        self.parts.queue_changed.notify_one();
        Ok(written)
    }

    fn upload_of(&self, file: &PutFile) -> Upload {
        Upload {
            name: file.path.name().map(ToString::to_string),
            modified_at: file.times.modified_at,
            sidecars: Vec::new(),
            quota_bytes: self.parts.settings.account_quota_bytes,
            bytes: file.bytes,
            checksum: file.checksum,
        }
    }

    /// The image of a photo that is put at a path, with the sidecars beside it.
    async fn image_of(
        &self,
        caller: &Caller,
        path: &FilePath,
        original: Original,
        upload: Upload,
    ) -> Result<NewImage, FileError> {
        let sidecars = self.sidecars_beside(caller, path).await?;
        let image = self.new_image(caller.account.id, original, &Upload { sidecars, ..upload })?;
        Ok(NewImage { restore_deleted: false, ..image })
    }

    async fn sidecars_beside(&self, caller: &Caller, path: &FilePath) -> Result<Vec<Sidecar>, StorageError> {
        let (Some(name), Some(folder)) = (path.name(), path.parent()) else { return Ok(Vec::new()) };
        let beside = self.beside(caller, &folder, media::sidecar_prefix(name.as_str())).await?;
        let candidates: Vec<(&str, FileId, SidecarKind)> = beside
            .iter()
            .filter_map(|entry| match (&entry.name, &entry.kind) {
                (Some(name), FileKind::File(FileContent::Sidecar(kind))) => {
                    Some((name.as_str(), entry.id, *kind))
                }
                _ => None,
            })
            .collect();
        let names: Vec<&str> = candidates.iter().map(|(name, ..)| *name).collect();
        let matches = media::match_sidecars(&[name.as_str()], &names);
        let mut sidecars = Vec::new();
        for index in matches.by_photo.iter().flat_map(|found| [found.xmp, found.takeout]).flatten() {
            let Some((_, id, kind)) = candidates.get(index) else { continue };
            if let Some(content) = self.parts.store.sidecar_content(caller.account.id, *id).await? {
                sidecars.push(Sidecar { kind: *kind, content });
            }
        }
        Ok(sidecars)
    }

    async fn beside(
        &self,
        caller: &Caller,
        folder: &FilePath,
        prefix: &str,
    ) -> Result<Vec<FileEntry>, StorageError> {
        let store = &self.parts.store;
        store.files_with_prefix(caller.account.id, folder, prefix, MAX_SIDECAR_CANDIDATES).await
    }

    async fn put_sidecar(
        &self,
        caller: &Caller,
        file: PutFile,
        kind: SidecarKind,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<FileWritten, FileError> {
        let content = collect(&file, stream).await?;
        if !media::is_sidecar_content(kind, &content) {
            // Its name promises a description of a photo, but it is something else.
            return Err(ImportError::Refused(MediaError::UnknownFormat).into());
        }
        let bytes = content.len() as u64;
        let stored = NewFileContent::Sidecar(kind, content.clone());
        let written = self.put_content(caller, &file, stored, bytes).await?;
        self.apply_sidecar(caller, &file.path, Sidecar { kind, content }).await?;
        Ok(written)
    }

    /// Applies a sidecar to the photos beside it that it describes.
    async fn apply_sidecar(
        &self,
        caller: &Caller,
        path: &FilePath,
        sidecar: Sidecar,
    ) -> Result<(), StorageError> {
        let (Some(name), Some(folder)) = (path.name(), path.parent()) else { return Ok(()) };
        let beside = self.beside(caller, &folder, media::photo_prefix(name.as_str())).await?;
        let photos: Vec<(&str, &FileImage)> = beside
            .iter()
            .filter_map(|entry| match (&entry.name, &entry.kind) {
                (Some(name), FileKind::File(FileContent::Photo { image: Some(image), .. })) => {
                    Some((name.as_str(), image))
                }
                _ => None,
            })
            .collect();
        let names: Vec<&str> = photos.iter().map(|(name, _)| *name).collect();
        let matches = media::match_sidecars(&names, &[name.as_str()]);
        for ((_, image), found) in photos.iter().zip(&matches.by_photo) {
            if found.xmp.or(found.takeout).is_some() {
                let at = self.parts.clock.now();
                let sidecars = vec![sidecar.clone()];
                self.parts.store.add_sidecars(caller.account.id, &image.id, sidecars, at).await?;
            }
        }
        self.parts.queue_changed.notify_one();
        Ok(())
    }

    /// Reads a stream whose bytes are not stored, and returns their number.
    async fn skip(
        &self,
        file: &PutFile,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<u64, FileError> {
        let max_bytes = self.parts.settings.max_upload_bytes;
        let mut stream = pin!(stream);
        let mut bytes = 0;
        while let Some(chunk) = next_bytes(&mut stream).await? {
            bytes += chunk.len() as u64;
            if bytes > max_bytes {
                return Err(ImportError::TooLarge { max_bytes }.into());
            }
        }
        check_length(file, bytes)?;
        Ok(bytes)
    }

    /// Creates a folder, and those above it if `create_folders`.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn create_folder(
        &self,
        caller: &Caller,
        path: &FilePath,
        create_folders: bool,
        lock_tokens: &[LockToken],
    ) -> Result<FileEntry, FileError> {
        let change = self.change(caller, lock_tokens);
        Ok(self.parts.store.create_folder(change, path, create_folders).await??)
    }

    /// Moves a file or folder. A file that was uploaded under a temporary name becomes an image under its final name.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn move_file(&self, caller: &Caller, file: MoveFile) -> Result<FileWritten, FileError> {
        let name = file.to.name().ok_or(FileRefusal::IntoItself)?.as_str();
        let source = self.file(caller, &file.from).await?.ok_or(FileRefusal::NotFound)?;
        let change = self.change(caller, &file.lock_tokens);
        let partial =
            partial_original(&source).filter(|_| NameKind::of(name) == NameKind::Photo { is_partial: false });
        let written = match partial {
            None => self.parts.store.move_file(change, file_move(&file, None)).await??,
            Some(original) => self.move_partial(caller, &file, original, source.times).await?,
        };
        self.sweep_deleted_files(caller).await?;
        Ok(written)
    }

    async fn move_partial(
        &self,
        caller: &Caller,
        file: &MoveFile,
        original: Original,
        times: FileTimes,
    ) -> Result<FileWritten, FileError> {
        let put = PutFile { path: file.to.clone(), times, ..PutFile::default() };
        let image = self.image_of(caller, &file.to, original, self.upload_of(&put)).await?;
        let change = &self.change(caller, &file.lock_tokens);
        let file_move = &file_move(file, Some(image));
        let moved = self.with_original(original, Source::Stored, || async move {
            match self.parts.store.move_file(change.clone(), file_move.clone()).await? {
                Err(FileRefusal::OriginalGone) => Ok(None),
                other => Ok(Some(other)),
            }
        });
        let written = moved.await??;
        self.parts.queue_changed.notify_one();
        Ok(written)
    }

    /// Copies a file or folder.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn copy_file(&self, caller: &Caller, file: MoveFile) -> Result<FileWritten, FileError> {
        let change = self.change(caller, &file.lock_tokens);
        let written = self.parts.store.copy_file(change, file_move(&file, None)).await??;
        self.sweep_deleted_files(caller).await?;
        Ok(written)
    }

    /// Deletes a file, or a folder with everything below it, and the images whose last file is gone.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn delete_file(
        &self,
        caller: &Caller,
        path: &FilePath,
        condition: FileCondition,
        lock_tokens: &[LockToken],
    ) -> Result<(), FileError> {
        let change = self.change(caller, lock_tokens);
        self.parts.store.delete_file(change, path, condition).await??;
        self.sweep_deleted_files(caller).await?;
        Ok(())
    }

    /// Deletes the files of an account that left the tree. If the process is killed before it is done, the periodic
    /// clean-up continues.
    async fn sweep_deleted_files(&self, caller: &Caller) -> Result<(), StorageError> {
        let (store, account) = (&self.parts.store, Some(caller.account.id));
        while store.sweep_deleted_files(account, self.parts.clock.now(), SWEEP_BATCH).await? == SWEEP_BATCH {}
        Ok(())
    }

    /// Changes the times of a file or folder; a time that is `None` stays.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn set_file_times(
        &self,
        caller: &Caller,
        path: &FilePath,
        times: FileTimes,
        lock_tokens: &[LockToken],
    ) -> Result<FileEntry, FileError> {
        let change = self.change(caller, lock_tokens);
        Ok(self.parts.store.set_file_times(change, path, times).await??)
    }

    /// Locks a file or folder, which is created as a placeholder if nothing is there.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn lock_file(
        &self,
        caller: &Caller,
        lock: FileLock,
        lock_tokens: &[LockToken],
    ) -> Result<FileWritten, FileError> {
        let change = self.change(caller, lock_tokens);
        Ok(self.parts.store.lock_file(change, lock).await??)
    }

    /// Extends a lock that applies to a path for this many milliseconds from now; `None` if there is no such lock.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn refresh_lock(
        &self,
        caller: &Caller,
        path: &FilePath,
        token: &str,
        duration_ms: i64,
    ) -> Result<Option<FileLock>, StorageError> {
        let change = self.change(caller, &[]);
        let expires_at = change.at.plus_millis(duration_ms);
        self.parts.store.refresh_lock(change, path, token, expires_at).await
    }

    /// Ends a lock that applies to a path; `false` if there is no such lock.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn unlock_file(
        &self,
        caller: &Caller,
        path: &FilePath,
        token: &str,
    ) -> Result<bool, StorageError> {
        self.parts.store.unlock_file(self.change(caller, &[]), path, token).await
    }

    /// The locks that apply to a path.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn file_locks(&self, caller: &Caller, path: &FilePath) -> Result<Vec<FileLock>, StorageError> {
        self.parts.store.file_locks(caller.account.id, path, self.parts.clock.now()).await
    }

    /// The number of bytes that the caller's account stores, and its quota if it has one.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn storage_use(&self, caller: &Caller) -> Result<(u64, Option<u64>), StorageError> {
        let stored = self.parts.store.stored_bytes(caller.account.id).await?;
        Ok((stored, self.parts.settings.account_quota_bytes))
    }
}

fn new_file(file: &PutFile, content: NewFileContent, bytes: u64) -> NewFile {
    NewFile {
        path: file.path.clone(),
        content,
        bytes,
        times: file.times,
        sha1: match file.checksum {
            Some(Checksum::Sha1(sha1)) => Some(sha1),
            _ => None,
        },
        create_folders: file.create_folders,
        condition: file.condition.clone(),
    }
}

fn file_move(file: &MoveFile, image: Option<NewImage>) -> FileMove {
    FileMove {
        from: file.from.clone(),
        to: file.to.clone(),
        overwrite: file.overwrite,
        create_folders: file.create_folders,
        condition: file.condition.clone(),
        image,
    }
}

/// The original of a partial file.
fn partial_original(entry: &FileEntry) -> Option<Original> {
    match &entry.kind {
        FileKind::File(FileContent::Partial { original, media_type }) => {
            let format = media::Format::from_media_type(media_type)?;
            Some(Original { hash: *original, bytes: entry.bytes, format })
        }
        _ => None,
    }
}

/// The next chunk that has bytes.
async fn next_bytes<E: Into<io::Error>>(
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

fn check_length(file: &PutFile, bytes: u64) -> Result<(), ImportError> {
    match file.bytes {
        Some(expected) if expected != bytes => Err(ImportError::WrongLength { expected }),
        _ => Ok(()),
    }
}

/// Reads a sidecar into memory.
async fn collect(
    file: &PutFile,
    stream: impl Stream<Item = io::Result<Bytes>> + Send,
) -> Result<Vec<u8>, ImportError> {
    let mut stream = pin!(stream);
    let mut content = Vec::new();
    while let Some(chunk) = next_bytes(&mut stream).await? {
        if content.len() as u64 + chunk.len() as u64 > MAX_SIDECAR_BYTES {
            return Err(ImportError::TooLarge { max_bytes: MAX_SIDECAR_BYTES });
        }
        content.extend_from_slice(&chunk);
    }
    check_length(file, content.len() as u64)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_will_be() {
        let photo = |is_partial| NameKind::Photo { is_partial };
        for (name, expect) in [
            ("a.jpg", photo(false)),
            ("a.jpg.part", photo(true)),
            ("a.JPG.TacitPart", photo(true)),
            (".part", photo(false)),
            ("a.xmp", NameKind::Sidecar(SidecarKind::Xmp)),
            ("a.jpg.xmp.tmp", NameKind::Sidecar(SidecarKind::Xmp)),
            ("._a.jpg", NameKind::Junk),
            (".DS_Store", NameKind::Junk),
        ] {
            assert_eq!(NameKind::of(name), expect, "{name}");
        }
    }
}
