use diesel::Connection as _;
use storage::FileRefusal;

use crate::{SqlConnection, error::SqlError};

/// Why a change of files was not made.
#[derive(Debug)]
pub(super) enum FileError {
    Refused(FileRefusal),
    Failed(SqlError),
}

impl From<FileRefusal> for FileError {
    fn from(refusal: FileRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<SqlError> for FileError {
    fn from(error: SqlError) -> Self {
        Self::Failed(error)
    }
}

impl From<diesel::result::Error> for FileError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Runs a change, and rolls it back when it is refused.
pub(super) fn change<T>(
    c: &mut SqlConnection,
    change: impl FnOnce(&mut SqlConnection) -> Result<T, FileError>,
) -> Result<Result<T, FileRefusal>, SqlError> {
    match c.transaction(change) {
        Ok(done) => Ok(Ok(done)),
        Err(FileError::Refused(refusal)) => Ok(Err(refusal)),
        Err(FileError::Failed(error)) => Err(error),
    }
}
