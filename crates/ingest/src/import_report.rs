use std::path::PathBuf;

use exports::{Plan, Problem};
use media::MediaError;

use crate::ImportError;

/// A file that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedFile {
    /// The file's path. The path of a file in an archive continues that of the archive.
    pub path: PathBuf,
    /// The reason, in words for the user.
    pub error: String,
    pub kind: FailedKind,
}

/// The kind of a file that was not imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedKind {
    /// A photo, an archive, or a file of unknown purpose.
    File,
    /// A file that cannot be read now, or changed meanwhile. It can be retried.
    Unread,
    /// A movie, also the movie of a live photo. Exports have many of them.
    Movie,
    /// A sidecar without a photo, or an entry of a list without a photo.
    Unmatched,
}

impl FailedFile {
    pub(crate) fn new(path: PathBuf, error: impl std::fmt::Display) -> Self {
        Self { path, error: error.to_string(), kind: FailedKind::File }
    }

    pub(crate) fn unread(path: PathBuf, error: impl std::fmt::Display) -> Self {
        Self { kind: FailedKind::Unread, ..Self::new(path, error) }
    }

    pub(crate) fn unmatched(problem: Problem) -> Self {
        Self { path: problem.path, error: problem.reason, kind: FailedKind::Unmatched }
    }

    pub(crate) fn of(path: PathBuf, error: &ImportError) -> Self {
        let kind = match error {
            ImportError::Refused(MediaError::Movie) => FailedKind::Movie,
            ImportError::Read(_) | ImportError::Changed | ImportError::BeingRemoved => FailedKind::Unread,
            _ => FailedKind::File,
        };
        Self { path, error: error.to_string(), kind }
    }
}

/// The outcome of a folder import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// How many files were added or restored.
    pub imported: u64,
    /// How many files were added to the trash, because their owner had deleted them before the export.
    pub trashed: u64,
    /// How many files the library already had. Some may have got a new sidecar.
    pub duplicates: u64,
    /// The files that failed. They do not affect other files.
    pub failed: Vec<FailedFile>,
    /// Files of exports that are not about photos.
    pub skipped: Vec<Problem>,
    /// Sidecars and entries of lists that are not used, because they may belong to several photos.
    pub ambiguous: Vec<Problem>,
    /// How many albums of exports are in the library now.
    pub albums: u64,
    /// Why the import ended early, if it did. The cause is not a file. Files imported until then stay, and a second run
    /// continues.
    pub stopped: Option<String>,
}

impl ImportReport {
    /// A report with what the plan leaves out.
    pub(crate) fn of(plan: &mut Plan) -> Self {
        let failed = |problem: Problem, kind| FailedFile { path: problem.path, error: problem.reason, kind };
        let unreadable = std::mem::take(&mut plan.failed);
        let unmatched = std::mem::take(&mut plan.unmatched);
        let failed = unreadable
            .into_iter()
            .map(|problem| failed(problem, FailedKind::File))
            .chain(unmatched.into_iter().map(|problem| failed(problem, FailedKind::Unmatched)));
        Self {
            failed: failed.collect(),
            skipped: std::mem::take(&mut plan.skipped),
            ambiguous: std::mem::take(&mut plan.ambiguous),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn errors_of_reading_can_be_retried_and_refusals_cannot() {
        for (error, kind) in [
            (ImportError::Read(io::ErrorKind::PermissionDenied.into()), FailedKind::Unread),
            (ImportError::Changed, FailedKind::Unread),
            (ImportError::TooLarge { max_bytes: 1 }, FailedKind::File),
            (ImportError::Refused(MediaError::Empty), FailedKind::File),
            (ImportError::Refused(MediaError::Movie), FailedKind::Movie),
        ] {
            assert_eq!(FailedFile::of("a".into(), &error).kind, kind, "{error}");
        }
    }
}
