//! Paths and I/O errors in messages.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The absolute path, for messages.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Describes an I/O error of a file or folder, and what to do about it.
pub(crate) fn io_advice(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "There is no permission to use {path}; run the command as its owner, or change the owner with chown"
        ),
        io::ErrorKind::ReadOnlyFilesystem => {
            format!("{path} is on a read-only file system; choose another folder with --data-dir")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            format!("There is no free space for {path}; free some space and try again")
        }
        _ => format!("{path} cannot be used: {}", io_message(error)),
    }
}

/// The message of an I/O error without its error number.
pub(crate) fn io_message(error: &io::Error) -> String {
    without_error_number(&error.to_string()).to_owned()
}

/// The message of an error without the number that the operating system gives it.
pub(crate) fn without_error_number(text: &str) -> &str {
    text.split(" (os error ").next().unwrap_or_default()
}
