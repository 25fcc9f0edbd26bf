//! `export`: writes the photos of an account into a folder.

use std::path::Path;

use indicatif::ProgressBar;
use library::{ExportProgress, ExportReport};
use serde::Serialize;

use super::{CommandError, Report};
use crate::{cli::ExportOptions, config::Config, io_messages, progress, shutdown, stores};

pub(super) async fn run(options: &ExportOptions, config: &Config) -> Result<Report, CommandError> {
    stores::require_outside(config, &options.folder)?;
    let library = stores::open_library(config, stores::IfMissing::Fail).await?;
    let account = library.accounts.account(&options.email).await?;
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let bar = progress::bar("{wide_bar} {pos}/{len} photos{left}");
    let exported = tokio::select! {
        exported = library.ingest.export(account.id, &options.folder, |progress| update(&bar, progress)) => {
            exported.map_err(CommandError::from)
        }
        () = shutdown => Err(CommandError::ExportInterrupted),
    };
    bar.finish_and_clear();
    let report = exported?;
    let text = if options.json { json(&report)? } else { summary(&report) };
    Ok(Report { text, failed: !report.failed.is_empty() })
}

fn update(bar: &ProgressBar, progress: ExportProgress) {
    bar.set_length(progress.total);
    bar.set_position(progress.done);
}

fn summary(report: &ExportReport) -> String {
    let mut text = format!(
        "photos: {}\nwritten now: {} originals ({} MB), {} sidecars\nalbums: {}\nfailed: {}\n",
        report.photos,
        report.written,
        report.written_bytes / 1_000_000,
        report.sidecars,
        report.albums,
        report.failed.len()
    );
    for file in &report.failed {
        text.push_str(&format!(
            "  {}: {}\n",
            file.path.display(),
            io_messages::without_error_number(&file.error)
        ));
    }
    text
}

#[derive(Serialize)]
struct JsonReport<'a> {
    photos: u64,
    written: u64,
    bytes: u64,
    sidecars: u64,
    albums: u64,
    failed: Vec<JsonFailure<'a>>,
}

#[derive(Serialize)]
struct JsonFailure<'a> {
    path: &'a Path,
    error: &'a str,
}

fn json(report: &ExportReport) -> Result<String, serde_json::Error> {
    let failed = report
        .failed
        .iter()
        .map(|file| JsonFailure { path: &file.path, error: io_messages::without_error_number(&file.error) });
    let report = JsonReport {
        photos: report.photos,
        written: report.written,
        bytes: report.written_bytes,
        sidecars: report.sidecars,
        albums: report.albums,
        failed: failed.collect(),
    };
    Ok(serde_json::to_string(&report)? + "\n")
}
