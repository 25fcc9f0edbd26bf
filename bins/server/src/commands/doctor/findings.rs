use super::Report;

/// What was found so far, one line each.
#[derive(Debug, Default)]
pub(super) struct Findings {
    text: String,
    any_failure: bool,
}

impl Findings {
    /// All is well with it.
    pub(super) fn ok(&mut self, what: &str, said: &str) {
        self.line("ok  ", what, said);
    }

    /// The service works, but somebody should look at it.
    pub(super) fn warn(&mut self, what: &str, said: &str) {
        self.line("warn", what, said);
    }

    /// The service does not work so.
    pub(super) fn fail(&mut self, what: &str, said: &str) {
        self.any_failure = true;
        self.line("FAIL", what, said);
    }

    /// Adds what was found elsewhere.
    pub(super) fn append(&mut self, other: &Self) {
        self.text.push_str(&other.text);
        self.any_failure |= other.any_failure;
    }

    fn line(&mut self, verdict: &str, what: &str, said: &str) {
        self.text.push_str(&format!("{verdict}  {what}: {said}\n"));
    }

    /// The findings as the command's report.
    pub(super) fn report(self) -> Report {
        Report { text: self.text, something_failed: self.any_failure }
    }
}
