//! Imports a few hundred broken files; `cargo xtask bench mutations` imports thousands.

use std::process::Command;

/// Needs the `server` program, which `cargo test --workspace` builds.
#[test]
fn each_broken_file_gets_an_outcome_and_the_server_keeps_running() {
    let output = Command::new(env!("CARGO_BIN_EXE_mutations")).args(["--count", "300"]).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.ends_with("\n300 files, 0 faults\n"), "{stdout}");
}
