use accounts::Caller;
use domain::{AccountId, FilePath};
use futures_util::FutureExt as _;
use media::MediaError;
use storage::{
    FileChange, FileCondition, FileContent, FileEntry, FileKind, FileMove, FileRefusal, FileTimes,
    FileWritten, LockToken, NewImage, StorageError,
};

use super::{FileError, PutFile, name_kind::NameKind};
use crate::{
    ImportError, Ingest,
    import::{Original, Source},
};

/// How many deleted files one write covers, so that other writes wait only briefly.
const SWEEP_BATCH: u32 = 200;

/// How many such writes a request waits for. The rest of a large folder is left to the background.
const SWEEPS_PER_REQUEST: u32 = 5;

/// A file or folder to move or copy.
#[derive(Debug, Clone)]
pub struct MoveFile {
    /// The present path.
    pub from: FilePath,
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

/// What happens to the source.
#[derive(Debug, Clone, Copy)]
enum Transfer {
    /// It disappears.
    Move,
    /// It stays.
    Copy,
}

impl Ingest {
    /// Creates a folder, and those above it if `create_folders`.
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
    pub async fn move_file(&self, caller: &Caller, file: MoveFile) -> Result<FileWritten, FileError> {
        self.transfer(caller, file, Transfer::Move).await
    }

    /// Copies a file or folder, like [`move_file`](Self::move_file).
    pub async fn copy_file(&self, caller: &Caller, file: MoveFile) -> Result<FileWritten, FileError> {
        self.transfer(caller, file, Transfer::Copy).await
    }

    async fn transfer(
        &self,
        caller: &Caller,
        file: MoveFile,
        kind: Transfer,
    ) -> Result<FileWritten, FileError> {
        let name = file.to.name().ok_or(FileRefusal::IntoItself)?.as_str();
        let source = self.file(caller, &file.from).await?.ok_or(FileRefusal::NotFound)?;
        let name = NameKind::of(name);
        if source.kind == FileKind::File(FileContent::Junk) && name != NameKind::Junk {
            // The bytes of a junk file were not stored. A photo of this name would be lost.
            return Err(ImportError::Refused(MediaError::UnknownFormat).into());
        }
        let replaces_folder = self.is_folder(caller, &file.to).await?;
        let partial = partial_original(&source).filter(|_| name == NameKind::Photo { is_partial: false });
        let written = match partial {
            None => {
                let change = self.change(caller, &file.lock_tokens);
                self.transfer_row(kind, change, file_move(&file, None)).await??
            }
            Some(original) => self.transfer_partial(caller, &file, kind, original, source.times).await?,
        };
        self.finish_transfer(caller, &file.to, &written, replaces_folder).await;
        Ok(written)
    }

    async fn transfer_row(
        &self,
        kind: Transfer,
        change: FileChange,
        file: FileMove,
    ) -> Result<Result<FileWritten, FileRefusal>, StorageError> {
        match kind {
            Transfer::Move => self.parts.store.move_file(change, file).await,
            Transfer::Copy => self.parts.store.copy_file(change, file).await,
        }
    }

    async fn transfer_partial(
        &self,
        caller: &Caller,
        file: &MoveFile,
        kind: Transfer,
        original: Original,
        times: FileTimes,
    ) -> Result<FileWritten, FileError> {
        let put = PutFile { path: file.to.clone(), times, ..PutFile::default() };
        let image = self.image_of(caller, &file.to, original, self.upload_of(&put)).await?;
        let change = &self.change(caller, &file.lock_tokens);
        let file_move = &file_move(file, Some(image));
        let moved = self.with_original(original, Source::Stored, || {
            async move {
                match self.transfer_row(kind, change.clone(), file_move.clone()).await? {
                    Err(FileRefusal::OriginalGone) => Ok(None),
                    other => Ok(Some(other)),
                }
            }
            .boxed()
        });
        let written = moved.await??;
        self.parts.indexer.queue_changed();
        Ok(written)
    }

    async fn is_folder(&self, caller: &Caller, path: &FilePath) -> Result<bool, StorageError> {
        let entry = self.file(caller, path).await?;
        Ok(entry.is_some_and(|entry| entry.kind == FileKind::Folder))
    }

    /// Matches sidecars and deletes replaced files after a move or copy. The move or copy is already done, so a failure
    /// is only logged.
    async fn finish_transfer(
        &self,
        caller: &Caller,
        path: &FilePath,
        written: &FileWritten,
        replaced_folder: bool,
    ) {
        if let Err(error) = self.pair_moved(caller, path, &written.entry).await {
            tracing::warn!(%error, "a moved or copied file was not matched with its sidecars");
        }
        if replaced_folder {
            self.sweep_deleted_files(caller).await;
        }
    }

    /// Deletes a file, or a folder with everything below it, and the images whose last file is gone.
    pub async fn delete_file(
        &self,
        caller: &Caller,
        path: &FilePath,
        condition: FileCondition,
        lock_tokens: &[LockToken],
    ) -> Result<(), FileError> {
        let is_folder = self.is_folder(caller, path).await?;
        let change = self.change(caller, lock_tokens);
        self.parts.store.delete_file(change, path, condition).await??;
        if is_folder {
            self.sweep_deleted_files(caller).await;
        }
        Ok(())
    }

    /// Deletes what was in a folder that left the tree. Much of it is deleted in the background. If that fails or the
    /// process is killed, the periodic clean-up continues.
    async fn sweep_deleted_files(&self, caller: &Caller) {
        let account = caller.account.id;
        if !self.sweep_batches(account, SWEEPS_PER_REQUEST).await {
            let ingest = self.clone();
            tokio::spawn(async move { ingest.sweep_batches(account, u32::MAX).await });
        }
    }

    /// Sweeps up to `max` batches; `false` if something is left that the next batch may sweep.
    async fn sweep_batches(&self, account: AccountId, max: u32) -> bool {
        for _ in 0..max {
            let now = self.parts.clock.now();
            match self.parts.store.sweep_deleted_files(Some(account), now, SWEEP_BATCH).await {
                Ok(SWEEP_BATCH) => {}
                Ok(_) => return true,
                Err(error) => {
                    tracing::warn!(%error, "a deleted folder was not swept; it will be retried");
                    return true;
                }
            }
        }
        false
    }

    /// Changes the times of a file or folder; a time that is `None` stays.
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

fn partial_original(entry: &FileEntry) -> Option<Original> {
    match &entry.kind {
        FileKind::File(FileContent::Partial { original, media_type }) => {
            let format = media::Format::from_media_type(media_type)?;
            Some(Original { hash: *original, bytes: entry.bytes, format })
        }
        _ => None,
    }
}
