use std::io::{IsTerminal as _, stderr};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use library::{ImportProgress, ImportReport, IndexingScope};
use serde::Serialize;

use super::{CommandError, Report};
use crate::{cli::ImportOptions, config::Config, shutdown, stores};

pub(super) async fn run(options: &ImportOptions, config: &Config) -> Result<Report, CommandError> {
    let library = stores::open_library(config, stores::IfMissing::Fail).await?;
    let account = library.account(&options.email).await?;
    stores::recover(&library).await;
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let indexing = library.start_indexing(IndexingScope::Images)?;
    let bar = progress_bar();
    let imported = tokio::select! {
        imported = library.import_folder(account.id, &options.paths, |progress| update(&bar, progress)) => Ok(imported),
        () = shutdown => Err(CommandError::Interrupted),
    };
    bar.finish_and_clear();
    // Jobs that take longer are abandoned; the next run repeats them.
    let _ = tokio::time::timeout(shutdown::GRACE, indexing.stop()).await;
    let report = imported?;
    let text = if options.json { json(&report)? } else { summary(&report) };
    if let Some(reason) = &report.stopped {
        eprintln!(
            "error: the import stopped early: {reason}\nPhotos imported so far are kept. Run the command again to continue."
        );
    }
    Ok(Report { text, failed: report.stopped.is_some() || !report.failed.is_empty() })
}

/// A progress bar, hidden unless stderr is a terminal.
fn progress_bar() -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{wide_bar} {pos}/{len} files, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn update(bar: &ProgressBar, progress: ImportProgress) {
    bar.set_length(progress.total);
    bar.set_position(progress.settled);
}

fn summary(report: &ImportReport) -> String {
    let mut text = format!(
        "imported: {}\nduplicates: {}\nfailed: {}\n",
        report.imported,
        report.duplicates,
        report.failed.len()
    );
    for file in &report.failed {
        text.push_str(&format!("  {}: {}\n", file.path.display(), stores::without_error_number(&file.error)));
    }
    let found = report.imported.saturating_add(report.duplicates);
    if found == 0 && report.failed.is_empty() && report.stopped.is_none() {
        text.push_str("No photos were found.\n");
    }
    text
}

#[derive(Serialize)]
struct JsonReport {
    imported: u64,
    duplicates: u64,
    failed: Vec<JsonFailure>,
}

#[derive(Serialize)]
struct JsonFailure {
    path: String,
    error: String,
}

fn json(report: &ImportReport) -> Result<String, serde_json::Error> {
    let failed = report
        .failed
        .iter()
        .map(|file| JsonFailure { path: file.path.display().to_string(), error: file.error.clone() });
    let report =
        JsonReport { imported: report.imported, duplicates: report.duplicates, failed: failed.collect() };
    Ok(serde_json::to_string(&report)? + "\n")
}

#[cfg(test)]
mod tests {
    use library::FailedFile;

    use super::*;

    #[test]
    fn reports_are_text_or_json() {
        let failed = vec![FailedFile { path: "a/b.txt".into(), error: "not a picture".into() }];
        let report = ImportReport { imported: 2, duplicates: 1, failed, stopped: None };
        assert_eq!(summary(&report), "imported: 2\nduplicates: 1\nfailed: 1\n  a/b.txt: not a picture\n");
        assert_eq!(
            json(&report).unwrap(),
            "{\"imported\":2,\"duplicates\":1,\"failed\":[{\"path\":\"a/b.txt\",\"error\":\"not a picture\"}]}\n"
        );
    }
}
