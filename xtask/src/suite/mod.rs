//! `test`: sets up what the tests need, runs them all, and adds up what passed and failed.

mod counts;
mod mutations;
mod schemathesis;
mod steps;

use std::process::ExitCode;

use clap::Args;

use crate::process::{ProcessError, Runner};
use crate::system::{self, Tools};
use crate::workspace;
use counts::Counts;
use steps::Steps;

/// Tests read this to choose between small and full counts.
const FULL_VARIABLE: &str = "PHOTOS_TEST_FULL";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Run the heavy tests at their full counts
    #[arg(long)]
    full: bool,
}

/// Runs everything. The last line of standard output is `N passed, N failed`, whatever happened; the exit code
/// is 0 when nothing failed.
///
/// # Errors
/// Only Ctrl-C; what goes wrong otherwise is counted as failed.
pub(crate) fn run(runner: &Runner, options: &Options) -> Result<ExitCode, ProcessError> {
    let mut steps = Steps::default();
    let counts = count_all(runner, options, &mut steps);
    runner.check_interrupted()?;
    println!("\n{steps}{counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn count_all(runner: &Runner, options: &Options, steps: &mut Steps) -> Counts {
    let environment: &[(&str, &str)] = if options.full { &[(FULL_VARIABLE, "1")] } else { &[] };
    if !steps.prepare("system packages", || system::ensure(runner, Tools::Test))
        || !steps.prepare("build", || workspace::build_for_tests(runner, environment))
    {
        return Counts::ONE_FAILED;
    }
    let mut counts = steps.count("cargo test", || cargo_test(runner, environment));
    if options.full {
        counts = counts + steps.count("mutations", || mutations::run(runner));
    }
    counts + steps.count("schemathesis", || schemathesis::run(runner, options.full))
}

fn cargo_test(runner: &Runner, environment: &[(&str, &str)]) -> Result<Counts, ProcessError> {
    let mut command = workspace::cargo(["test", "--workspace", "--no-fail-fast"]);
    let mut counts = Counts::default();
    let status = runner.lines(command.envs(environment.iter().copied()), |line| {
        println!("{line}");
        counts = counts + Counts::of_line(line).unwrap_or_default();
    })?;
    Ok(counts.with_status(status.success()))
}
