//! The steps of a test run and their durations.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use super::counts::Counts;

/// Finished steps; displayed as one line each.
#[derive(Debug, Default)]
pub(super) struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Runs a step that the others need. Returns whether it succeeded.
    pub(super) fn prepare<E: Error>(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> Result<(), E>,
    ) -> bool {
        self.timed(name, step).is_some()
    }

    /// Runs a step that counts tests. An error counts as one failed test.
    pub(super) fn count<E: Error>(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> Result<Counts, E>,
    ) -> Counts {
        self.timed(name, step).unwrap_or(Counts::ONE_FAILED)
    }

    fn timed<T, E: Error>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T, E>) -> Option<T> {
        println!("\n== {name}");
        let started = Instant::now();
        let outcome = step();
        self.done.push((name, started.elapsed()));
        outcome.inspect_err(|error| eprintln!("{name}: {error}")).ok()
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, took) in &self.done {
            writeln!(formatter, "{name}: {:.1} s", took.as_secs_f64())?;
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
        let shown = steps.to_string();
        assert_eq!(shown.lines().count(), 3, "{shown}");
        assert!(shown.starts_with("set up: 0.0 s\n"), "{shown}");
    }
}
