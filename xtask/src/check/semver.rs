//! Checks that programs that compile with the last release of a public crate compile with this version, unless its version
//! number says that they may not.

use crate::process::{ProcessError, Runner};
use crate::workspace::{self, PREVIOUS_RELEASE};

use super::{PUBLIC_CRATES, install};

const VERSION: &str = "0.51.0";

pub(super) fn run(runner: &Runner) -> Result<(), ProcessError> {
    install(runner, "semver-checks", VERSION)?;
    let mut check = workspace::cargo(["semver-checks", "--all-features", "--baseline-rev", PREVIOUS_RELEASE]);
    for name in PUBLIC_CRATES {
        check.args(["-p", name]);
    }
    runner.run(&mut check)
}
