//! The steps of a test run, their durations and their results.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use super::counts::Counts;

/// Finished steps; displayed as one line each.
#[derive(Debug, Default)]
pub(super) struct Steps {
    done: Vec<Done>,
}

#[derive(Debug)]
struct Done {
    name: &'static str,
    took: Duration,
    /// `None` for a step without tests.
    counts: Option<Counts>,
}

impl Steps {
    /// Runs a step that the others need. Returns whether it succeeded.
    pub(super) fn prepare<E: Error>(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> Result<(), E>,
    ) -> bool {
        self.timed(name, || step().map(|()| None)).is_some()
    }

    /// Runs a step that counts tests. An error counts as one failed test.
    pub(super) fn count<E: Error>(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> Result<Counts, E>,
    ) -> Counts {
        self.timed(name, || step().map(Some)).flatten().unwrap_or(Counts::ONE_FAILED)
    }

    fn timed<E: Error>(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> Result<Option<Counts>, E>,
    ) -> Option<Option<Counts>> {
        println!("\n== {name}");
        let started = Instant::now();
        let outcome = step().inspect_err(|error| eprintln!("{name}: {error}"));
        let counts = outcome.as_ref().map_or(Some(Counts::ONE_FAILED), |counts| *counts);
        self.done.push(Done { name, took: started.elapsed(), counts });
        outcome.ok()
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Done { name, took, counts } in &self.done {
            write!(formatter, "{name}: {:.1} s", took.as_secs_f64())?;
            match counts {
                Some(counts) => writeln!(formatter, ", {counts}")?,
                None => writeln!(formatter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_step_with_an_error_is_one_failed_test() {
        let mut steps = Steps::default();
        assert!(steps.prepare("set up", || Ok::<_, io::Error>(())));
        assert!(!steps.prepare("build", || Err(io::Error::other("no compiler"))));
        assert_eq!(steps.count("run", || Err(io::Error::other("no server"))), Counts::ONE_FAILED);
        assert_eq!(steps.count("again", || Ok::<_, io::Error>(Counts::ONE_PASSED)), Counts::ONE_PASSED);
        assert_eq!(
            steps.to_string(),
            "set up: 0.0 s\nbuild: 0.0 s, 0 passed, 1 failed\nrun: 0.0 s, 0 passed, 1 failed\nagain: 0.0 s, 1 passed, 0 failed\n"
        );
    }
}
