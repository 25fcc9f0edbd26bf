//! The system packages that a build or a test run needs: found, installed when that is allowed, or named.
//!
//! To add one, add a row to the table in `packages`.

mod packages;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{ProcessError, Runner};
use packages::{Manager, Missing, Plan, Privilege};

/// What the caller is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tools {
    /// Compile the workspace.
    Build,
    /// Compile it, and run the tests, some of which are Python programs.
    Test,
    /// Compile it, and run the printed curl lines.
    Curl,
    /// Compile it, and open its pages in a browser.
    Browser,
}

/// Why something that is needed is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SystemError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("{missing} not found. Run this, then try again:\n\n    {command}\n{}", missing.otherwise())]
    Missing { missing: Missing, command: String },
    #[error("{missing} not found, and neither apt, dnf, pacman, apk nor brew: install it, then try again")]
    NoPackageManager { missing: Missing },
}

/// Makes sure that the tools are there. Installs them with apt-get when running as root or when sudo asks for
/// no password; otherwise the error names the one command that the user should run.
pub(crate) fn ensure(runner: &Runner, tools: Tools) -> Result<(), SystemError> {
    let missing = find_missing(tools);
    if missing.is_empty() {
        return Ok(());
    }
    let manager = Manager::ALL.into_iter().find(|manager| on_path(manager.program()));
    match packages::plan(missing, manager, privilege()) {
        Plan::Install { missing, commands, by_hand } => {
            println!("{missing} not found; installing with apt-get");
            install(runner, &commands).map_err(|error| or_by_hand(error, missing, &by_hand))?;
            still_missing(tools, by_hand)
        }
        Plan::Tell { missing, command } => Err(SystemError::Missing { missing, command }),
        Plan::NoManager { missing } => Err(SystemError::NoPackageManager { missing }),
    }
}

fn install(runner: &Runner, commands: &[Vec<String>]) -> Result<(), ProcessError> {
    for words in commands {
        if let Some((program, arguments)) = words.split_first() {
            runner.run(Command::new(program).args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))?;
        }
    }
    Ok(())
}

fn or_by_hand(error: ProcessError, missing: Missing, by_hand: &str) -> SystemError {
    match error {
        ProcessError::Interrupted => SystemError::Process(error),
        error => {
            eprintln!("{error}");
            SystemError::Missing { missing, command: by_hand.to_owned() }
        }
    }
}

fn still_missing(tools: Tools, command: String) -> Result<(), SystemError> {
    let missing = find_missing(tools);
    if missing.is_empty() { Ok(()) } else { Err(SystemError::Missing { missing, command }) }
}

fn find_missing(tools: Tools) -> Missing {
    let absent = |tool: &&packages::Tool| match tool.probe {
        packages::Probe::OnPath => !on_path(tool.name),
        packages::Probe::Chromium => chromium().is_none(),
        packages::Probe::Python(code) => !quiet_success(Command::new("python3").args(["-c", code])),
    };
    Missing(packages::needed_for(tools).filter(absent).collect())
}

fn on_path(program: &str) -> bool {
    find_program(program).is_some()
}

fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| is_executable(file))
}

/// Chromium, or a browser made of it.
pub(crate) fn chromium() -> Option<PathBuf> {
    const NAMES: [&str; 6] = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        // Applications of macOS are not on the path.
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ];
    NAMES.into_iter().find_map(find_program)
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn privilege() -> Privilege {
    if rustix::process::geteuid().is_root() {
        Privilege::Root
    } else if on_path("sudo") && quiet_success(Command::new("sudo").args(["-n", "true"])) {
        Privilege::PasswordlessSudo
    } else {
        Privilege::User
    }
}

fn quiet_success(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(on_path("sh"));
        assert!(!on_path("no-such-program"));
        assert!(on_path("/bin/sh"), "a whole path needs no folder");
    }
}
