//! Paths in the work tree, and the cargo commands that build it.
//!
//! Cargo compiles a dependency once for each set of its features, and the selected packages and targets decide the set. So
//! every dev build here selects the whole workspace with dev-dependencies, and nothing is compiled twice. A release build
//! selects `server` alone.
//!
//! A plain `cargo build` has the server's default features, which make it run anywhere and take minutes to compile. The
//! builds here leave them out, except for the one that is released.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{ProcessError, Runner};
use crate::system;

/// The commit of the last release. Before the first release, the last commit with a breaking change.
pub(crate) const PREVIOUS_RELEASE: &str = "504edcbd546287684d316918dd5c186d1c4517fc";

/// The root of the work tree.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// A path in the work tree, relative to its root.
pub(crate) fn path(relative: &str) -> PathBuf {
    root().join(relative)
}

/// Whether the text of a file of the workspace is this one.
pub(crate) fn holds(file: &str, text: &str) -> bool {
    std::fs::read_to_string(path(file)).is_ok_and(|present| present == text)
}

/// The build folder: `CARGO_TARGET_DIR`, or `target` in the root.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| path("target"), |dir| root().join(dir))
}

/// A path in the build folder.
pub(crate) fn target(relative: &str) -> PathBuf {
    target_dir().join(relative)
}

/// The toolchain's `cargo`, run in the root.
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = in_root(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.args(arguments);
    command
}

/// A program that runs cargo, run in the root.
///
/// The variables that `cargo run` has set for this program are removed. Build scripts that depend on them would run again
/// whenever a plain `cargo` command and one of this program alternate.
pub(crate) fn in_root(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let is_of_this_package =
            ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix));
        if is_of_this_package {
            command.env_remove(name);
        }
    }
    command
}

/// A cargo command that compiles the server without its default features. It compiles OpenSSL where the system has none.
pub(crate) fn compile<const N: usize>(subcommand: &str, arguments: [&str; N]) -> Command {
    let mut command = cargo([subcommand, "--no-default-features"]);
    if !system::has_openssl() {
        command.args(["--features", "server/vendored-openssl"]);
    }
    command.args(arguments);
    command
}

/// Builds every library, program and test in the dev profile.
///
/// # Errors
/// The build failed.
pub(crate) fn build_for_tests(runner: &Runner, environment: &[(&str, &str)]) -> Result<(), ProcessError> {
    let mut build = compile("build", ["--workspace", "--bins", "--tests", "--examples"]);
    build.envs(environment.iter().copied());
    runner.run(&mut build)
}

/// Builds these programs in the dev profile.
///
/// # Errors
/// The build failed.
pub(crate) fn build_programs(runner: &Runner, programs: &[&str]) -> Result<(), ProcessError> {
    // Examples bring in the dev-dependencies, whose features the tests use.
    let mut build = compile("build", ["--workspace", "--examples"]);
    build.args(programs.iter().flat_map(|program| ["--bin", program]));
    runner.run(&mut build)
}

/// Builds the server in the release profile, and programs of the package `tests` beside it.
///
/// # Errors
/// The build failed.
pub(crate) fn build_release(runner: &Runner, programs: &[&str]) -> Result<(), ProcessError> {
    let mut build = compile("build", ["--release", "-p", "server", "--bin", "server"]);
    for program in programs {
        build.args(["-p", "tests", "--bin", program]);
    }
    runner.run(&mut build)
}
