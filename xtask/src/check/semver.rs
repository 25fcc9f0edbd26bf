//! Checks that programs that compile with the last release of a public crate compile with this version, unless its version
//! number says that they may not.

use crate::process::{ProcessError, Runner};
use crate::workspace;

use super::{PUBLIC_CRATES, install};

const VERSION: &str = "0.51.0";

/// The commit of the last release. Before the first release, the last commit with a breaking change.
const BASELINE: &str = "504edcbd546287684d316918dd5c186d1c4517fc";

pub(super) fn run(runner: &Runner) -> Result<(), ProcessError> {
    install(runner, "semver-checks", VERSION)?;
    let mut check = workspace::cargo(["semver-checks", "--all-features", "--baseline-rev", BASELINE]);
    for name in PUBLIC_CRATES {
        check.args(["-p", name]);
    }
    runner.run(&mut check)
}
