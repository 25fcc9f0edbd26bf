//! Developer tasks: `cargo xtask --help`.
//!
//! The tasks use `cargo`, the `server` binary and HTTP. This program links none of the workspace's crates, so it builds
//! with only the Rust toolchain and a C linker, and can then install the rest. It runs on Linux and macOS.
//!
//! To add a subcommand: give it a module with a `run` function, a variant in [`Task`] whose doc comment is
//! its help text, and a line in [`dispatch`].

mod check;
mod demo;
mod dist;
mod http;
mod instance;
mod land;
mod migrate;
mod node;
mod password;
mod places;
mod postgres;
mod process;
mod release_run;
mod scripts;
mod suite;
mod system;
mod venv;
mod workspace;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use process::Runner;

/// The exit code that shells use for a program stopped by Ctrl-C.
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
    /// Build, import photos, serve them, and print a sign-in, an API key and curl commands to try
    Demo(demo::Options),
    /// Install what the tests need, run all tests, and print "N passed, N failed" as the last line
    Test(suite::Options),
    /// Check format, lints, licences, generated files, documents, and the trace from rules to tests
    Check(check::Options),
    /// Make the files of a release: program, Debian package, container image, licences and checksums
    Dist(dist::Options),
    /// Create, run, revert or list migrations
    Migrate(migrate::Options),
    /// Import every photo under DIR and report the results
    Corpus(release_run::CorpusOptions),
    /// Measure throughput and latency in a release build
    Bench {
        /// Benchmark (`api`, `images`, `import`, `mcp`, `oauth`, `ocr`, `scale`, `search`, `search-quality`, `sync`, `web` or
        /// `mutations`) and its arguments, such as `--help` [default: `api`, then `import`]
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Take screenshots of every page, in phone and desktop size, in light and dark
    Screenshots(suite::ScreenshotOptions),
    /// Start Postgres and PgBouncer for single tests, and print the variables with their URLs; Ctrl-C stops them
    Postgres(postgres::Options),
    /// Pack coastlines and borders of Natural Earth into a data file of the crate `places`
    Land(land::Options),
    /// Pack the cities of GeoNames into the data file of the crate `places`
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
        // Ctrl-C needs no message.
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
        Task::Dist(options) => dist::run(runner, &options)?,
        Task::Migrate(options) => migrate::run(runner, &options)?,
        Task::Corpus(options) => release_run::corpus(runner, &options)?,
        Task::Bench { arguments } => release_run::bench(runner, &arguments)?,
        Task::Screenshots(options) => suite::screenshots(runner, &options)?,
        Task::Postgres(options) => postgres::run(runner, &options)?,
        Task::Land(options) => land::run(&options)?,
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
