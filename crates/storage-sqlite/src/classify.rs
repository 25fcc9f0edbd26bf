//! The errors of SQLite.

use diesel::result::DatabaseErrorKind;

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

/// Whether a retry may fix the error.
pub(crate) fn is_transient(_: &DatabaseErrorKind, message: &str) -> bool {
    TRANSIENT.iter().any(|part| message.contains(part))
}

/// SQLite's message, followed by the [`hint`] if there is one.
pub(crate) fn describe(error: &impl std::fmt::Display) -> String {
    let message = error.to_string();
    match hint(&message) {
        Some(hint) => format!("{message}: {hint}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use diesel::result::Error;
    use storage::StorageError;

    use super::*;
    use crate::sql::SqlError;

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
