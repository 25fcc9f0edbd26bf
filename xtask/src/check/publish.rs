//! Checks that the public crates could be published: each package compiles by itself from what it would upload, all
//! compile with their lowest Rust version for somebody who has nothing else of the workspace, and the MCP crate compiles
//! for WebAssembly.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::process::{ProcessError, Runner};
use crate::workspace;

use super::PUBLIC_CRATES;

/// The `rust-version` of the public crates.
const LOWEST_RUST: &str = "1.85.0";
const WASM: &str = "wasm32-unknown-unknown";

/// The manifest of a project that uses the public crates with all their features.
const PROJECT: &str = r#"[package]
name = "project"
version = "0.0.0"
edition = "2024"
rust-version = "1.85"

[dependencies]
strict-json = { path = "../../crates/strict-json" }
oauth-core = { path = "../../crates/oauth-core", features = ["axum", "conformance", "jwt"] }
mcp-wire = { path = "../../crates/mcp-protocol", features = ["axum", "reqwest", "schema"] }

[workspace]
"#;

/// Why the check of the public crates failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

pub(super) fn run(runner: &Runner) -> Result<(), PublishError> {
    // Changes that are not committed would be uploaded too; a check accepts them.
    let mut publish = workspace::cargo(["publish", "--dry-run", "--allow-dirty"]);
    for name in PUBLIC_CRATES {
        publish.args(["-p", name]);
    }
    runner.run(&mut publish)?;
    compile_with_lowest_rust(runner)?;
    compile_for_wasm(runner)
}

fn compile_with_lowest_rust(runner: &Runner) -> Result<(), PublishError> {
    runner.run(Command::new("rustup").args(["toolchain", "install", LOWEST_RUST, "--profile", "minimal"]))?;
    let manifest = write_project()?;
    // Its own lock file has versions of the dependencies that support this Rust version.
    let mut check = Command::new("rustup");
    check.args(["run", LOWEST_RUST, "cargo", "check", "--manifest-path"]).arg(manifest);
    Ok(runner.run(check.current_dir(workspace::root()))?)
}

/// Writes the project two folders below the root, and returns the path of its manifest.
fn write_project() -> Result<PathBuf, PublishError> {
    let folder = workspace::path("target/lowest-rust");
    let manifest = folder.join("Cargo.toml");
    fs::create_dir_all(folder.join("src"))
        .and_then(|()| fs::write(folder.join("src/lib.rs"), ""))
        .and_then(|()| fs::write(&manifest, PROJECT))
        .map_err(|source| PublishError::Write { path: folder, source })?;
    Ok(manifest)
}

fn compile_for_wasm(runner: &Runner) -> Result<(), PublishError> {
    runner.run(Command::new("rustup").args(["target", "add", WASM]).current_dir(workspace::root()))?;
    let check = ["check", "-p", "mcp-wire", "--features", "http,schema", "--target", WASM];
    Ok(runner.run(&mut workspace::cargo(check))?)
}
