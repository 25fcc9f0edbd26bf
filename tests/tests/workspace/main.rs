//! Checks rules for the source of every crate.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue must fail")]

mod circles;
mod layers;
mod source;

use std::{path::Path, process::Command};

use serde_json::Value;

/// The folder of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Every package of the workspace, from `cargo metadata`.
fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}
