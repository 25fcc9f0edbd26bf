use diesel::result::{DatabaseErrorKind, Error};
use storage::StorageError;

/// Why an operation on a connection failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// SQLite or diesel said no.
    Query(Error),
    /// A stored value that the service never writes.
    Unreadable { table: &'static str, column: &'static str, row: String },
    /// The operation makes no sense in the state that the store is in.
    Refused(String),
    /// There is no connection.
    Unavailable(String),
    /// The transaction was lost in which the operation was done.
    Undone(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Query(error)
    }
}

impl From<Failure> for StorageError {
    fn from(failure: Failure) -> Self {
        Self::from(&failure)
    }
}

impl From<&Failure> for StorageError {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::Query(error) => from_query(error),
            Failure::Unreadable { table, column, row } => {
                Self::Unreadable { table, column, row: row.clone() }
            }
            Failure::Refused(reason) => Self::Refused(reason.clone()),
            Failure::Unavailable(reason) => Self::Unavailable(reason.clone()),
            Failure::Undone(reason) => Self::Unavailable(format!("the transaction was lost: {reason}")),
        }
    }
}

/// What SQLite says when the same statement may work later. diesel passes on its words, not its result codes.
const PASSING: [&str; 7] = [
    "database is locked",
    "database table is locked",
    "database or disk is full",
    "disk I/O error",
    "unable to open database file",
    "out of memory",
    "interrupted",
];

fn from_query(error: &Error) -> StorageError {
    match error {
        Error::DatabaseError(DatabaseErrorKind::UnableToSendCommand, _) | Error::BrokenTransactionManager => {
            StorageError::Unavailable(error.to_string())
        }
        Error::DatabaseError(_, information)
            if PASSING.iter().any(|words| information.message().contains(words)) =>
        {
            StorageError::Unavailable(error.to_string())
        }
        Error::RollbackErrorOnCommit { commit_error, .. } => from_query(commit_error),
        _ => StorageError::Refused(error.to_string()),
    }
}

/// Whether a statement broke a `UNIQUE` rule.
pub(crate) fn is_unique_violation(error: &Error) -> bool {
    matches!(error, Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: DatabaseErrorKind, words: &str) -> StorageError {
        Failure::from(Error::DatabaseError(kind, Box::new(words.to_owned()))).into()
    }

    #[test]
    fn what_may_pass_is_unavailable_and_the_rest_is_refused() {
        for words in PASSING {
            let error = said(DatabaseErrorKind::Unknown, words);
            assert!(matches!(error, StorageError::Unavailable(_)), "{words}");
        }
        for words in ["no such table: images", "database disk image is malformed"] {
            let error = said(DatabaseErrorKind::Unknown, words);
            assert!(matches!(error, StorageError::Refused(_)), "{words}");
        }
        let error = said(DatabaseErrorKind::CheckViolation, "CHECK constraint failed: width > 0");
        assert!(error.to_string().contains("width > 0"));
    }
}
