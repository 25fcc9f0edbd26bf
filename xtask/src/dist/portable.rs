//! Builds the server for an old glibc, also on a newer system: Zig's compiler has the symbols of every version of glibc, and
//! cargo-zigbuild makes it the linker and the C compiler of a build.

use std::path::PathBuf;

use crate::process::Runner;
use crate::venv::Venv;
use crate::workspace;

use super::program::Machine;
use super::{DistError, OLDEST_GLIBC};

/// Both are packages of Python's index, with programs for Linux on x86-64 and ARM.
const PACKAGES: &str = "cargo-zigbuild==0.24.1\nziglang==0.17.1\n";

/// Builds the server as it is released, with its default features, and returns the path of the program.
///
/// # Errors
/// The build failed.
pub(super) fn build(runner: &Runner) -> Result<PathBuf, DistError> {
    let venv = Venv::ensure(runner, "zig", PACKAGES)?;
    let target = Machine::of_this_system().target();
    let mut build = workspace::in_root(venv.programs().join("cargo-zigbuild"));
    build
        .args(["zigbuild", "--release", "--locked", "--package", "server", "--target"])
        .arg(format!("{target}.{OLDEST_GLIBC}"))
        // cargo-zigbuild looks for the Zig of its own environment in the search path.
        .env("PATH", venv.search_path());
    runner.run(&mut build)?;
    Ok(workspace::target(&format!("{target}/release/server")))
}
