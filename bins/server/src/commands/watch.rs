//! `import --watch`: keeps a folder in step with the library.

use std::{
    io::{self, Write as _, stderr, stdout},
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use library::{ImportReport, IndexingScope, WatchEvent, WatchOptions, WatchTotals};
use serde::Serialize;
use tokio::sync::Notify;

use super::{
    CommandError, Report,
    import::{JsonReport, add_details, json_report},
};
use crate::{cli::ImportOptions, config::Config, shutdown, stores};

pub(super) async fn run(
    folder: &Path,
    options: &ImportOptions,
    config: &Config,
) -> Result<Report, CommandError> {
    let library = stores::open_library(config, stores::IfMissing::Fail).await?;
    let account = library.accounts.account(&options.email).await?;
    stores::recover(&library).await;
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let indexing = library.indexer.start_indexing(IndexingScope::Search)?;
    let output = Output { json: options.json, ..Output::default() };
    let stop = async {
        tokio::select! {
            () = shutdown => {}
            () = output.closed.notified() => {}
        }
    };
    let watched = library
        .ingest
        .watch_folder(account.id, folder, watch_options(options), stop, |event| output.print(&event))
        .await;
    // Jobs that take longer are abandoned; the next indexer repeats them.
    let _ = tokio::time::timeout(shutdown::GRACE, indexing.stop()).await;
    let totals = watched?;
    if let Some(error) = output.error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(CommandError::Output(error));
    }
    Ok(final_report(totals, options.json)?.into())
}

fn watch_options(options: &ImportOptions) -> WatchOptions {
    let rescan = Duration::from_secs(60 * u64::from(options.rescan_minutes.max(1)));
    WatchOptions { rescan, ..WatchOptions::default() }
}

/// Prints events as they happen.
#[derive(Default)]
struct Output {
    json: bool,
    /// Notified when stdout is closed.
    closed: Notify,
    error: Mutex<Option<io::Error>>,
}

impl Output {
    fn print(&self, event: &WatchEvent) {
        let printed = if self.json { print_json(event) } else { print_text(event) };
        if let Err(error) = printed {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.closed.notify_one();
        }
    }
}

fn print_json(event: &WatchEvent) -> io::Result<()> {
    let line = serde_json::to_string(&JsonEvent::from(event))?;
    writeln!(stdout(), "{line}").and_then(|()| stdout().flush())
}

fn print_text(event: &WatchEvent) -> io::Result<()> {
    match event {
        WatchEvent::NotNotified { reason } => writeln!(stderr(), "warning: {reason}"),
        WatchEvent::Paused { reason } => {
            writeln!(stderr(), "warning: the import is paused and will be retried: {reason}")
        }
        _ => stdout().write_all(text(event).as_bytes()).and_then(|()| stdout().flush()),
    }
}

/// The line of an event on stdout; empty if there is nothing to say.
fn text(event: &WatchEvent) -> String {
    match event {
        // Duplicates alone are no news.
        WatchEvent::Imported { report, .. }
            if ImportReport { duplicates: 0, ..report.clone() } == ImportReport::default() =>
        {
            String::new()
        }
        WatchEvent::Imported { folder, report } => {
            let mut text = format!(
                "{}: {} imported, {} duplicates, {} failed\n",
                folder.display(),
                report.imported,
                report.duplicates,
                report.failed.len()
            );
            add_details(&mut text, report);
            text
        }
        WatchEvent::InStep { folders } => {
            format!("in step: {folders} folders scanned; waiting for changes\n")
        }
        WatchEvent::NotNotified { .. } | WatchEvent::Paused { .. } => String::new(),
    }
}

fn final_report(totals: WatchTotals, json: bool) -> Result<String, serde_json::Error> {
    let WatchTotals { imported, duplicates, failed } = totals;
    if json {
        return Ok(serde_json::to_string(&JsonEvent::Stopped { imported, duplicates, failed })? + "\n");
    }
    Ok(format!("imported: {imported}\nduplicates: {duplicates}\nfailed: {failed}\n"))
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum JsonEvent<'a> {
    Imported {
        folder: String,
        #[serde(flatten)]
        report: JsonReport,
    },
    InStep {
        folders: u64,
    },
    NotNotified {
        reason: &'a str,
    },
    Paused {
        reason: &'a str,
    },
    Stopped {
        imported: u64,
        duplicates: u64,
        failed: u64,
    },
}

impl<'a> From<&'a WatchEvent> for JsonEvent<'a> {
    fn from(event: &'a WatchEvent) -> Self {
        match event {
            WatchEvent::Imported { folder, report } => {
                Self::Imported { folder: folder.display().to_string(), report: json_report(report) }
            }
            WatchEvent::InStep { folders } => Self::InStep { folders: *folders },
            WatchEvent::NotNotified { reason } => Self::NotNotified { reason },
            WatchEvent::Paused { reason } => Self::Paused { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use library::{FailedFile, FailedKind, Problem};

    use super::*;

    #[test]
    fn events_are_text_or_json() {
        let kind = FailedKind::File;
        let failed = vec![FailedFile { path: "a/b.txt".into(), error: "not a picture".into(), kind }];
        let report = ImportReport { imported: 2, duplicates: 1, failed, ..ImportReport::default() };
        let event = WatchEvent::Imported { folder: "a".into(), report };
        assert_eq!(text(&event), "a: 2 imported, 1 duplicates, 1 failed\n  a/b.txt: not a picture\n");
        assert_eq!(
            serde_json::to_string(&JsonEvent::from(&event)).unwrap(),
            r#"{"event":"imported","folder":"a","imported":2,"duplicates":1,"failed":[{"path":"a/b.txt","error":"not a picture"}]}"#
        );
        let problem = Problem { path: "a/b.zip".into(), reason: "is an archive".into() };
        let report = ImportReport { skipped: vec![problem], ..ImportReport::default() };
        let event = WatchEvent::Imported { folder: "a".into(), report };
        assert_eq!(
            text(&event),
            "a: 0 imported, 0 duplicates, 0 failed\nskipped: 1\n  a/b.zip: is an archive\n"
        );
        assert!(
            serde_json::to_string(&JsonEvent::from(&event))
                .unwrap()
                .ends_with(r#""failed":[],"skipped":[{"path":"a/b.zip","reason":"is an archive"}]}"#)
        );
        let duplicates = ImportReport { duplicates: 3, ..ImportReport::default() };
        assert_eq!(text(&WatchEvent::Imported { folder: "a".into(), report: duplicates }), "");
        let totals = WatchTotals { imported: 1, duplicates: 2, failed: 3 };
        assert_eq!(final_report(totals, false).unwrap(), "imported: 1\nduplicates: 2\nfailed: 3\n");
        assert_eq!(
            final_report(totals, true).unwrap(),
            "{\"event\":\"stopped\",\"imported\":1,\"duplicates\":2,\"failed\":3}\n"
        );
    }
}
