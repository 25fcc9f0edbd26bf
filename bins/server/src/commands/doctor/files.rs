use std::path::Path;

use keys::Secret;

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
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return findings.fail(SECRET, &format!("{shown} cannot be read: {error}")),
    };
    if let Err(error) = Secret::from_text(&text) {
        return findings
            .fail(SECRET, &format!("{shown}: {error}; remove it, and the next start makes another"));
    }
    match others_may(path) {
        Some(mode) => {
            let said = format!(
                "{shown} has the mode {mode:04o}, so that other users can open it; run `chmod 600 {shown}`"
            );
            findings.fail(SECRET, &said);
        }
        None => findings.ok(SECRET, &format!("{shown} is there, for its owner only")),
    }
}

/// The file's mode when others than its owner may read or write it.
#[cfg(unix)]
fn others_may(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn others_may(_: &Path) -> Option<u32> {
    None
}
