use std::{
    io::{IsTerminal as _, stderr},
    path::Path,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use library::{FailedKind, ImportProgress, ImportReport, IndexingScope, Problem};
use serde::Serialize;

use super::{CommandError, Report};
use crate::{cli::ImportOptions, config::Config, progress, shutdown, stores};

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
    match ProgressStyle::with_template("{wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn update(bar: &ProgressBar, progress: ImportProgress) {
    match progress {
        ImportProgress::Listing { archive, entries, bytes } => {
            bar.set_message(listing(&archive, entries, bytes));
        }
        ImportProgress::Importing { settled, total } => {
            // Total 0 marks a bar that was not used yet.
            if bar.length() == Some(0)
                && let Ok(style) = progress::style("{wide_bar} {pos}/{len} files{left}")
            {
                bar.set_style(style);
                bar.reset_eta();
            }
            bar.set_length(total);
            bar.set_position(settled);
        }
    }
}

fn listing(archive: &Path, entries: u64, bytes: u64) -> String {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let megabytes = bytes / 1_000_000;
    format!("Reading {name}: {entries} entries, {megabytes} MB")
}

fn summary(report: &ImportReport) -> String {
    let mut text = format!(
        "imported: {}\nduplicates: {}\nfailed: {}\n",
        report.imported,
        report.duplicates,
        report.failed.len()
    );
    add_details(&mut text, report);
    let found = report.imported.saturating_add(report.duplicates);
    if found == 0 && report.failed.is_empty() && report.stopped.is_none() {
        text.push_str("No photos were found.\n");
    }
    text
}

/// Adds what was not imported, and why.
pub(super) fn add_details(text: &mut String, report: &ImportReport) {
    let of_kind = |kind: FailedKind| report.failed.iter().filter(move |file| file.kind == kind);
    for file in of_kind(FailedKind::File).chain(of_kind(FailedKind::Unread)) {
        add_line(text, &file.path, stores::without_error_number(&file.error));
    }
    let movies = of_kind(FailedKind::Movie).count();
    if movies > 0 {
        let (noun, verb) = if movies == 1 { ("movie", "is") } else { ("movies", "are") };
        text.push_str(&format!("  {movies} {noun}, which {verb} not imported\n"));
    }
    let unmatched = of_kind(FailedKind::Unmatched).map(|file| (file.path.as_path(), file.error.as_str()));
    add_group(text, "  without a photo", unmatched);
    for (title, problems) in [("skipped", &report.skipped), ("ambiguous", &report.ambiguous)] {
        let lines = problems.iter().map(|problem| (problem.path.as_path(), problem.reason.as_str()));
        add_group(text, title, lines);
    }
    if report.albums > 0 {
        text.push_str(&format!("albums: {}\n", report.albums));
    }
}

fn add_line(text: &mut String, path: &Path, reason: &str) {
    text.push_str(&format!("  {}: {reason}\n", path.display()));
}

/// Adds a heading with the number of lines, and the lines; nothing if there are none.
fn add_group<'a>(text: &mut String, title: &str, lines: impl Iterator<Item = (&'a Path, &'a str)>) {
    let lines: Vec<_> = lines.collect();
    if !lines.is_empty() {
        text.push_str(&format!("{title}: {}\n", lines.len()));
    }
    for (path, reason) in lines {
        add_line(text, path, reason);
    }
}

/// The report of an import as JSON.
#[derive(Serialize)]
pub(super) struct JsonReport {
    imported: u64,
    duplicates: u64,
    failed: Vec<JsonFailure>,
    // The members of exports are left out when they say nothing.
    #[serde(skip_serializing_if = "is_zero")]
    movies: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unmatched: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<JsonProblem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ambiguous: Vec<JsonProblem>,
    #[serde(skip_serializing_if = "is_zero")]
    albums: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct JsonFailure {
    path: String,
    error: String,
}

#[derive(Serialize)]
struct JsonProblem {
    path: String,
    reason: String,
}

fn json(report: &ImportReport) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(&json_report(report))? + "\n")
}

pub(super) fn json_report(report: &ImportReport) -> JsonReport {
    let count = |kind| report.failed.iter().map(|file| u64::from(file.kind == kind)).sum();
    let failed = report
        .failed
        .iter()
        .map(|file| JsonFailure { path: file.path.display().to_string(), error: file.error.clone() });
    let problems = |problems: &[Problem]| {
        let problem = |problem: &Problem| JsonProblem {
            path: problem.path.display().to_string(),
            reason: problem.reason.clone(),
        };
        problems.iter().map(problem).collect()
    };
    JsonReport {
        imported: report.imported,
        duplicates: report.duplicates,
        failed: failed.collect(),
        movies: count(FailedKind::Movie),
        unmatched: count(FailedKind::Unmatched),
        skipped: problems(&report.skipped),
        ambiguous: problems(&report.ambiguous),
        albums: report.albums,
    }
}

#[cfg(test)]
mod tests {
    use library::FailedFile;

    use super::*;

    #[test]
    fn a_single_movie_is_reported_in_the_singular() {
        let movie = FailedFile { path: "1.mp4".into(), error: "is a video".into(), kind: FailedKind::Movie };
        let report = ImportReport { imported: 1, failed: vec![movie], ..ImportReport::default() };
        assert_eq!(
            summary(&report),
            "imported: 1\nduplicates: 0\nfailed: 1\n  1 movie, which is not imported\n"
        );
    }

    #[test]
    fn the_listing_of_an_archive_names_it() {
        let line = listing(Path::new("/a/takeout-001.tgz"), 7, 1_234_000_000);
        assert_eq!(line, "Reading takeout-001.tgz: 7 entries, 1234 MB");
    }

    #[test]
    fn reports_are_text_or_json() {
        let failed =
            |path: &str, error: &str, kind| FailedFile { path: path.into(), error: error.into(), kind };
        let problem = |path: &str, reason: &str| Problem { path: path.into(), reason: reason.into() };
        let report = ImportReport {
            imported: 2,
            duplicates: 1,
            failed: vec![failed("a/b.txt", "not a picture", FailedKind::File)],
            ..ImportReport::default()
        };
        assert_eq!(summary(&report), "imported: 2\nduplicates: 1\nfailed: 1\n  a/b.txt: not a picture\n");
        assert_eq!(
            json(&report).unwrap(),
            "{\"imported\":2,\"duplicates\":1,\"failed\":[{\"path\":\"a/b.txt\",\"error\":\"not a picture\"}]}\n"
        );
        let report = ImportReport {
            failed: vec![
                failed("x.zip/1.mp4", "is a video", FailedKind::Movie),
                failed("x.zip/1.jpg.json", "describes no photo", FailedKind::Unmatched),
                failed("x.zip/2.mp4", "is a video", FailedKind::Movie),
            ],
            skipped: vec![problem("x.zip/3.jpg", "was deleted")],
            albums: 2,
            ..ImportReport::default()
        };
        assert_eq!(
            summary(&report),
            "imported: 0\nduplicates: 0\nfailed: 3\n  2 movies, which are not imported\n  without a photo: 1\n  \
             x.zip/1.jpg.json: describes no photo\nskipped: 1\n  x.zip/3.jpg: was deleted\nalbums: 2\n"
        );
        assert!(json(&report).unwrap().contains(r#""error":"is a video"},{"path":"#), "movies are listed");
    }
}
