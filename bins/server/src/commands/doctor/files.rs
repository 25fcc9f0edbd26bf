use std::path::Path;

use keys::{Secret, SecretError};

use super::Findings;
use crate::config::SecretSource;

const DATA_FOLDER: &str = "data folder";
const SECRET: &str = "secret";
/// Less free space than this is worth a word.
const LITTLE_BYTES: u64 = 1_000_000_000;

pub(super) fn check_data_folder(path: &Path, findings: &mut Findings) {
    let shown = path.display();
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return findings.warn(DATA_FOLDER, &format!("{shown} is not there; the first start makes it"));
        }
        Err(error) => return findings.fail(DATA_FOLDER, &format!("{shown} cannot be looked at: {error}")),
        Ok(metadata) if !metadata.is_dir() => {
            return findings.fail(DATA_FOLDER, &format!("{shown} is no folder; set another --data-dir"));
        }
        Ok(_) => {}
    }
    // The file is gone as soon as it is closed.
    if let Err(error) = tempfile::tempfile_in(path) {
        let said = format!("{shown} cannot be written to: {error}; give it to the user who runs the service");
        return findings.fail(DATA_FOLDER, &said);
    }
    let usable = format!("{shown} can be written to");
    match free_bytes(path) {
        Some(bytes) if bytes < LITTLE_BYTES => {
            findings.warn(DATA_FOLDER, &format!("{shown} has only {} MB free; make room", bytes / 1_000_000));
        }
        Some(bytes) => findings.ok(DATA_FOLDER, &format!("{usable}, {} GB free", bytes / 1_000_000_000)),
        None => findings.ok(DATA_FOLDER, &usable),
    }
}

#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(path).ok()?;
    space.f_bavail.checked_mul(space.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

pub(super) fn check_secret(secret: &SecretSource, findings: &mut Findings) {
    let path = match secret {
        SecretSource::Given(_) => return findings.ok(SECRET, "given by PHOTOS_SECRET"),
        SecretSource::File(path) => path,
    };
    let shown = path.display();
    if matches!(path.try_exists(), Ok(false)) {
        return findings.warn(SECRET, &format!("{shown} is not there; the first start makes it"));
    }
    match Secret::load(path) {
        Ok(_) if is_open_to_others(path) => {
            findings.warn(SECRET, &format!("other users can open {shown}; run `chmod 600 {shown}`"));
        }
        Ok(_) => findings.ok(SECRET, &format!("{shown} is there, for its owner only")),
        Err(error @ SecretError::TooShort) => {
            findings.fail(SECRET, &format!("{shown}: {error}; remove it, and the next start makes another"));
        }
        Err(error) => findings.fail(SECRET, &error.to_string()),
    }
}

#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}
