use diesel::result::{DatabaseErrorKind, Error};
use storage::StorageError;

/// Why an operation on a connection failed. Callers of the store get it as a [`StorageError`].
#[derive(Debug)]
pub(crate) enum SqlError {
    /// An error of SQLite or diesel.
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

/// Messages of SQLite for errors that a retry may fix. diesel passes on the message, not the result code.
const TRANSIENT: [&str; 7] = [
    "database is locked",
    "database table is locked",
    "database or disk is full",
    "disk I/O error",
    "unable to open database file",
    "out of memory",
    "interrupted",
];

/// What an operator can do about an error of SQLite.
pub(crate) fn hint(message: &str) -> Option<&'static str> {
    const HINTS: [(&str, &str); 6] = [
        ("file is not a database", "it is damaged; restore it from a backup"),
        ("database disk image is malformed", "it is damaged; restore it from a backup"),
        ("database or disk is full", "its disk has no free space; make room and try again"),
        ("disk I/O error", "its disk fails or has no free space; check it and try again"),
        (
            "readonly database",
            "the file or its folder is read-only; give it to the user who runs the service with chown",
        ),
        ("database is locked", "another process has held it for too long; try again, or end that process"),
    ];
    HINTS.iter().find(|(part, _)| message.contains(part)).map(|(_, hint)| *hint)
}

/// SQLite's message, followed by the [`hint`] if there is one.
pub(crate) fn with_hint(error: &impl std::fmt::Display) -> String {
    let message = error.to_string();
    match hint(&message) {
        Some(hint) => format!("{message}: {hint}"),
        None => message,
    }
}

fn from_query(error: &Error) -> StorageError {
    match error {
        Error::DatabaseError(DatabaseErrorKind::UnableToSendCommand, _) | Error::BrokenTransactionManager => {
            StorageError::Unavailable(error.to_string())
        }
        Error::DatabaseError(_, information)
            if TRANSIENT.iter().any(|message| information.message().contains(message)) =>
        {
            StorageError::Unavailable(with_hint(error))
        }
        Error::RollbackErrorOnCommit { commit_error, .. } => from_query(commit_error),
        _ => StorageError::Refused(with_hint(error)),
    }
}

/// Whether a statement violated a `UNIQUE` constraint.
pub(crate) fn is_unique_violation(error: &Error) -> bool {
    matches!(error, Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(kind: DatabaseErrorKind, message: &str) -> StorageError {
        SqlError::from(Error::DatabaseError(kind, Box::new(message.to_owned()))).into()
    }

    #[test]
    fn transient_errors_are_unavailable_and_others_refused() {
        for message in TRANSIENT {
            let error = convert(DatabaseErrorKind::Unknown, message);
            assert!(matches!(error, StorageError::Unavailable(_)), "{message}");
        }
        let damaged = convert(DatabaseErrorKind::Unknown, "database disk image is malformed").to_string();
        assert!(damaged.ends_with("it is damaged; restore it from a backup"), "{damaged}");
        for message in ["no such table: images", "database disk image is malformed"] {
            let error = convert(DatabaseErrorKind::Unknown, message);
            assert!(matches!(error, StorageError::Refused(_)), "{message}");
        }
        let error = convert(DatabaseErrorKind::CheckViolation, "CHECK constraint failed: width > 0");
        assert!(error.to_string().contains("width > 0"));
    }
}
