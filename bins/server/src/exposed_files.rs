//! Files with secrets that other users of the machine can read.

use std::path::{Path, PathBuf};

use crate::{config::Config, tls::CertificateSource};

/// Advice on the TLS key and on a configuration file with a password, each if other users can read it.
pub(crate) fn advice(config: &Config) -> Vec<String> {
    let key = match config.certificate() {
        Ok(Some(CertificateSource::Files(files))) => {
            Some(("the private key of the TLS certificate", files.key))
        }
        _ => None,
    };
    let file = config.file_with_password.clone().map(|file| ("the password of the database", file));
    let files = key.into_iter().chain(file);
    let advice_on = |(secret, path): (&str, PathBuf)| {
        let (mode, remedy) = exposed_mode(&path)?;
        let shown = path.display();
        Some(format!(
            "{shown} has mode {mode:04o}, so other users can read {secret}; run `chmod {remedy} {shown}`"
        ))
    };
    files.filter_map(advice_on).collect()
}

/// The mode of a file that other users can read, and the mode to set. If this process owns the file, the members of the
/// file's group count as other users. Otherwise they do not: a file of root is often readable by the group of the
/// service.
#[cfg(unix)]
fn exposed_mode(path: &Path) -> Option<(u32, &'static str)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = path.metadata().ok()?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    let (needless, remedy) = if is_own { (0o077, "600") } else { (0o007, "o=") };
    let mode = metadata.mode() & 0o777;
    (mode & needless != 0).then_some((mode, remedy))
}

#[cfg(not(unix))]
fn exposed_mode(_: &Path) -> Option<(u32, &'static str)> {
    None
}
