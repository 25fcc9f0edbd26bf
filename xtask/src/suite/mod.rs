//! `test`: sets up what the tests need, runs them, and adds up the results.

mod browser;
mod cargo_test;
mod clients;
mod conformance;
mod counts;
mod garage;
mod install;
mod load;
mod machines;
mod mutations;
mod onnx_runtime;
mod package;
mod program;
mod sample;
mod schemathesis;
mod steps;
mod sync;
mod upgrade;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::postgres::PostgresOnDemand;
use crate::process::{ProcessError, Runner};
use crate::system::{self, Tools};
use crate::workspace;
use browser::BrowserError;
use counts::Counts;
use steps::Steps;

/// Tests read this variable to choose between small and full counts.
const FULL_VARIABLE: &str = "PHOTOS_TEST_FULL";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Run the heavy tests with full counts
    #[arg(long)]
    full: bool,
    /// Run only these steps, separated by commas
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Step>,
    /// Revision from which the step `upgrade` upgrades
    #[arg(long, value_name = "REV", default_value = workspace::PREVIOUS_RELEASE)]
    previous: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// cargo test
    Cargo,
    /// Tests of the Postgres store once more, through PgBouncer; all of them with --full
    Pgbouncer,
    /// The black-box tests once more, with the service on Postgres and S3
    PostgresS3,
    /// Import of 10,000 broken photos beside a running server; only with --full or if named
    Mutations,
    /// Property tests of the API against its own OpenAPI document
    Schemathesis,
    /// Official MCP and OAuth clients and servers, and registrations of well-known apps
    Clients,
    /// The official MCP conformance suite
    Conformance,
    /// The pages in headless Chromium, with axe-core, and the web library in Firefox
    Browser,
    /// Sync clients: rclone, nextcloudcmd, nc_py_api, litmus, cadaver and curl
    Sync,
    /// The sync clients once more, with servers on Postgres behind PgBouncer and on S3
    SyncPostgresS3,
    /// The server from the Debian package and the container image, with an upgrade; on Linux
    Package,
    /// The Debian package in a virtual machine with systemd and a proxy; only with --full or if named
    Install,
    /// A household's load for a minute, an hour with --full, and hostile clients
    Load,
    /// Three servers and two workers that are killed, on Postgres and S3 that are stopped
    Machines,
    /// A rolling upgrade from the previous release, on Postgres and S3; only with --full or if named
    Upgrade,
}

impl Options {
    fn steps(&self) -> Vec<Step> {
        let chosen = |step: &Step| match step {
            step if !self.only.is_empty() => self.only.contains(step),
            Step::Mutations | Step::Upgrade => self.full,
            Step::Install => self.full && cfg!(target_os = "linux"),
            Step::Package => cfg!(target_os = "linux"),
            _ => true,
        };
        Step::value_variants().iter().copied().filter(chosen).collect()
    }
}

/// Runs the steps. The last line of standard output is always `N passed, N failed`; the exit code is 0 if nothing
/// failed.
///
/// # Errors
/// Only Ctrl-C. Every other error counts as a failed test.
pub(crate) fn run(runner: &Runner, options: &Options) -> Result<ExitCode, ProcessError> {
    let mut steps = Steps::default();
    let counts = count_all(runner, options, &mut steps);
    runner.check_interrupted()?;
    println!("\n{steps}{counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Args, Debug)]
pub(crate) struct ScreenshotOptions {
    /// Folder for the screenshots [default: `screenshots` in the build folder]
    folder: Option<PathBuf>,
}

/// Takes screenshots of every page in Chromium.
pub(crate) fn screenshots(runner: &Runner, options: &ScreenshotOptions) -> Result<(), BrowserError> {
    system::ensure(runner, Tools::Test)?;
    workspace::build_programs(runner, &["server"])?;
    let folder = options.folder.clone().unwrap_or_else(|| workspace::target("screenshots"));
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    browser::screenshots(runner, folder)
}

fn count_all(runner: &Runner, options: &Options, done: &mut Steps) -> Counts {
    let environment: &[(&str, &str)] = if options.full { &[(FULL_VARIABLE, "1")] } else { &[] };
    let steps = options.steps();
    if !done.prepare("system packages", || system::ensure(runner, Tools::Test))
        || !done.prepare("build", || build(runner, &steps, environment))
    {
        return Counts::ONE_FAILED;
    }
    let mut postgres = PostgresOnDemand::new(runner);
    let count = |sum, step| {
        sum + match step {
            Step::Cargo => {
                done.count("cargo test", || cargo_test::workspace(runner, environment, &mut postgres))
            }
            Step::Pgbouncer => done.count("PgBouncer", || {
                cargo_test::store_through_pgbouncer(runner, environment, &mut postgres, options.full)
            }),
            Step::PostgresS3 => done.count("Postgres and S3", || {
                cargo_test::service_on_postgres_and_s3(runner, environment, &mut postgres)
            }),
            Step::Mutations => done.count("mutations", || mutations::run(runner)),
            Step::Schemathesis => done.count("schemathesis", || schemathesis::run(runner, options.full)),
            Step::Clients => done.count("clients", || clients::run(runner)),
            Step::Conformance => done.count("conformance", || conformance::run(runner)),
            Step::Browser => done.count("browser", || browser::run(runner, environment)),
            Step::Sync => done.count("sync", || sync::run(runner, environment)),
            Step::SyncPostgresS3 => done.count("sync, Postgres and S3", || {
                sync::run_on_postgres_and_s3(runner, environment, &mut postgres, options.full)
            }),
            Step::Package => done.count("package", || package::run(runner)),
            Step::Install => done.count("install", || install::run(runner, environment)),
            Step::Load => done.count("load", || load::run(runner, options.full)),
            Step::Machines => done.count("machines", || machines::run(runner, environment)),
            Step::Upgrade => done.count("upgrade", || upgrade::run(runner, environment, &options.previous)),
        }
    };
    steps.iter().copied().fold(Counts::default(), count)
}

/// Builds everything for `cargo test`, and only the programs for the other steps.
fn build(runner: &Runner, steps: &[Step], environment: &[(&str, &str)]) -> Result<(), ProcessError> {
    if steps.contains(&Step::Cargo) {
        return workspace::build_for_tests(runner, environment);
    }
    let needed = [
        (Step::Mutations, "mutations"),
        (Step::Conformance, "mcp_fixture"),
        (Step::Clients, "mcp_interop"),
        (Step::Load, "bench"),
    ];
    let needed = needed.iter().filter(|(step, _)| steps.contains(step)).map(|(_, program)| *program);
    let programs: Vec<_> = std::iter::once("server").chain(needed).collect();
    workspace::build_programs(runner, &programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen() {
        let steps =
            |full, only: &[Step]| Options { full, only: only.to_vec(), previous: String::new() }.steps();
        let by_default = [
            Step::Cargo,
            Step::Pgbouncer,
            Step::PostgresS3,
            Step::Schemathesis,
            Step::Clients,
            Step::Conformance,
            Step::Browser,
            Step::Sync,
            Step::SyncPostgresS3,
            Step::Package,
            Step::Load,
            Step::Machines,
        ];
        let by_default: Vec<_> = by_default
            .into_iter()
            .filter(|step| cfg!(target_os = "linux") || *step != Step::Package)
            .collect();
        assert_eq!(steps(false, &[]), by_default);
        let only_in_full: Vec<_> =
            steps(true, &[]).into_iter().filter(|step| !by_default.contains(step)).collect();
        let install = cfg!(target_os = "linux").then_some(Step::Install);
        let expect = [Some(Step::Mutations), install, Some(Step::Upgrade)];
        assert_eq!(only_in_full, expect.into_iter().flatten().collect::<Vec<_>>());
        for full in [false, true] {
            assert_eq!(steps(full, &[Step::Clients, Step::Mutations]), [Step::Mutations, Step::Clients]);
            assert_eq!(steps(full, &[Step::Upgrade]), [Step::Upgrade]);
        }
    }
}
