//! A short run of `cargo xtask bench mutations`: some hundred broken files.

use std::process::Command;

/// Needs the `server` program, which `cargo test --workspace` builds.
#[test]
fn broken_files_are_imported_or_rejected_and_the_server_keeps_running() {
    let output = Command::new(env!("CARGO_BIN_EXE_mutations")).args(["--count", "300"]).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.ends_with("\n300 files, 0 faults\n"), "{stdout}");
}
