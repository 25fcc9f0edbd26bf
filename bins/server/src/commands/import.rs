use std::{
    io::{IsTerminal as _, stderr},
    path::Path,
    time::{Duration, Instant},
};

use indicatif::ProgressBar;
use library::{FailedKind, ImportProgress, ImportReport, IndexingScope, Problem};
use serde::Serialize;

use super::{CommandError, Report};
use crate::{cli::ImportOptions, config::Config, io_messages, progress, shutdown, stores};

/// How often a line reports the progress if stderr is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

pub(super) async fn run(options: &ImportOptions, config: &Config) -> Result<Report, CommandError> {
    let library = stores::open_library(config, stores::IfMissing::Fail).await?;
    let account = library.accounts.account(&options.email).await?;
    stores::recover(&library).await;
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let scope = if options.wait { IndexingScope::Search } else { IndexingScope::Images };
    let indexing = library.indexer.start_indexing(scope)?;
    let mut display = Display::new();
    let imported = tokio::select! {
        imported = library.ingest.import_folder(account.id, &options.paths, scope, |progress| display.update(&progress)) => {
            Ok(imported)
        }
        () = shutdown => Err(CommandError::Interrupted),
    };
    display.finish();
    // Jobs that take longer are abandoned; the next run repeats them.
    let _ = tokio::time::timeout(shutdown::GRACE, indexing.stop()).await;
    let report = imported?;
    let text = if options.json {
        json(&report)?
    } else {
        let left = library.indexer.awaiting_recognition(account.id).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the progress of recognition cannot be read");
            0
        });
        summary(&report) + &recognition_note(left, library.indexer.has_indexing_service())
    };
    if let Some(reason) = &report.stopped {
        eprintln!(
            "error: the import stopped early: {reason}\nPhotos imported so far are kept. Run the command again to continue."
        );
    }
    Ok(Report { text, failed: report.stopped.is_some() || !report.failed.is_empty() })
}

/// Shows the progress on stderr.
enum Display {
    Bar(ProgressBar),
    /// For logs: a line now and then.
    Lines(LineTimer),
}

impl Display {
    fn new() -> Self {
        if stderr().is_terminal() {
            Self::Bar(progress::bar("{wide_msg}"))
        } else {
            Self::Lines(LineTimer { last: Instant::now() })
        }
    }

    fn update(&mut self, progress: &ImportProgress) {
        match self {
            Self::Bar(bar) => update_bar(bar, progress),
            Self::Lines(timer) => {
                if timer.is_due(Instant::now()) {
                    eprintln!("{}", line(progress));
                }
            }
        }
    }

    fn finish(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

struct LineTimer {
    last: Instant,
}

impl LineTimer {
    /// Whether the next line is due. If so, the interval to the line after it begins.
    fn is_due(&mut self, now: Instant) -> bool {
        let is_due = now.duration_since(self.last) >= LINE_INTERVAL;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

fn update_bar(bar: &ProgressBar, progress: &ImportProgress) {
    match progress {
        ImportProgress::Listing { .. } => bar.set_message(line(progress)),
        ImportProgress::Importing { settled, total } => {
            // Total 0 marks a bar that was not used yet.
            if bar.length() == Some(0)
                && let Some(style) = progress::style("{wide_bar} {pos}/{len} files{left}")
            {
                bar.set_style(style);
                bar.reset_eta();
            }
            bar.set_length(*total);
            bar.set_position(*settled);
        }
    }
}

fn line(progress: &ImportProgress) -> String {
    match progress {
        ImportProgress::Listing { archive, entries, bytes } => listing(archive, *entries, *bytes),
        ImportProgress::Importing { settled, total } => format!("Importing: {settled} of {total} files"),
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
    let found = report.imported.saturating_add(report.duplicates).saturating_add(report.trashed);
    if found == 0 && report.failed.is_empty() && report.stopped.is_none() {
        text.push_str("No photos were found.\n");
    }
    text
}

/// A note on how many visible photos are not yet searchable by text and subjects, and which process continues.
fn recognition_note(images: u64, has_service: bool) -> String {
    let photos = match images {
        0 => return String::new(),
        1 => "1 photo waits".to_owned(),
        _ => format!("{images} photos wait"),
    };
    let by = if has_service {
        "A running server or worker does this in the background."
    } else {
        "The next `server serve` or `server worker` does this in the background, or add --wait to do it now."
    };
    format!("{photos} for text and subjects to be recognised. {by}\n")
}

/// Adds what was not imported, and why.
pub(super) fn add_details(text: &mut String, report: &ImportReport) {
    let of_kind = |kind: FailedKind| report.failed.iter().filter(move |file| file.kind == kind);
    for file in of_kind(FailedKind::File).chain(of_kind(FailedKind::Unread)) {
        add_line(text, &file.path, io_messages::without_error_number(&file.error));
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
    if report.trashed > 0 {
        text.push_str(&format!("put into the trash: {}\n", report.trashed));
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

#[derive(Serialize)]
pub(super) struct JsonReport {
    imported: u64,
    duplicates: u64,
    failed: Vec<JsonFailure>,
    // Details about exports are left out if they are empty.
    #[serde(skip_serializing_if = "is_zero")]
    movies: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unmatched: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<JsonProblem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ambiguous: Vec<JsonProblem>,
    #[serde(skip_serializing_if = "is_zero")]
    trashed: u64,
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
        trashed: report.trashed,
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
    fn the_note_counts_waiting_photos_and_names_the_process_that_continues() {
        assert_eq!(recognition_note(0, false), "");
        assert_eq!(
            recognition_note(1, true),
            "1 photo waits for text and subjects to be recognised. A running server or worker does this in the \
             background.\n"
        );
        let note = recognition_note(12, false);
        assert!(note.starts_with("12 photos wait ") && note.contains("`server serve`"), "{note}");
    }

    #[test]
    fn a_line_is_due_every_thirty_seconds() {
        let start = Instant::now();
        let mut timer = LineTimer { last: start };
        let due: Vec<u64> =
            (0..100).filter(|second| timer.is_due(start + Duration::from_secs(*second))).collect();
        assert_eq!(due, [30, 60, 90]);
        assert_eq!(line(&ImportProgress::Importing { settled: 7, total: 90 }), "Importing: 7 of 90 files");
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
            skipped: vec![problem("x.zip/3.json", "describes no photo and no album")],
            trashed: 3,
            albums: 2,
            ..ImportReport::default()
        };
        assert_eq!(
            summary(&report),
            "imported: 0\nduplicates: 0\nfailed: 3\n  2 movies, which are not imported\n  without a photo: 1\n  \
             x.zip/1.jpg.json: describes no photo\nskipped: 1\n  x.zip/3.json: describes no photo and no album\nput into the trash: 3\nalbums: 2\n"
        );
        assert!(json(&report).unwrap().contains(r#""error":"is a video"},{"path":"#), "movies are listed");
    }
}
