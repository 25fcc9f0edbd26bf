//! Opens the stores that the configuration names and builds the library on them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use blobs::{BlobError, BlobStore, restrict_permissions};
use keys::{Secret, SecretError, SystemRandom};
use library::{Library, StorageError, SystemClock};
use storage::SharedStore;
use storage_sqlite::{SqliteOptions, SqliteStore};

use crate::config::{Config, SecretSource};

/// What a command does when there is no library yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Creates the data folder and a library in it.
    Create,
    /// Creates a library if the data folder is there.
    CreateInFolder,
    /// Says so.
    Refuse,
}

/// Why the library cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(
        "There is no folder {}. Run `server serve` to create a library there, or name the library's folder with --data-dir",
        .0.display()
    )]
    NoFolder(PathBuf),
    #[error(
        "There is no library in {}. Run `server serve` to create one there, or name the library's folder with --data-dir",
        .0.display()
    )]
    NoLibrary(PathBuf),
    #[error("{} is not a folder; name one with --data-dir", .0.display())]
    NotAFolder(PathBuf),
    #[error("{}", unusable(path, source))]
    Unusable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("photos cannot be decoded: {0}")]
    Decoders(io::Error),
    #[error("{}", of_blobs(.0))]
    Blobs(#[from] BlobError),
    #[error("{}", of_secret(.0))]
    Secret(#[from] SecretError),
    #[error("the library cannot be opened: {0}")]
    CutOff(#[from] tokio::task::JoinError),
}

/// Opens the metadata store. It does not migrate.
pub(crate) async fn open_store(config: &Config, absent: Absent) -> Result<SharedStore, OpenError> {
    check_data_dir(config, absent)?;
    check_database(config, absent)?;
    Ok(Arc::new(SqliteStore::open(&config.database, SqliteOptions::default()).await?))
}

/// Opens the library with its tables up to date.
pub(crate) async fn open_library(config: &Config, absent: Absent) -> Result<Library, OpenError> {
    let store = open_store(config, absent).await?;
    for name in store.migrate().await? {
        tracing::info!(migration = name, "applied");
    }
    let folder = config.blobs.clone();
    // It may wait for a process that tidies up.
    let blobs = tokio::task::spawn_blocking(move || BlobStore::open_folder(&folder)).await??;
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom::new()));
    Library::new(store, blobs, clock, random, config.library.clone()).map_err(OpenError::Decoders)
}

/// The secret; its file is created when there is none, and taken away from other users who could open it.
pub(crate) fn load_secret(config: &Config) -> Result<Secret, OpenError> {
    let secret = config.secret.load(&SystemRandom::new())?;
    if let SecretSource::File(path) = &config.secret
        && restrict_permissions(path, 0o600).is_ok_and(|was_open| was_open)
    {
        tracing::warn!(
            "other users could open the secret file {}; if one of them may have read it, remove it and run \
             `server signing-key rotate --lost-secret`",
            path.display()
        );
    }
    Ok(secret)
}

/// Tidies up after processes that were killed. Without it the library is as good, only less tidy.
pub(crate) async fn recover(library: &Library) {
    if let Err(error) = library.recover().await {
        tracing::warn!(error, "what killed processes left was not tidied up; the next start tries again");
    }
}

/// Makes sure that there is a data folder, if anything of the library is in it.
pub(crate) fn check_data_dir(config: &Config, absent: Absent) -> Result<(), OpenError> {
    if absent == Absent::Create {
        return make_data_dir(&config.data_dir);
    }
    if !config.uses_data_dir() {
        return Ok(());
    }
    let folder = absolute(&config.data_dir);
    match fs::metadata(&folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(OpenError::NotAFolder(folder)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(OpenError::NoFolder(folder)),
        Err(source) => Err(OpenError::Unusable { path: folder, source }),
    }
}

/// The folder holds photos and a secret: others have no business in it.
fn make_data_dir(path: &Path) -> Result<(), OpenError> {
    let path = absolute(path);
    if path.exists() && !path.is_dir() {
        return Err(OpenError::NotAFolder(path));
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => OpenError::NotAFolder(path.clone()),
        _ => OpenError::Unusable { path: path.clone(), source },
    })?;
    warn_if_others_write(&path);
    Ok(())
}

/// Whoever writes to the folder can put another secret or database there. It may be shared on purpose, and stays.
#[cfg(unix)]
fn warn_if_others_write(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(metadata) = path.metadata() else { return };
    let (mode, shown) = (metadata.permissions().mode() & 0o777, path.display());
    if mode & 0o022 != 0 {
        tracing::warn!(
            "{shown} has the mode {mode:04o}, so that other users can write to it; chmod go-w {shown}"
        );
    }
}

#[cfg(not(unix))]
fn warn_if_others_write(_: &Path) {}

/// Makes sure that the database can be opened for writing.
fn check_database(config: &Config, absent: Absent) -> Result<(), OpenError> {
    let path = absolute(&config.database);
    let mut options = fs::File::options();
    options.read(true).write(true).truncate(false).create(absent != Absent::Refuse);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(_) => {
            for suffix in ["", "-wal", "-shm"] {
                let mut name = path.clone().into_os_string();
                name.push(suffix);
                // The last two are only there while the database is in use.
                let _ = restrict_permissions(Path::new(&name), 0o600);
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(&path).to_owned();
            Err(if folder.is_dir() { OpenError::NoLibrary(folder) } else { OpenError::NoFolder(folder) })
        }
        Err(source) => Err(OpenError::Unusable { path, source }),
    }
}

/// As the operator finds it from anywhere.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What is wrong with a file or folder, and what to do about it.
pub(crate) fn unusable(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "There is no permission to use {path}; run the command as the owner, or give it with chown to the user who runs \
             the service"
        ),
        io::ErrorKind::ReadOnlyFilesystem => {
            format!("{path} is on a read-only file system; choose another folder with --data-dir")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            format!("There is no free space for {path}; make room and try again")
        }
        _ => format!("{path} cannot be used: {}", words(error)),
    }
}

/// What the system says, without its number.
pub(crate) fn words(error: &io::Error) -> String {
    without_number(&error.to_string()).to_owned()
}

/// The text of an error without the system's number of it.
pub(crate) fn without_number(text: &str) -> &str {
    text.split(" (os error ").next().unwrap_or_default()
}

fn of_blobs(error: &BlobError) -> String {
    match error {
        BlobError::Folder { path, source } => unusable(&absolute(path), source),
        other => other.to_string(),
    }
}

fn of_secret(error: &SecretError) -> String {
    let SecretError::File { path, source } = error else { return error.to_string() };
    let path = absolute(path);
    match (source.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(folder)) => format!(
            "There is no folder {} for the secret file; create it, or name another file with --secret-file",
            folder.display()
        ),
        (io::ErrorKind::IsADirectory, _) => {
            format!("{} is a folder; name a file with --secret-file", path.display())
        }
        _ => unusable(&path, source),
    }
}
