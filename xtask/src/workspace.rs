//! Where things are in the work tree, and the `cargo` that builds it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{ProcessError, Runner};

/// The root of the work tree.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// A path inside the work tree, from one relative to its root.
pub(crate) fn path(relative: &str) -> PathBuf {
    root().join(relative)
}

/// The build folder: `CARGO_TARGET_DIR`, or `target` in the root.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| path("target"), |dir| root().join(dir))
}

/// A path inside the build folder.
pub(crate) fn target(relative: &str) -> PathBuf {
    target_dir().join(relative)
}

/// The toolchain's `cargo`, run in the root.
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Builds every library, program and test once, with the dependency features that `cargo test --workspace`
/// chooses, so that no later step compiles a dependency again with other features.
///
/// # Errors
/// The build failed.
pub(crate) fn build_for_tests(runner: &Runner, environment: &[(&str, &str)]) -> Result<(), ProcessError> {
    let mut build = cargo(["build", "--workspace", "--bins", "--tests", "--examples"]);
    build.envs(environment.iter().copied());
    runner.run(&mut build)
}
