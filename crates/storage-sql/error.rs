use diesel::result::{DatabaseErrorKind, Error};
use storage::StorageError;

use crate::classify;

/// Why an operation on a connection failed. Callers of the store get it as a [`StorageError`].
#[derive(Debug)]
pub(crate) enum SqlError {
    /// An error of the database or diesel.
    Query(Error),
    /// A stored value that the service never writes.
    Unreadable { table: &'static str, column: &'static str, row: String },
    /// The operation is invalid in the store's current state.
    Refused(String),
    /// No connection could be opened.
    Unavailable(String),
    /// The transaction that contained the operation was rolled back.
    TransactionLost(String),
}

impl From<Error> for SqlError {
    fn from(error: Error) -> Self {
        Self::Query(error)
    }
}

impl From<SqlError> for StorageError {
    fn from(error: SqlError) -> Self {
        Self::from(&error)
    }
}

impl From<&SqlError> for StorageError {
    fn from(error: &SqlError) -> Self {
        match error {
            SqlError::Query(error) => from_query(error),
            SqlError::Unreadable { table, column, row } => {
                Self::Unreadable { table, column, row: row.clone() }
            }
            SqlError::Refused(reason) => Self::Refused(reason.clone()),
            SqlError::Unavailable(reason) => Self::Unavailable(reason.clone()),
            SqlError::TransactionLost(reason) => {
                Self::Unavailable(format!("the transaction was lost: {reason}"))
            }
        }
    }
}

fn from_query(error: &Error) -> StorageError {
    match error {
        Error::DatabaseError(DatabaseErrorKind::UnableToSendCommand, _) | Error::BrokenTransactionManager => {
            StorageError::Unavailable(classify::describe(error))
        }
        Error::DatabaseError(kind, information) if classify::is_transient(kind, information.message()) => {
            StorageError::Unavailable(classify::describe(error))
        }
        Error::RollbackErrorOnCommit { commit_error, .. } => from_query(commit_error),
        _ => StorageError::Refused(classify::describe(error)),
    }
}

/// Whether a statement violated a `UNIQUE` constraint.
pub(crate) fn is_unique_violation(error: &Error) -> bool {
    matches!(error, Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _))
}
