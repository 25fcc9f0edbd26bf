use super::Report;

/// The findings so far, one line each.
#[derive(Debug, Default)]
pub(super) struct Findings {
    text: String,
    failed: bool,
}

impl Findings {
    /// Adds a check that passed.
    pub(super) fn ok(&mut self, subject: &str, message: &str) {
        self.line("ok  ", subject, message);
    }

    /// Adds a problem with which the server works.
    pub(super) fn warn(&mut self, subject: &str, message: &str) {
        self.line("warn", subject, message);
    }

    /// Adds a problem with which the server does not work.
    pub(super) fn fail(&mut self, subject: &str, message: &str) {
        self.failed = true;
        self.line("FAIL", subject, message);
    }

    /// Adds the findings of another check.
    pub(super) fn append(&mut self, other: &Self) {
        self.text.push_str(&other.text);
        self.failed |= other.failed;
    }

    fn line(&mut self, verdict: &str, subject: &str, message: &str) {
        self.text.push_str(&format!("{verdict}  {subject}: {message}\n"));
    }

    /// The findings as the command's report.
    pub(super) fn report(self) -> Report {
        Report { text: self.text, failed: self.failed }
    }
}
