use domain::FilePath;
use storage::{
    FileCondition, FileContent, FileEntry, FileKind, FileMove, FileRefusal, FileTimes, FileWritten,
    LockToken, NewImage, StorageError,
};

use super::{FileError, PutFile, name_kind::NameKind};
use crate::{
    Caller, Library,
    import::{Original, Source},
};

/// How many deleted files one write covers, so that other writes wait only briefly.
const SWEEP_BATCH: u32 = 200;

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

impl Library {
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
