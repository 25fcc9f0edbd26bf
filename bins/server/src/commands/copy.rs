//! `copy`: moves a library to other stores.

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _, stderr},
    path::{Path, PathBuf},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keys::{SystemRandom, new_id};
use library::{Clock as _, SystemClock};
use library_copy::{Begun, CopyError, CopyProgress, CopyReport, Place, ReopenError, Reopened};
use storage::SharedStore;

use super::{CommandError, Report};
use crate::{
    cli::CopyOptions,
    config::{Config, Environment, SecretSource},
    io_messages, shutdown,
    stores::{self, IfMissing, OpenError},
    table::table,
};

/// How often the progress display is drawn while nothing advances.
const TICK: Duration = Duration::from_millis(200);

/// Why a library was not moved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyFailure {
    #[error("FROM and TO are the same place: {0}")]
    SamePlace(String),
    #[error(
        "{0} has a library of an earlier version of this program; choose a new data folder, or an empty database"
    )]
    OlderTarget(String),
    #[error(
        "{} and {} differ, but both places need the same secret; remove the second one if nothing uses it",
        .0.display(), .1.display()
    )]
    OtherSecret(PathBuf, PathBuf),
    #[error("{}", io_messages::io_advice(path, source))]
    Secret { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Reopen(#[from] ReopenError),
    #[error("interrupted; what was copied is kept. Run the command again to continue")]
    Interrupted,
}

pub(super) async fn run(
    options: &CopyOptions,
    config: &Config,
    environment: &Environment,
) -> Result<Report, CommandError> {
    let place = |flag: &'static str, name: &Option<String>| match name {
        Some(name) => config.at_place(flag, name, environment),
        None => Ok(config.clone()),
    };
    let from = place("--from", &options.from)?;
    if options.reopen {
        return reopen(&from).await;
    }
    let to = place("--to", &options.to)?;
    copy(&from, &to, options).await
}

async fn reopen(config: &Config) -> Result<Report, CommandError> {
    let store = stores::open_store(config, IfMissing::Fail).await?;
    stores::migrate(&store, config).await?;
    let text = match library_copy::reopen(&store).await.map_err(CopyFailure::from)? {
        Reopened::WasOpen => format!("The library in {} is in use; nothing was changed.\n", name(config)),
        Reopened::WasMoving(transfer) => format!(
            "The library in {} can be used again. Its incomplete copy in {} is of no use; delete it.\n",
            name(config),
            transfer.peer
        ),
        Reopened::WasMoved(transfer) => format!(
            "The library in {} can be used again. The one in {} is now another library: stop its servers, unless you \
             want both.\n",
            name(config),
            transfer.peer
        ),
    };
    Ok(text.into())
}

async fn copy(from: &Config, to: &Config, options: &CopyOptions) -> Result<Report, CommandError> {
    let (from_name, to_name) = (name(from), name(to));
    if database(from) == database(to) {
        return Err(CopyFailure::SamePlace(from_name).into());
    }
    let secret = SecretPlan::new(from, to)?;
    let source = stores::open_store(from, IfMissing::Fail).await?;
    stores::migrate(&source, from).await?;
    let target = stores::open_store(to, IfMissing::CreateAll).await?;
    create_schema(&target, &to_name).await?;
    let same_files = blobs(from) == blobs(to);
    let from_place = Place { store: source, blobs: open_blobs(from).await?, name: from_name };
    let to_place = Place { store: target, blobs: open_blobs(to).await?, name: to_name };
    let transfer = new_id(&SystemRandom::new())?;
    let mut plan = library_copy::CopyOptions::new(transfer, SystemClock.now());
    plan.same_files = same_files;
    plan.skip_lost = options.skip_lost;
    let begun = library_copy::begin(&from_place, &to_place, &plan).await.map_err(CopyFailure::from)?;
    let Some(begun) = begun else {
        let text = format!("{} was moved to {} before.\n", from_place.name, to_place.name);
        return Ok((text + &secret.advice()).into());
    };
    // Done before the copy is complete, because a server that starts without the file makes another secret.
    secret.apply()?;
    let report = complete(begun).await?;
    Ok((summary(&report, &from_place.name, &to_place.name) + &secret.advice()).into())
}

/// Copies until the end or a shutdown signal.
async fn complete(begun: Begun<'_>) -> Result<CopyReport, CommandError> {
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let bar = progress_bar();
    let copied = tokio::select! {
        copied = begun.complete(|progress| update(&bar, progress)) => copied.map_err(CopyFailure::from),
        () = shutdown => Err(CopyFailure::Interrupted),
    };
    bar.finish_and_clear();
    Ok(copied?)
}

/// A progress display, hidden unless stderr is a terminal.
pub(super) fn progress_bar() -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.enable_steady_tick(TICK);
    match ProgressStyle::with_template("{spinner} {msg}: {pos}, {elapsed}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

pub(super) fn update(bar: &ProgressBar, progress: CopyProgress) {
    bar.set_message(format!("{} ({})", progress.step, progress.subject));
    bar.set_position(progress.done);
}

fn summary(report: &CopyReport, from: &str, to: &str) -> String {
    let rows = report.rows.iter().filter(|rows| rows.rows > 0);
    let mut text = table(
        ["TABLE", "ROWS", "CHECKSUM"],
        rows.map(|rows| {
            let checksum: String = rows.checksum.to_string().chars().take(16).collect();
            [rows.table.name().to_owned(), rows.rows.to_string(), checksum]
        }),
    );
    let files = &report.files;
    text.push_str(&format!(
        "\nfiles: {} photos and renditions, {} parts of uploads; {} copied now ({} MB)\n",
        files.blobs,
        files.parts,
        files.copied,
        files.copied_bytes / 1_000_000
    ));
    if report.lost > 0 {
        text.push_str(&format!("lost before the move: {} files, for example:\n", report.lost));
        report.lost_examples.iter().for_each(|lost| text.push_str(&format!("  {lost}\n")));
    }
    text.push_str(&format!(
        "\nAll rows are equal on both sides. {from} is closed; the library is now in {to}.\n"
    ));
    text
}

pub(super) async fn open_blobs(config: &Config) -> Result<blobs::BlobStore, OpenError> {
    Ok(config.blobs.open().await?)
}

/// Creates the schema in an empty database.
pub(super) async fn create_schema(target: &SharedStore, name: &str) -> Result<(), CommandError> {
    let (pending, known) = (target.pending_migrations().await?, target.known_migrations()?);
    if pending.is_empty() {
        return Ok(());
    }
    if pending.len() < known.len() {
        return Err(CopyFailure::OlderTarget(name.to_owned()).into());
    }
    target.migrate().await?;
    Ok(())
}

/// The name of a library in messages. It is the same in every run, and contains no password.
pub(super) fn name(config: &Config) -> String {
    let folder = io_messages::absolute(&config.data_dir);
    let is_inside =
        |path: Option<&Path>| path.is_some_and(|path| io_messages::absolute(path).starts_with(&folder));
    if is_inside(config.database.file())
        && !config.blobs.is_remote()
        && is_inside(Some(config.blobs.folder()))
    {
        return folder.display().to_string();
    }
    format!("{} with {}", database(config), blobs(config))
}

fn database(config: &Config) -> String {
    match config.database.file() {
        Some(file) => real_path(file).display().to_string(),
        None => config.database.to_string(),
    }
}

fn blobs(config: &Config) -> String {
    if config.blobs.is_remote() {
        config.blobs.to_string()
    } else {
        real_path(config.blobs.folder()).display().to_string()
    }
}

/// The path without symbolic links, as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    let path = io_messages::absolute(path);
    match (fs::canonicalize(&path), path.parent(), path.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => real_path(parent).join(name),
        _ => path,
    }
}

/// What happens to the secret, without which tokens and URLs are invalid in the new place.
enum SecretPlan {
    /// Both places use the same.
    Shared,
    /// The file is copied to the new data folder.
    Copy { from: PathBuf, to: PathBuf },
    /// The operator gives it to the new place.
    ByOperator,
}

impl SecretPlan {
    fn new(from: &Config, to: &Config) -> Result<Self, CopyFailure> {
        let (from, to) = match (&from.secret, &to.secret) {
            (SecretSource::Environment(_), _) => return Ok(Self::Shared),
            (
                SecretSource::File(from) | SecretSource::ExistingFile(from),
                SecretSource::File(to) | SecretSource::ExistingFile(to),
            ) => (from, to),
            _ => return Ok(Self::ByOperator),
        };
        if real_path(from) == real_path(to) {
            return Ok(Self::Shared);
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| CopyFailure::Secret { path, source }
        };
        let exists = |path: &Path| path.try_exists().map_err(failed(path));
        if !exists(from)? {
            return Ok(Self::ByOperator);
        }
        if !exists(to)? {
            return Ok(Self::Copy { from: from.clone(), to: to.clone() });
        }
        let read = |path: &Path| fs::read(path).map_err(failed(path));
        if read(from)?.trim_ascii() == read(to)?.trim_ascii() {
            Ok(Self::Shared)
        } else {
            Err(CopyFailure::OtherSecret(from.clone(), to.clone()))
        }
    }
}

impl SecretPlan {
    /// Copies the file, readable by its owner only.
    fn apply(&self) -> Result<(), CopyFailure> {
        let Self::Copy { from, to } = self else { return Ok(()) };
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| CopyFailure::Secret { path, source }
        };
        let secret = fs::read(from).map_err(failed(from))?;
        write_secret(to, &secret).map_err(failed(to))
    }

    /// What the operator has to do.
    fn advice(&self) -> String {
        match self {
            Self::Shared | Self::Copy { .. } => String::new(),
            Self::ByOperator => {
                "Give the new place the same secret (--secret-file or PHOTOS_SECRET): without it, apps are signed out and \
                 image URLs are invalid.\n"
                    .to_owned()
            }
        }
    }
}

/// Creates a file with a secret, readable by its owner only.
pub(super) fn write_secret(path: &Path, secret: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Renamed when it is complete, because the process may be killed.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(secret)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}
