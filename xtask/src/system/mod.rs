//! Finds the system packages that a build or a test run needs, installs them where that is allowed, else names the command.
//!
//! To add a package, add a row to the table in `packages`.

mod packages;
mod postgres;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{ProcessError, Runner};
use packages::{Manager, Missing, Plan, Privilege};

pub(crate) use postgres::programs as postgres_programs;

/// What the tools are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tools {
    /// Compile the workspace.
    Build,
    /// Compile it, and run the tests. Some are Python programs.
    Test,
    /// Compile it, and run the printed curl lines.
    Curl,
    /// Compile it, and open its pages in a browser.
    Browser,
    /// Compile it, and run sync clients.
    Sync,
    /// Compile it, and run tests on Postgres.
    Postgres,
    /// Compile it with tools from Python's package index.
    Release,
    /// Compile it, and run it from the files of a release.
    Package,
    /// Compile it, and run several servers behind a proxy.
    Machines,
    /// Compile it, and install it in a virtual machine.
    Install,
}

/// Why a tool is missing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SystemError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("{missing} not found. Run this, then try again:\n\n    {command}\n{}", missing.otherwise())]
    Missing { missing: Missing, command: String },
    #[error("{missing} not found, and neither apt, dnf, pacman, apk nor brew: install it, then try again")]
    NoPackageManager { missing: Missing },
}

/// Makes sure that the tools are installed. Installs missing ones with apt-get as root or where sudo needs no password.
///
/// # Errors
/// A required tool is missing; the error names the one command to run.
pub(crate) fn ensure(runner: &Runner, tools: Tools) -> Result<(), SystemError> {
    let missing = find_missing(tools);
    if missing.is_empty() {
        return Ok(());
    }
    let is_required = missing.is_required();
    let manager = Manager::ALL.into_iter().find(|manager| on_path(manager.program()));
    match packages::plan(missing, manager, privilege()) {
        Plan::Install { missing, commands, by_hand } => {
            println!("{missing} not found; installing with apt-get");
            install(runner, &commands).or_else(|error| after_failure(error, missing, &by_hand))?;
            still_missing(tools, by_hand)
        }
        Plan::PrintCommand { .. } | Plan::NoManager { .. } if !is_required => Ok(()),
        Plan::PrintCommand { missing, command } => Err(SystemError::Missing { missing, command }),
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

/// A failed installation matters only if a required tool is missing.
fn after_failure(error: ProcessError, missing: Missing, by_hand: &str) -> Result<(), SystemError> {
    if matches!(error, ProcessError::Interrupted) {
        return Err(SystemError::Process(error));
    }
    eprintln!("{error}");
    if missing.is_required() {
        return Err(SystemError::Missing { missing, command: by_hand.to_owned() });
    }
    Ok(())
}

fn still_missing(tools: Tools, command: String) -> Result<(), SystemError> {
    let missing = find_missing(tools);
    if missing.is_required() { Err(SystemError::Missing { missing, command }) } else { Ok(()) }
}

fn find_missing(tools: Tools) -> Missing {
    let absent = |tool: &&packages::Tool| match tool.probe {
        packages::Probe::OnPath => !on_path(tool.name),
        packages::Probe::Chromium => chromium().is_none(),
        packages::Probe::Firefox => firefox().is_none(),
        packages::Probe::Postgres => postgres::programs().is_none(),
        packages::Probe::OnSystemPath => find_system_program(tool.name).is_none(),
        packages::Probe::Faketime => faketime().is_none(),
        packages::Probe::OpenSsl => !has_openssl(),
        packages::Probe::Python(code) => !quiet_success(Command::new("python3").args(["-c", code])),
    };
    Missing(packages::needed_for(tools).filter(absent).collect())
}

fn on_path(program: &str) -> bool {
    find_program(program).is_some()
}

/// The first executable file of this name on the path.
pub(crate) fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| is_executable(file))
}

/// A program of the system, which may be where only root's path leads to.
pub(crate) fn find_system_program(program: &str) -> Option<PathBuf> {
    const FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];
    find_program(program)
        .or_else(|| FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.is_file()))
}

/// The library that shifts the clock of a process, where the packages put it.
pub(crate) fn faketime() -> Option<PathBuf> {
    let folders = [
        format!("/usr/lib/{}-linux-gnu/faketime", std::env::consts::ARCH),
        "/usr/lib64/faketime".to_owned(),
        "/usr/lib/faketime".to_owned(),
    ];
    folders.iter().map(|folder| Path::new(folder).join("libfaketime.so.1")).find(|path| path.is_file())
}

/// Whether a build finds the system's OpenSSL, as the crate `openssl-sys` looks for it.
pub(crate) fn has_openssl() -> bool {
    const HOMEBREW: [&str; 2] = ["/opt/homebrew/opt/openssl@3", "/usr/local/opt/openssl@3"];
    std::env::var_os("OPENSSL_DIR").is_some()
        || quiet_success(Command::new("pkg-config").args(["--exists", "openssl >= 1.1.1"]))
        || cfg!(target_os = "macos") && HOMEBREW.iter().any(|dir| Path::new(dir).is_dir())
}

/// Chromium, or a browser built from it. The one without windows needs half the processor time.
pub(crate) fn chromium() -> Option<PathBuf> {
    const NAMES: [&str; 7] = [
        "chromium-headless-shell",
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

/// Firefox, of any release channel.
pub(crate) fn firefox() -> Option<PathBuf> {
    const NAMES: [&str; 3] = [
        "firefox-esr",
        "firefox",
        // Applications of macOS are not on the path.
        "/Applications/Firefox.app/Contents/MacOS/firefox",
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
        assert!(on_path("/bin/sh"), "an absolute path");
    }
}
