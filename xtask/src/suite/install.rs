//! Tests of the Debian package in a virtual machine. See `tests/install/README.md`.

use super::clients::{self, ClientsError};
use super::counts::Counts;
use super::sync::{self, SyncError};
use crate::dist::{self, DistError};
use crate::process::Runner;
use crate::system::{self, SystemError, Tools};
use crate::workspace;

/// Why the checks could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Dist(#[from] DistError),
    #[error(transparent)]
    Clients(#[from] ClientsError),
    #[error(transparent)]
    Checks(#[from] SyncError),
    #[error("only root can make a disk with Debian, and use ports below 1024")]
    NotRoot,
}

/// Runs the checks. Each counts as one test.
pub(super) fn run(runner: &Runner, environment: &[(&str, &str)]) -> Result<Counts, InstallError> {
    if !rustix::process::geteuid().is_root() {
        return Err(InstallError::NotRoot);
    }
    system::ensure(runner, Tools::Install)?;
    let folder = workspace::target("install");
    let packages = sync::empty_folder(folder.join("packages"))?;
    let [previous, current] = dist::packages_for_test(runner, &workspace::target("debug/server"), &packages)?;
    let variables = [
        ("INSTALL_FOLDER", folder.into_os_string()),
        ("PREVIOUS_PACKAGE", previous.into_os_string()),
        ("PACKAGE", current.into_os_string()),
        ("CLIENTS_PYTHON", clients::python(runner)?.programs().join("python3").into_os_string()),
    ];
    Ok(sync::run_checks("tests/install", runner, environment, &variables)?)
}
