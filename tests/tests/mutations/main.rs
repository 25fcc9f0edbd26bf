//! Broken files do no harm: a few hundred of what `cargo xtask bench mutations` imports by the thousand.

use std::process::Command;

/// It needs the `server` program, which `cargo test --workspace` builds.
#[test]
fn each_broken_file_gets_an_outcome_and_the_server_goes_on() {
    let output = Command::new(env!("CARGO_BIN_EXE_mutations")).args(["--count", "300"]).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.ends_with("\n300 files, 0 faults\n"), "{stdout}");
}
