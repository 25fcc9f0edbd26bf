//! The files of an export. Links are never followed, and files are renamed into place when they are complete.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use blobs::{BlobError, ContentStore, content_hash, create_private_file, fingerprint};
use domain::{BlobKind, ContentHash, Timestamp};
use futures_util::StreamExt as _;
use ring::digest;
use tokio::io::AsyncWriteExt as _;

use super::ExportError;

/// The outcome of writing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Written {
    /// It was missing or different.
    New,
    /// It is there already.
    Present,
    /// It cannot be written, for a reason that concerns only this file.
    Refused(String),
}

pub(super) struct ExportFolder {
    root: PathBuf,
}

impl ExportFolder {
    /// Opens the folder, and creates it if it does not exist.
    pub(super) async fn open(folder: PathBuf) -> Result<Self, ExportError> {
        blocking(folder.clone(), move || {
            let failed = failed(&folder);
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            // The folder itself may be a link, because the operator named it.
            let root = builder.create(&folder).and_then(|()| fs::canonicalize(&folder)).map_err(failed)?;
            Ok(Self { root })
        })
        .await
    }

    /// Creates a folder below the root, and returns its path.
    pub(super) async fn create_inner(&self, parts: Vec<String>) -> Result<PathBuf, ExportError> {
        let root = self.root.clone();
        blocking(root.clone(), move || {
            let mut folder = root;
            for part in parts {
                folder.push(part);
                create_folder(&folder)?;
            }
            Ok(folder)
        })
        .await
    }

    /// Writes a file at the root unless it is there.
    pub(super) async fn write_if_different(&self, name: &str, content: Vec<u8>) -> Result<(), ExportError> {
        let path = self.root.join(name);
        match write_if_different(path.clone(), content).await? {
            Written::Refused(reason) => Err(ExportError::Folder { path, source: io::Error::other(reason) }),
            Written::New | Written::Present => sync_folder(self.root.clone()).await,
        }
    }
}

fn create_folder(folder: &Path) -> Result<(), ExportError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let metadata = fs::symlink_metadata(folder).map_err(failed(folder))?;
            if metadata.is_dir() { Ok(()) } else { Err(ExportError::NotAFolder(folder.to_owned())) }
        }
        Err(source) => Err(ExportError::Folder { path: folder.to_owned(), source }),
    }
}

/// Makes the names of new files durable.
pub(super) async fn sync_folder(folder: PathBuf) -> Result<(), ExportError> {
    #[cfg(unix)]
    blocking(folder.clone(), move || {
        File::open(&folder).and_then(|it| it.sync_all()).map_err(failed(&folder))
    })
    .await?;
    #[cfg(not(unix))]
    drop(folder);
    Ok(())
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ExportError + use<> {
    let path = path.to_owned();
    move |source| ExportError::Folder { path, source }
}

async fn blocking<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce() -> Result<T, ExportError> + Send + 'static,
) -> Result<T, ExportError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(ExportError::Folder { path, source: io::Error::other(error) }),
    }
}

/// An original to write.
#[derive(Debug, Clone)]
pub(super) struct OriginalFile {
    pub(super) path: PathBuf,
    pub(super) hash: ContentHash,
    pub(super) bytes: u64,
    /// The time that the file gets.
    pub(super) modified_at: Timestamp,
}

/// Writes an original unless the file has its content. Its bytes are hashed on the way.
pub(super) async fn write_original(
    content: &ContentStore,
    original: OriginalFile,
) -> Result<Written, ExportError> {
    let OriginalFile { path, hash, bytes, modified_at } = original.clone();
    let checked = path.clone();
    let is_present = blocking(path.clone(), move || {
        let present = plain_length(&checked) == Some(bytes)
            && fingerprint(&checked).is_ok_and(|fingerprint| fingerprint.hash == hash);
        Ok(present)
    });
    if is_present.await? {
        return Ok(Written::Present);
    }
    let reader = match content.open(BlobKind::Original, hash, None).await {
        Err(BlobError::Missing { .. }) => return Ok(Written::Refused(LOST.to_owned())),
        reader => reader?,
    };
    let partial = partial_path(&path);
    let creating = partial.clone();
    let file =
        blocking(path.clone(), move || create_private_file(&creating).map_err(failed(&creating))).await?;
    let mut file = tokio::fs::File::from_std(file);
    let mut context = digest::Context::new(&digest::SHA256);
    let mut chunks = std::pin::pin!(reader.into_stream());
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        context.update(&chunk);
        file.write_all(&chunk).await.map_err(failed(&partial))?;
    }
    file.flush().await.map_err(failed(&partial))?;
    let file = file.into_std().await;
    let is_whole = context.finish().as_ref() == hash.as_bytes();
    blocking(path.clone(), move || {
        if !is_whole {
            drop(file);
            fs::remove_file(&partial).map_err(failed(&partial))?;
            return Ok(Written::Refused(DAMAGED.to_owned()));
        }
        // Only for display: the sidecar has the time.
        let _ = file.set_modified(system_time(modified_at));
        complete(&file, &partial, &path)
    })
    .await
}

const LOST: &str = "the original is missing from the blob store; `server fsck` lists what is lost";
const DAMAGED: &str =
    "the original in the blob store is damaged; `server fsck --checksums` lists what is damaged";
const IS_A_FOLDER: &str = "there is a folder of this name";

/// Writes a short file unless it has this content.
pub(super) async fn write_if_different(path: PathBuf, content: Vec<u8>) -> Result<Written, ExportError> {
    blocking(path.clone(), move || {
        let length = content.len() as u64;
        let is_present = plain_length(&path) == Some(length)
            && read_short(&path, length)
                .is_ok_and(|present| content_hash(&present) == content_hash(&content));
        if is_present {
            return Ok(Written::Present);
        }
        let partial = partial_path(&path);
        let mut file = create_private_file(&partial).map_err(failed(&partial))?;
        file.write_all(&content).map_err(failed(&partial))?;
        complete(&file, &partial, &path)
    })
    .await
}

fn read_short(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(max_bytes).read_to_end(&mut content)?;
    Ok(content)
}

/// The length of a file that is no link.
fn plain_length(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// The name of a file while it is written. The next run replaces it.
fn partial_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.partial"))
}

/// Syncs a file and gives it its name. A link of that name is replaced, not followed.
fn complete(file: &File, partial: &Path, path: &Path) -> Result<Written, ExportError> {
    file.sync_all().map_err(failed(partial))?;
    match fs::rename(partial, path) {
        Ok(()) => Ok(Written::New),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            fs::remove_file(partial).map_err(failed(partial))?;
            Ok(Written::Refused(IS_A_FOLDER.to_owned()))
        }
        Err(source) => Err(ExportError::Folder { path: path.to_owned(), source }),
    }
}

fn system_time(at: Timestamp) -> SystemTime {
    let duration = Duration::from_millis(at.millis().unsigned_abs());
    let time = if at.millis() < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(duration)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(duration)
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}
