use std::{
    io::{self, Write as _},
    path::Path,
    time::{Duration, Instant},
};

use keys::Secret;

use super::Findings;
use crate::config::{MissingSecret, SecretSource};

const DATA_FOLDER: &str = "data folder";
const SECRET: &str = "secret";
/// Less free space than this gets a warning.
const LOW_SPACE_BYTES: u64 = 1_000_000_000;

/// A disk that needs longer than this for a small durable write gets a warning, because each upload and sign-in waits for
/// one.
const SLOW_SYNC: Duration = Duration::from_millis(50);
/// Number of writes that are measured.
const SYNCS: usize = 9;

/// `has_database` is set if the folder has the SQLite database.
pub(super) fn check_data_folder(path: &Path, has_database: bool, findings: &mut Findings) {
    let shown = path.display();
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return findings
                .warn(DATA_FOLDER, &format!("{shown} does not exist yet; `server serve` creates it"));
        }
        Err(error) => return findings.fail(DATA_FOLDER, &format!("{shown} cannot be read: {error}")),
        Ok(metadata) if !metadata.is_dir() => {
            return findings
                .fail(DATA_FOLDER, &format!("{shown} is not a folder; choose another with --data-dir"));
        }
        Ok(_) => {}
    }
    let sync = match sync_time(path) {
        Ok(sync) => sync,
        Err(error) => {
            let message =
                format!("{shown} is not writable: {error}; change its owner to the user who runs the server");
            return findings.fail(DATA_FOLDER, &message);
        }
    };
    let writable = format!(
        "{shown} is writable, and a write is safe on the disk after {:.1} ms",
        sync.as_secs_f64() * 1000.0
    );
    if let Some(name) = network_file_system(path).filter(|_| has_database) {
        let message = format!(
            "{shown} is on a network file system ({name}), where SQLite can lose changes; keep it on a disk of this machine, \
             or the metadata in Postgres"
        );
        findings.warn(DATA_FOLDER, &message);
    }
    if sync > SLOW_SYNC {
        let message = format!(
            "the disk of {shown} needs {} ms to store a write safely, and uploads and sign-ins wait for that; a solid-state \
             disk needs less than 10 ms",
            sync.as_millis()
        );
        findings.warn(DATA_FOLDER, &message);
    }
    match free_bytes(path) {
        Some(bytes) if bytes < LOW_SPACE_BYTES => {
            findings.warn(
                DATA_FOLDER,
                &format!("{shown} has only {} MB free; free some space", bytes / 1_000_000),
            );
        }
        Some(bytes) => findings.ok(DATA_FOLDER, &format!("{writable}, {} GB free", bytes / 1_000_000_000)),
        None => findings.ok(DATA_FOLDER, &writable),
    }
}

/// The median time of a small durable write, such as a commit of the database.
fn sync_time(folder: &Path) -> io::Result<Duration> {
    // The file is removed when it is closed.
    let mut file = tempfile::tempfile_in(folder)?;
    let mut times = [Duration::ZERO; SYNCS];
    for time in &mut times {
        let started = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        *time = started.elapsed();
    }
    times.sort_unstable();
    Ok(times[SYNCS / 2])
}

/// The name of the network file system that has this folder.
#[cfg(target_os = "linux")]
fn network_file_system(folder: &Path) -> Option<&'static str> {
    // Types of file systems, as statfs(2) lists them.
    match rustix::fs::statfs(folder).ok()?.f_type & 0xffff_ffff {
        0x6969 => Some("NFS"),
        0x517b => Some("SMB"),
        0xff53_4d42 | 0xfe53_4d42 => Some("CIFS"),
        0x0102_1997 => Some("9P"),
        0x00c3_6400 => Some("Ceph"),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn network_file_system(_: &Path) -> Option<&'static str> {
    None
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
        SecretSource::Environment(_) => return findings.ok(SECRET, "set by PHOTOS_SECRET"),
        SecretSource::File(path) => path,
        SecretSource::ExistingFile(path) if !matches!(path.try_exists(), Ok(false)) => path,
        SecretSource::ExistingFile(path) => {
            return findings.fail(SECRET, &MissingSecret::NoFile(path.clone()).to_string());
        }
        SecretSource::Missing => return findings.fail(SECRET, &MissingSecret::NotGiven.to_string()),
    };
    let shown = path.display();
    if matches!(path.try_exists(), Ok(false)) {
        return findings.warn(SECRET, &format!("{shown} does not exist yet; the first start creates it"));
    }
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return findings.fail(SECRET, &format!("{shown} cannot be read: {error}")),
    };
    if let Err(error) = Secret::from_text(&text) {
        return findings
            .fail(SECRET, &format!("{shown}: {error}; remove it, and the next start creates a new one"));
    }
    match mode_open_to_others(path) {
        Some(mode) => {
            let message =
                format!("{shown} has mode {mode:04o}, so other users can open it; run `chmod 600 {shown}`");
            findings.fail(SECRET, &message);
        }
        None => findings.ok(SECRET, &format!("{shown} is accessible only to its owner")),
    }
}

/// The mode of a file that users other than its owner can access.
#[cfg(unix)]
fn mode_open_to_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn mode_open_to_others(_: &Path) -> Option<u32> {
    None
}
