//! The developer's and newcomer's tool: `cargo xtask --help`.
//!
//! It drives the other parts from outside, through `cargo`, the `server` binary and HTTP, and links none of
//! the workspace's crates: it builds with the Rust toolchain and a C linker alone, and can then install the
//! rest. It runs on Linux and macOS.
//!
//! To add a subcommand: give it a module with a `run` function, a variant in [`Task`] whose doc comment is
//! its help text, and a line in [`dispatch`].

mod check;
mod date;
mod demo;
mod http;
mod instance;
mod migrate;
mod password;
mod places;
mod process;
mod release_run;
mod suite;
mod system;
mod workspace;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use process::Runner;

/// What a shell reports for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

#[derive(Debug, Parser)]
#[command(
    name = "xtask",
    bin_name = "cargo xtask",
    about = "Developer and newcomer tasks of the photo library."
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build, import photos, serve them, and print the sign-in, an API key and curl lines to paste
    Demo(demo::Options),
    /// Set up what the tests need, run them all, and end with the line "N passed, N failed"
    Test(suite::Options),
    /// Check format, lints, licences, generated files, what documents promise, and the trace from rules to tests
    Check(check::Options),
    /// Make, run, revert or list migrations
    Migrate(migrate::Options),
    /// Run every photo under DIR through the importer and report what came of it
    Corpus(release_run::CorpusOptions),
    /// Measure throughput and latency in a release build
    Bench {
        /// What to measure (`api`, `import`, `mcp`, `oauth`, `search`, `search-quality` or `mutations`; `api` and `import` when left out), then the
        /// benchmark's own arguments, such as `--help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Take pictures of every page, on a phone and on a desk, in light and dark
    Screenshots(suite::PictureOptions),
    /// Pack GeoNames' cities into the file that place names come from
    Places(places::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runner = match Runner::install() {
        Ok(runner) => runner,
        Err(error) => return failure(&error),
    };
    match dispatch(&runner, arguments.task) {
        Ok(code) => code,
        // What the user asked to end needs no explanation.
        Err(_) if runner.check_interrupted().is_err() => ExitCode::from(INTERRUPTED),
        Err(error) => failure(error.as_ref()),
    }
}

fn failure(error: &dyn Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

fn dispatch(runner: &Runner, task: Task) -> Result<ExitCode, Box<dyn Error>> {
    match task {
        Task::Demo(options) => demo::run(runner, &options)?,
        Task::Test(options) => return Ok(suite::run(runner, &options)?),
        Task::Check(options) => check::run(runner, &options)?,
        Task::Migrate(options) => migrate::run(runner, &options)?,
        Task::Corpus(options) => release_run::corpus(runner, &options)?,
        Task::Bench { arguments } => release_run::bench(runner, &arguments)?,
        Task::Screenshots(options) => suite::screenshots(runner, &options)?,
        Task::Places(options) => places::run(&options)?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn bench_passes_flags_on() {
        let parsed = Arguments::try_parse_from(["xtask", "bench", "api", "--seconds", "3"]).unwrap();
        let Task::Bench { arguments } = parsed.task else { panic!("not a bench task") };
        assert_eq!(arguments, ["api", "--seconds", "3"]);
    }
}
