//! The demo's password and API key, saved in the data folder so that a second run prints the same ones.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::password::{self, PasswordError};

const FILE: &str = "demo-sign-in.toml";

/// Why the sign-in could not be loaded, created or saved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignInError {
    #[error("cannot read or write {}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{} is invalid; remove it to get a new password: {source}", path.display())]
    Invalid { path: PathBuf, source: toml::de::Error },
    #[error("cannot write the sign-in as TOML: {0}")]
    Write(#[from] toml::ser::Error),
    #[error(transparent)]
    Password(#[from] PasswordError),
}

/// The password and the API key.
#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    pub(crate) password: String,
    pub(crate) key: Option<String>,
}

impl SignIn {
    /// The saved sign-in, or a new one with a strong password, which is saved.
    pub(crate) fn load_or_make(data_dir: &Path) -> Result<Self, SignInError> {
        let path = data_dir.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|source| SignInError::Invalid { path, source }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = Self { password: password::make()?, key: None };
                made.save(data_dir)?;
                Ok(made)
            }
            Err(source) => Err(SignInError::File { path, source }),
        }
    }

    /// Writes it to the data folder, readable only by the user (mode 0600).
    pub(crate) fn save(&self, data_dir: &Path) -> Result<(), SignInError> {
        let text = toml::to_string(self)?;
        let path = data_dir.join(FILE);
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|source| SignInError::File { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_second_run_loads_the_same_sign_in() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = SignIn::load_or_make(dir.path()).unwrap();
        assert!(!first.password.is_empty());
        assert_eq!(first.key, None);
        first.key = Some("key".to_owned());
        first.save(dir.path()).unwrap();
        assert_eq!(SignIn::load_or_make(dir.path()).unwrap(), first);
    }

    #[test]
    fn the_file_is_readable_only_by_the_user() {
        let dir = tempfile::tempdir().unwrap();
        SignIn::load_or_make(dir.path()).unwrap();
        let mode = dir.path().join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn an_invalid_file_is_an_error_that_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), "passwort = 1").unwrap();
        let error = SignIn::load_or_make(dir.path()).unwrap_err();
        assert!(error.to_string().contains("remove it to get a new password"), "{error}");
    }
}
