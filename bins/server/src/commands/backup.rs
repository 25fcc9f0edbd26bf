//! `backup`: copies the library into a folder, or checks such a copy.

use keys::{SystemRandom, new_id};
use library::{Clock as _, SystemClock};
use library_backup::{BackupReport, Manifest, Place, back_up, verify};
use serde::Serialize;

use super::{CommandError, Report, copy};
use crate::{
    cli::BackupOptions,
    config::Config,
    shutdown,
    stores::{self, IfMissing, OpenError},
};

/// How many files are checked at once.
pub(super) const FILES_AT_ONCE: usize = 8;

pub(super) async fn run(options: &BackupOptions, config: &Config) -> Result<Report, CommandError> {
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let running = async { if options.verify { check(options).await } else { make(options, config).await } };
    tokio::select! {
        report = running => report,
        () = shutdown => Err(CommandError::BackupInterrupted),
    }
}

async fn make(options: &BackupOptions, config: &Config) -> Result<Report, CommandError> {
    stores::require_apart(config, &options.folder)?;
    let store = stores::open_store(config, IfMissing::Fail).await?;
    stores::migrate(&store, config).await?;
    let state = store.library_state().await?;
    if !state.is_open() {
        return Err(OpenError::Closed(state).into());
    }
    let secret = stores::load_secret(config)?;
    let place = Place { store, blobs: copy::open_blobs(config).await?, name: copy::name(config) };
    let id = new_id(&SystemRandom::new())?;
    let plan = library_backup::BackupOptions::new(id, SystemClock.now(), env!("CARGO_PKG_VERSION"));
    let bar = copy::progress_bar();
    let made =
        back_up(&place, secret.expose(), &options.folder, &plan, |progress| copy::update(&bar, progress))
            .await;
    bar.finish_and_clear();
    let report = made?;
    let text = if options.json { json(&report)? } else { summary(&report) };
    Ok(Report { text, failed: !report.lost.is_empty() })
}

async fn check(options: &BackupOptions) -> Result<Report, CommandError> {
    let bar = copy::progress_bar();
    let checked = verify(&options.folder, FILES_AT_ONCE, |progress| copy::update(&bar, progress)).await;
    bar.finish_and_clear();
    let backup = checked?;
    let manifest = backup.manifest();
    let text = if options.json {
        serde_json::to_string(&JsonContent::new(manifest))? + "\n"
    } else {
        format!("The backup of {} is whole: {}\n", manifest.taken_at, content(manifest))
    };
    Ok(text.into())
}

/// The numbers of a backup.
pub(super) fn content(manifest: &Manifest) -> String {
    let rows: u64 = manifest.tables.iter().map(|table| table.rows).sum();
    let (originals, renditions) = (manifest.originals, manifest.renditions);
    format!(
        "{} originals ({} MB), {} renditions ({} MB), {rows} rows",
        originals.files,
        originals.bytes / 1_000_000,
        renditions.files,
        renditions.bytes / 1_000_000
    )
}

fn summary(report: &BackupReport) -> String {
    let mut text = format!(
        "backed up: {}\ncopied now: {} files ({} MB); deleted: {} files of earlier backups\n",
        content(&report.manifest),
        report.copied,
        report.copied_bytes / 1_000_000,
        report.deleted
    );
    if !report.lost.is_empty() {
        text.push_str(&format!(
            "\nlost or damaged in the library, and missing in the backup: {} files. `server fsck --repair` makes renditions \
             again; import the originals again\n",
            report.lost.len()
        ));
        report.lost.iter().for_each(|lost| text.push_str(&format!("  {lost}\n")));
    }
    text
}

/// The numbers of a backup, as JSON.
#[derive(Serialize)]
pub(super) struct JsonContent<'a> {
    id: &'a str,
    taken_at: &'a str,
    rows: u64,
    originals: u64,
    renditions: u64,
    bytes: u64,
}

impl<'a> JsonContent<'a> {
    pub(super) fn new(manifest: &'a Manifest) -> Self {
        Self {
            id: &manifest.id,
            taken_at: &manifest.taken_at,
            rows: manifest.tables.iter().map(|table| table.rows).sum(),
            originals: manifest.originals.files,
            renditions: manifest.renditions.files,
            bytes: manifest.originals.bytes + manifest.renditions.bytes,
        }
    }
}

#[derive(Serialize)]
struct JsonReport<'a> {
    #[serde(flatten)]
    content: JsonContent<'a>,
    copied: u64,
    copied_bytes: u64,
    deleted: u64,
    lost: &'a [String],
}

fn json(report: &BackupReport) -> Result<String, serde_json::Error> {
    let report = JsonReport {
        content: JsonContent::new(&report.manifest),
        copied: report.copied,
        copied_bytes: report.copied_bytes,
        deleted: report.deleted,
        lost: &report.lost,
    };
    Ok(serde_json::to_string(&report)? + "\n")
}
