use diesel::{Connection as _, SqliteConnection};
use storage::FileRefusal;

use crate::error::SqliteError;

/// Why a change of files was not made.
#[derive(Debug)]
pub(super) enum FileError {
    Refused(FileRefusal),
    Failed(SqliteError),
}

impl From<FileRefusal> for FileError {
    fn from(refusal: FileRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<SqliteError> for FileError {
    fn from(error: SqliteError) -> Self {
        Self::Failed(error)
    }
}

impl From<diesel::result::Error> for FileError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Runs a change, and undoes what it did when it is refused.
pub(super) fn change<T>(
    c: &mut SqliteConnection,
    change: impl FnOnce(&mut SqliteConnection) -> Result<T, FileError>,
) -> Result<Result<T, FileRefusal>, SqliteError> {
    match c.transaction(change) {
        Ok(done) => Ok(Ok(done)),
        Err(FileError::Refused(refusal)) => Ok(Err(refusal)),
        Err(FileError::Failed(error)) => Err(error),
    }
}
