//! `check`: checks the work tree without running the tests.

mod generated;
mod promises;
mod publish;
mod semver;
mod trace;

use std::process::Stdio;
use std::time::Instant;

use clap::{Args, ValueEnum};

use crate::process::{ProcessError, Runner};
use crate::system::{self, SystemError, Tools};
use crate::workspace;
use generated::GeneratedError;
use promises::PromisesError;
use publish::PublishError;
use trace::TraceError;

const CARGO_DENY_VERSION: &str = "0.20.2";

/// The packages that are published. Dependencies come first.
const PUBLIC_CRATES: [&str; 3] = ["strict-json", "oauth-core", "mcp-wire"];

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Run only these steps, separated by commas [default: all but semver]
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Step>,
    /// Update the generated files instead of comparing them
    #[arg(long)]
    write: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// cargo fmt
    Fmt,
    /// cargo clippy with warnings denied
    Clippy,
    /// Licences, bans and sources of the dependencies
    Deny,
    /// Generated documents and scripts are up to date
    Generated,
    /// Commands, variables, paths and links in documents and in the demo's output exist
    Promises,
    /// Every rule in tests/trace.toml names a test that exists
    Trace,
    /// The public crates could be published, and compile with their lowest Rust version and for WebAssembly
    Publish,
    /// The versions of the public crates allow the changes of their interfaces. Only if chosen by --only, because the tool
    /// takes minutes to compile
    Semver,
}

/// Why the check failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Generated(#[from] GeneratedError),
    #[error(transparent)]
    Promises(#[from] PromisesError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error("failed: {0}")]
    Steps(String),
}

pub(crate) fn run(runner: &Runner, options: &Options) -> Result<(), CheckError> {
    let mut failed = Vec::new();
    for step in chosen(&options.only) {
        println!("== {}", name(step));
        let started = Instant::now();
        let outcome = run_step(runner, step, options.write);
        println!("== {}: {} s", name(step), started.elapsed().as_secs());
        runner.check_interrupted()?;
        if let Err(error) = outcome {
            eprintln!("{}: {error}", name(step));
            failed.push(name(step));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(CheckError::Steps(failed.join(", "))) }
}

fn chosen(only: &[Step]) -> Vec<Step> {
    if only.is_empty() {
        Step::value_variants().iter().copied().filter(|step| *step != Step::Semver).collect()
    } else {
        only.to_vec()
    }
}

fn name(step: Step) -> String {
    step.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn run_step(runner: &Runner, step: Step, write: bool) -> Result<(), CheckError> {
    if !matches!(step, Step::Fmt | Step::Deny) {
        system::ensure(runner, Tools::Build)?;
    }
    match step {
        Step::Fmt => runner.run(&mut workspace::cargo(["fmt", "--all", "--check"]))?,
        Step::Clippy => {
            let arguments =
                ["--workspace", "--all-targets", "--features", "fuzz/binaries", "--", "-D", "warnings"];
            runner.run(&mut workspace::compile("clippy", arguments))?;
        }
        Step::Deny => deny(runner)?,
        Step::Generated => generated::run(runner, write)?,
        Step::Promises => promises::run(runner)?,
        Step::Trace => trace::run(runner)?,
        Step::Publish => publish::run(runner)?,
        Step::Semver => semver::run(runner)?,
    }
    Ok(())
}

fn deny(runner: &Runner) -> Result<(), ProcessError> {
    install(runner, "deny", CARGO_DENY_VERSION)?;
    runner.run(&mut workspace::cargo([
        "deny",
        "check",
        "--hide-inclusion-graph",
        "licenses",
        "bans",
        "sources",
    ]))
}

/// Installs a subcommand of Cargo, unless there is one.
fn install(runner: &Runner, subcommand: &str, version: &str) -> Result<(), ProcessError> {
    let mut ask = workspace::cargo([subcommand, "--version"]);
    ask.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if ask.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    let package = format!("cargo-{subcommand}");
    // The tool runs for seconds only, and compiles faster without optimisations.
    let quick = ["--debug", "--config", "profile.dev.debug=false"];
    runner.run(workspace::cargo(["install", &package, "--locked", "--version", version]).args(quick))
}
