//! Adds up the results that test programs print.

use std::fmt;
use std::ops::Add;

/// How many tests passed and failed; displayed as `3 passed, 1 failed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

impl Counts {
    pub(super) const ONE_PASSED: Self = Self { passed: 1, failed: 0 };
    pub(super) const ONE_FAILED: Self = Self { passed: 0, failed: 1 };

    /// A run that counts as one test.
    pub(super) const fn one(passed: bool) -> Self {
        if passed { Self::ONE_PASSED } else { Self::ONE_FAILED }
    }

    /// Reads the last line of a Rust test program:
    /// `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        let (_, parts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let number = |unit: &str| {
            let part = parts.split(';').find_map(|part| part.trim().strip_suffix(unit))?;
            part.trim_end().parse().ok()
        };
        Some(Self { passed: number(" passed")?, failed: number(" failed")? })
    }

    /// Counts a run that failed without a failed test (a failed build or a crash) as one failure.
    pub(super) fn with_status(self, success: bool) -> Self {
        if success || self.failed > 0 { self } else { self + Self::ONE_FAILED }
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(passed: u64, failed: u64) -> Counts {
        Counts { passed, failed }
    }

    #[test]
    fn result_lines_are_read() {
        let cases = [
            (
                "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
                Some(counts(5, 0)),
            ),
            (
                "test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
                Some(counts(4, 2)),
            ),
            ("test api::paging ... ok", None),
            ("test result: ok.", None),
            ("test result: ok. many passed; 0 failed", None),
            ("printed by a test: test result: ok. 5 passed; 0 failed", None),
            ("", None),
        ];
        for (line, expect) in cases {
            assert_eq!(Counts::of_line(line), expect, "{line}");
        }
    }

    #[test]
    fn counts_are_displayed_as_the_last_line() {
        let sum = counts(5, 0) + counts(4, 2) + Counts::ONE_PASSED;
        assert_eq!(sum.to_string(), "10 passed, 2 failed");
    }

    #[test]
    fn a_failed_build_counts_as_one_failure() {
        assert_eq!(counts(0, 0).with_status(false), counts(0, 1));
        assert_eq!(counts(7, 0).with_status(false), counts(7, 1));
        assert_eq!(counts(7, 2).with_status(false), counts(7, 2));
        assert_eq!(counts(7, 0).with_status(true), counts(7, 0));
    }

    proptest! {
        #[test]
        fn arbitrary_lines_never_panic(line in "(test result: )?\\PC{0,60}") {
            let _ = Counts::of_line(&line);
        }

        #[test]
        fn lines_of_libtest_are_read(passed: u32, failed: u32, ignored: u32) {
            let line = format!("test result: ok. {passed} passed; {failed} failed; {ignored} ignored; 0 measured");
            prop_assert_eq!(Counts::of_line(&line), Some(counts(passed.into(), failed.into())));
        }
    }
}
