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

/// What an operator can do about what SQLite says, if anything.
pub(crate) fn remedy(words: &str) -> Option<&'static str> {
    const REMEDIES: [(&str, &str); 6] = [
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
    REMEDIES.iter().find(|(part, _)| words.contains(part)).map(|(_, remedy)| *remedy)
}

/// SQLite's words, followed by what an operator can do about them.
pub(crate) fn told(error: &impl std::fmt::Display) -> String {
    let words = error.to_string();
    match remedy(&words) {
        Some(remedy) => format!("{words}: {remedy}"),
        None => words,
    }
}

fn from_query(error: &Error) -> StorageError {
    match error {
        Error::DatabaseError(DatabaseErrorKind::UnableToSendCommand, _) | Error::BrokenTransactionManager => {
            StorageError::Unavailable(error.to_string())
        }
        Error::DatabaseError(_, information)
            if PASSING.iter().any(|words| information.message().contains(words)) =>
        {
            StorageError::Unavailable(told(error))
        }
        Error::RollbackErrorOnCommit { commit_error, .. } => from_query(commit_error),
        _ => StorageError::Refused(told(error)),
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
        let damaged = said(DatabaseErrorKind::Unknown, "database disk image is malformed").to_string();
        assert!(damaged.ends_with("it is damaged; restore it from a backup"), "{damaged}");
        for words in ["no such table: images", "database disk image is malformed"] {
            let error = said(DatabaseErrorKind::Unknown, words);
            assert!(matches!(error, StorageError::Refused(_)), "{words}");
        }
        let error = said(DatabaseErrorKind::CheckViolation, "CHECK constraint failed: width > 0");
        assert!(error.to_string().contains("width > 0"));
    }
}
