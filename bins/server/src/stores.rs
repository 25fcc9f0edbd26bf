//! Opens the configured stores and builds the library on them.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use blobs::{BlobError, restrict_permissions};
use keys::{Secret, SecretError, SystemRandom};
use library::{Library, StorageError, SystemClock};
use storage::{LibraryState, SharedStore};

use crate::{
    config::{Config, MissingSecret, SecretSource, Switch},
    io_messages::{absolute, io_advice},
};

/// What to do when there is no library yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMissing {
    /// Create the data folder and the library.
    CreateAll,
    /// Create the library if the data folder exists, else fail.
    CreateLibrary,
    Fail,
}

/// Why a library cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(
        "There is no folder {}. Run `server serve` to create a library there, or choose another folder with --data-dir",
        .0.display()
    )]
    NoFolder(PathBuf),
    #[error(
        "There is no library in {}. Run `server serve` to create one there, or choose another folder with --data-dir",
        .0.display()
    )]
    NoLibrary(PathBuf),
    #[error("{} is not a folder; choose a folder with --data-dir", .0.display())]
    NotAFolder(PathBuf),
    #[error("{}", io_advice(path, source))]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the decoder cannot be started: {0}")]
    Decoders(io::Error),
    #[error("{}", blob_advice(.0))]
    Blobs(#[from] BlobError),
    #[error("{}", secret_advice(.0))]
    Secret(#[from] MissingSecret),
    #[error(
        "The database {database} has pending migrations: {}. Run `server migrate` first, or start with --migrate",
        pending.join(", ")
    )]
    PendingMigrations { database: String, pending: Vec<String> },
    #[error(
        "{} is in {}; keep the library and its copies in folders outside each other",
        inner.display(),
        outer.display()
    )]
    Nested { inner: PathBuf, outer: PathBuf },
    #[error("{}", closed_advice(.0))]
    Closed(LibraryState),
}

/// Opens the metadata store without applying migrations.
pub(crate) async fn open_store(config: &Config, if_missing: IfMissing) -> Result<SharedStore, OpenError> {
    match config.database.file() {
        Some(file) => {
            check_data_dir(config, if_missing)?;
            check_database(file, if_missing)?;
        }
        // Any machine may be the first to use a shared database.
        None => create_data_dir(&config.data_dir)?,
    }
    Ok(config.database.open().await?)
}

/// Opens the library, after [`migrate`].
///
/// # Errors
/// [`OpenError`], also while the library is being moved, and after it was moved.
pub(crate) async fn open_library(config: &Config, if_missing: IfMissing) -> Result<Library, OpenError> {
    let store = open_store(config, if_missing).await?;
    migrate(&store, config).await?;
    let state = store.library_state().await?;
    if !state.is_open() {
        return Err(OpenError::Closed(state));
    }
    let mut blobs = config.blobs.open().await?;
    blobs.locks = blobs.locks.of_machine(&config.data_dir);
    let clock = library::clock_of(store.clone(), Arc::new(SystemClock)).await?;
    let random = Arc::new(SystemRandom::new());
    Library::new(store, blobs, clock, random, config.library.clone()).map_err(OpenError::Decoders)
}

/// Applies pending migrations to a file. A database that machines share must have none, unless the configuration says
/// otherwise.
pub(crate) async fn migrate(store: &SharedStore, config: &Config) -> Result<(), OpenError> {
    if config.database.is_shared() && config.migrate == Switch::Off {
        let pending = store.pending_migrations().await?;
        if !pending.is_empty() {
            return Err(OpenError::PendingMigrations { database: config.database.to_string(), pending });
        }
    } else {
        let applied = store.migrate().await?;
        if let Some(latest) = applied.last() {
            tracing::info!(migrations = applied.len(), latest, "migrations applied");
        }
    }
    let newer = store.newer_migrations().await?;
    if !newer.is_empty() {
        tracing::warn!(
            migrations = newer.join(", "),
            "a newer version of this program migrated the database; update this installation"
        );
    }
    Ok(())
}

/// Loads the secret. Creates its file when it is missing, and removes other users' access to it.
pub(crate) fn load_secret(config: &Config) -> Result<Secret, OpenError> {
    let secret = config.secret.load(&SystemRandom::new())?;
    if let SecretSource::File(path) | SecretSource::ExistingFile(path) = &config.secret
        && restrict_permissions(path, 0o600).is_ok_and(|was_open| was_open)
    {
        tracing::warn!(
            path = %path.display(),
            "secret file was accessible to other users; if one of them may have read it, remove it and run \
             `server signing-key rotate --lost-secret`"
        );
    }
    Ok(secret)
}

/// Removes temporary files of killed processes. The library works without this cleanup.
pub(crate) async fn recover(library: &Library) {
    if let Err(error) = library.roles.recover().await {
        tracing::warn!(error, "cleanup after killed processes failed; the next start retries");
    }
}

/// Checks that the data folder exists if the library uses it, or creates it.
pub(crate) fn check_data_dir(config: &Config, if_missing: IfMissing) -> Result<(), OpenError> {
    if if_missing == IfMissing::CreateAll {
        return create_data_dir(&config.data_dir);
    }
    if !config.uses_data_dir() {
        return Ok(());
    }
    let folder = absolute(&config.data_dir);
    match fs::metadata(&folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(OpenError::NotAFolder(folder)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(OpenError::NoFolder(folder)),
        Err(source) => Err(OpenError::Io { path: folder, source }),
    }
}

/// Creates the data folder with mode 0700, because it holds photos and a secret.
fn create_data_dir(path: &Path) -> Result<(), OpenError> {
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
        _ => OpenError::Io { path: path.clone(), source },
    })?;
    warn_if_writable_by_others(&path);
    Ok(())
}

/// Logs a warning, because another user could replace the secret or the database. The mode may be intended, so it is kept.
#[cfg(unix)]
fn warn_if_writable_by_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(metadata) = path.metadata() else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o022 != 0 {
        tracing::warn!(
            path = %path.display(),
            mode = format_args!("{mode:04o}"),
            "data folder is writable by other users; run `chmod go-w` on it"
        );
    }
}

#[cfg(not(unix))]
fn warn_if_writable_by_others(_: &Path) {}

/// Checks that the database file can be opened for writing, and creates it if allowed.
fn check_database(file: &Path, if_missing: IfMissing) -> Result<(), OpenError> {
    let path = absolute(file);
    let mut options = fs::File::options();
    options.read(true).write(true).truncate(false).create(if_missing != IfMissing::Fail);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(_) => {
            for suffix in ["", "-wal", "-shm"] {
                let mut name = path.clone().into_os_string();
                name.push(suffix);
                // The last two files exist only while the database is in use.
                let _ = restrict_permissions(Path::new(&name), 0o600);
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(&path).to_owned();
            Err(if folder.is_dir() { OpenError::NoLibrary(folder) } else { OpenError::NoFolder(folder) })
        }
        Err(source) => Err(OpenError::Io { path, source }),
    }
}

/// Checks that a copy of the library is not in a folder of the library.
///
/// # Errors
/// [`OpenError::Nested`] or [`OpenError::Io`].
pub(crate) fn require_outside(config: &Config, copy: &Path) -> Result<(), OpenError> {
    folders(config).try_for_each(|library| require_not_inside(copy, library))
}

/// Checks that neither of the library and its copy is in a folder of the other.
///
/// # Errors
/// [`OpenError::Nested`] or [`OpenError::Io`].
pub(crate) fn require_apart(config: &Config, copy: &Path) -> Result<(), OpenError> {
    require_outside(config, copy)?;
    folders(config).try_for_each(|library| require_not_inside(library, copy))
}

fn folders(config: &Config) -> impl Iterator<Item = &Path> {
    [config.data_dir.as_path(), config.blobs.folder()].into_iter()
}

fn require_not_inside(inner: &Path, outer: &Path) -> Result<(), OpenError> {
    let (inner, outer) = (resolved(inner)?, resolved(outer)?);
    if inner.starts_with(&outer) { Err(OpenError::Nested { inner, outer }) } else { Ok(()) }
}

/// The path without links, also of a folder that does not exist yet.
fn resolved(path: &Path) -> Result<PathBuf, OpenError> {
    let path = absolute(path);
    for existing in path.ancestors() {
        match fs::canonicalize(existing) {
            Ok(real) => {
                let mut resolved = real;
                for part in path.strip_prefix(existing).unwrap_or(Path::new("")).components() {
                    match part {
                        Component::ParentDir => _ = resolved.pop(),
                        part => resolved.push(part),
                    }
                }
                return Ok(resolved);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(OpenError::Io { path: existing.to_owned(), source }),
        }
    }
    Ok(path)
}

/// Why a library that moves or moved is not opened, and what to do.
pub(crate) fn closed_advice(state: &LibraryState) -> String {
    match state {
        LibraryState::Open | LibraryState::Received(_) => "This library is open".to_owned(),
        LibraryState::Moving(transfer) => format!(
            "This library is being moved to {} since {}. Run the same `server copy` again to complete the move, or \
             `server copy --reopen` to use the library here again",
            transfer.peer, transfer.began_at
        ),
        LibraryState::Moved(transfer) => format!(
            "This library was moved to {} on {}. Use it there, or run `server copy --reopen` to use it here again, without \
             what has changed there",
            transfer.peer, transfer.began_at
        ),
        LibraryState::Receiving(transfer) => format!(
            "This is an incomplete copy of the library in {}. Run the same `server copy` or `server restore` again to complete \
             it",
            transfer.peer
        ),
    }
}

fn blob_advice(error: &BlobError) -> String {
    match error {
        BlobError::Folder { path, source } => io_advice(&absolute(path), source),
        other => other.to_string(),
    }
}

fn secret_advice(error: &MissingSecret) -> String {
    let MissingSecret::Unusable(SecretError::File { path, source }) = error else { return error.to_string() };
    let path = absolute(path);
    match (source.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(folder)) => format!(
            "There is no folder {} for the secret file; create it, or choose another file with --secret-file",
            folder.display()
        ),
        (io::ErrorKind::IsADirectory, _) => {
            format!("{} is a folder; choose a file with --secret-file", path.display())
        }
        _ => io_advice(&path, source),
    }
}
