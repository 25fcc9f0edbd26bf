use std::{
    io::{IsTerminal as _, stderr},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use library::{
    CheckDepth, Example, FindingKind, Findings, IntegrityOptions, IntegrityProgress, IntegrityReport,
};
use serde::Serialize;

use super::{CommandError, Report};
use crate::{cli::FsckOptions, config::Config, shutdown, stores};

/// How often the progress display is drawn while nothing advances.
const TICK: Duration = Duration::from_millis(200);

pub(super) async fn run(options: &FsckOptions, config: &Config) -> Result<Report, CommandError> {
    let library = stores::open_library(config, stores::IfMissing::Fail).await?;
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let bar = progress_bar();
    let checked = tokio::select! {
        checked = library.upkeep.check_integrity(integrity_options(options), |progress| update(&bar, progress)) => {
            checked.map_err(CommandError::from)
        }
        () = shutdown => Err(CommandError::CheckInterrupted),
    };
    bar.finish_and_clear();
    let report = checked?;
    let text = if options.json { json(&report)? } else { summary(&report) };
    Ok(Report { text, failed: report.left() > 0 })
}

fn integrity_options(options: &FsckOptions) -> IntegrityOptions {
    IntegrityOptions {
        repair: options.repair,
        depth: if options.checksums { CheckDepth::Full } else { CheckDepth::Quick },
        max_examples: options.examples,
    }
}

/// A progress display, hidden unless stderr is a terminal.
fn progress_bar() -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.enable_steady_tick(TICK);
    match ProgressStyle::with_template("{spinner} {msg}: {pos} checked, {elapsed}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn update(bar: &ProgressBar, progress: IntegrityProgress) {
    bar.set_message(progress.step);
    bar.set_position(progress.checked);
}

fn summary(report: &IntegrityReport) -> String {
    let mut text = format!("checked: {} rows, {} files", report.rows, report.files);
    if report.bytes_read > 0 {
        text.push_str(&format!(", {} MB read", report.bytes_read / 1_000_000));
    }
    text.push('\n');
    for (kind, findings) in &report.findings {
        push_findings(&mut text, *kind, findings);
    }
    if report.renditions_pending {
        text.push_str(
            "Some renditions are not made yet. A running server makes them; `server doctor` shows the queue.\n",
        );
    }
    text.push_str(&conclusion(report));
    text
}

fn push_findings(text: &mut String, kind: FindingKind, findings: &Findings) {
    text.push_str(&format!("\n{}: {} found, {} repaired\n", kind.title(), findings.found, findings.repaired));
    for example in &findings.examples {
        let repaired = if example.repaired { " (repaired)" } else { "" };
        text.push_str(&format!("  {}{repaired}\n", example.text));
    }
    let more = findings.found.saturating_sub(findings.examples.len() as u64);
    if more > 0 {
        text.push_str(&format!("  and {more} more\n"));
    }
    if findings.repaired < findings.found {
        text.push_str(&format!("  {}\n", kind.remedy()));
    }
}

fn conclusion(report: &IntegrityReport) -> String {
    match (report.findings.is_empty(), report.left()) {
        (true, _) => "Everything agrees.\n".to_owned(),
        (false, 0) => "\nEverything was repaired.\n".to_owned(),
        (false, left) => format!("\nNot repaired: {left}\n"),
    }
}

#[derive(Serialize)]
struct JsonReport<'a> {
    rows: u64,
    files: u64,
    bytes_read: u64,
    left: u64,
    renditions_pending: bool,
    findings: Vec<JsonFindings<'a>>,
}

#[derive(Serialize)]
struct JsonFindings<'a> {
    kind: &'static str,
    found: u64,
    repaired: u64,
    examples: Vec<JsonExample<'a>>,
    remedy: &'static str,
}

#[derive(Serialize)]
struct JsonExample<'a> {
    text: &'a str,
    repaired: bool,
}

fn json(report: &IntegrityReport) -> Result<String, serde_json::Error> {
    let findings = report.findings.iter().map(|(kind, findings)| json_findings(*kind, findings)).collect();
    let report = JsonReport {
        rows: report.rows,
        files: report.files,
        bytes_read: report.bytes_read,
        left: report.left(),
        renditions_pending: report.renditions_pending,
        findings,
    };
    Ok(serde_json::to_string(&report)? + "\n")
}

fn json_findings(kind: FindingKind, findings: &Findings) -> JsonFindings<'_> {
    let examples = findings.examples.iter();
    JsonFindings {
        kind: kind.name(),
        found: findings.found,
        repaired: findings.repaired,
        examples: examples
            .map(|Example { text, repaired }| JsonExample { text, repaired: *repaired })
            .collect(),
        remedy: kind.remedy(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(found: u64, repaired: u64) -> IntegrityReport {
        let example = Example { text: "ann@example.org: a.jpg".to_owned(), repaired: false };
        let findings = Findings { found, repaired, examples: vec![example] };
        IntegrityReport {
            rows: 9,
            files: 3,
            findings: [(FindingKind::LostOriginal, findings)].into(),
            ..IntegrityReport::default()
        }
    }

    #[test]
    fn reports_are_text_or_json() {
        let sound = IntegrityReport { rows: 9, files: 3, ..IntegrityReport::default() };
        assert_eq!(summary(&sound), "checked: 9 rows, 3 files\nEverything agrees.\n");
        let text = summary(&report(3, 1));
        assert!(text.contains(
            "\nlost original: 3 found, 1 repaired\n  ann@example.org: a.jpg\n  and 2 more\n  Import"
        ));
        assert!(text.ends_with("\nNot repaired: 2\n"), "{text}");
        assert!(summary(&report(1, 1)).ends_with("\nEverything was repaired.\n"));
        let json: serde_json::Value = serde_json::from_str(&json(&report(3, 1)).unwrap()).unwrap();
        assert_eq!((&json["left"], &json["findings"][0]["kind"]), (&2.into(), &"lost-original".into()));
        assert_eq!(json["findings"][0]["examples"][0]["text"], "ann@example.org: a.jpg");
    }
}
