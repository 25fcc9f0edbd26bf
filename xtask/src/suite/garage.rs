//! Installs Garage, a distributed S3 store.

use std::path::PathBuf;

use crate::process::{ProcessError, Runner};
use crate::workspace;

const VERSION: &str = "2.5.0";

/// The path of the program. Its first build takes 10 to 20 minutes.
pub(super) fn program(runner: &Runner) -> Result<PathBuf, ProcessError> {
    let root = workspace::target("garage");
    let mut install = workspace::cargo(["install", "garage", "--version", VERSION, "--locked"]);
    // It does nothing if this version is installed.
    install.arg("--root").arg(&root).env("CARGO_TARGET_DIR", workspace::target("garage-build"));
    runner.run(&mut install)?;
    Ok(root.join("bin/garage"))
}
