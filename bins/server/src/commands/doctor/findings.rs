use serde::Serialize;

use super::Report;

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
}

#[derive(Debug, Clone, Serialize)]
struct Finding {
    verdict: Verdict,
    subject: String,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// The check passed.
    Ok,
    /// A problem with which the server works.
    Warn,
    /// A problem with which the server does not work.
    Fail,
}

#[derive(Serialize)]
struct Document<'a> {
    /// No check failed.
    ok: bool,
    findings: &'a [Finding],
}

impl Findings {
    /// Adds a check that passed.
    pub(super) fn ok(&mut self, subject: &str, message: &str) {
        self.add(Verdict::Ok, subject, message);
    }

    /// Adds a problem with which the server works.
    pub(super) fn warn(&mut self, subject: &str, message: &str) {
        self.add(Verdict::Warn, subject, message);
    }

    /// Adds a problem with which the server does not work.
    pub(super) fn fail(&mut self, subject: &str, message: &str) {
        self.add(Verdict::Fail, subject, message);
    }

    /// Adds the findings of another check.
    pub(super) fn append(&mut self, other: Self) {
        self.list.extend(other.list);
    }

    fn add(&mut self, verdict: Verdict, subject: &str, message: &str) {
        self.list.push(Finding { verdict, subject: subject.to_owned(), message: message.to_owned() });
    }

    fn failed(&self) -> bool {
        self.list.iter().any(|finding| finding.verdict == Verdict::Fail)
    }

    /// The findings as the command's report, one line each.
    pub(super) fn report(self) -> Report {
        let line = |Finding { verdict, subject, message }: &Finding| {
            let verdict = match verdict {
                Verdict::Ok => "ok  ",
                Verdict::Warn => "warn",
                Verdict::Fail => "FAIL",
            };
            format!("{verdict}  {subject}: {message}\n")
        };
        Report { text: self.list.iter().map(line).collect(), failed: self.failed() }
    }

    /// The findings as one JSON document.
    pub(super) fn json(self) -> serde_json::Result<Report> {
        let failed = self.failed();
        let mut text = serde_json::to_string_pretty(&Document { ok: !failed, findings: &self.list })?;
        text.push('\n');
        Ok(Report { text, failed })
    }
}
