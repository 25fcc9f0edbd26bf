//! The errors of Postgres.

use diesel::result::{DatabaseErrorKind, Error};

/// Messages of Postgres for errors that a retry may fix. diesel passes on the message, not the code of the error.
const TRANSIENT: [&str; 19] = [
    "deadlock detected",
    "lock timeout",
    "statement timeout",
    "idle-in-transaction timeout",
    "terminating connection",
    "the database system is",
    "too many clients",
    "too many connections",
    "remaining connection slots",
    "No space left on device",
    "out of shared memory",
    "read-only transaction",
    "server closed the connection",
    "server conn crashed",
    "query_wait_timeout",
    "server login has been failing",
    "due to user request",
    "conflict with recovery",
    "during recovery",
];

/// Whether a retry may fix the error.
pub(crate) fn is_transient(kind: &DatabaseErrorKind, message: &str) -> bool {
    let of_kind = matches!(
        kind,
        DatabaseErrorKind::SerializationFailure
            | DatabaseErrorKind::ReadOnlyTransaction
            | DatabaseErrorKind::ClosedConnection
    );
    of_kind || TRANSIENT.iter().any(|part| message.contains(part))
}

/// Whether the transaction was rolled back because of a conflict with concurrent transactions, so that it can be
/// retried.
pub(crate) fn is_conflict(error: &Error) -> bool {
    match error {
        // A row that a statement refers to was deleted while the statement waited for it.
        Error::DatabaseError(
            DatabaseErrorKind::SerializationFailure | DatabaseErrorKind::ForeignKeyViolation,
            _,
        ) => true,
        Error::DatabaseError(_, information) => information.message().contains("deadlock detected"),
        Error::RollbackErrorOnCommit { commit_error, .. } => is_conflict(commit_error),
        _ => false,
    }
}

/// Whether a statement waited too long for a lock, by the message of an error.
pub(crate) fn is_lock_timeout(message: &str) -> bool {
    message.contains("lock timeout")
}

/// Whether another connection is needed: this one is lost, or leads to a server that has become read-only in a failover.
pub(crate) fn is_connection_lost(error: &Error) -> bool {
    match error {
        Error::DatabaseError(
            DatabaseErrorKind::UnableToSendCommand
            | DatabaseErrorKind::ClosedConnection
            | DatabaseErrorKind::ReadOnlyTransaction,
            _,
        )
        | Error::BrokenTransactionManager => true,
        Error::DatabaseError(_, information) => {
            ["terminating connection", "the database system is", "server conn crashed", "during recovery"]
                .iter()
                .any(|part| information.message().contains(part))
        }
        _ => false,
    }
}

/// Messages of Postgres about statements that were prepared on another connection.
const FOREIGN_STATEMENT: [&str; 3] = ["already exists", "does not exist", "bind message supplies"];

/// The message of an error, with a hint if a pooler mixes up prepared statements.
pub(crate) fn describe(error: &impl std::fmt::Display) -> String {
    let message = error.to_string();
    let is_of_pooler =
        message.contains("prepared statement") && FOREIGN_STATEMENT.iter().any(|part| message.contains(part));
    if !is_of_pooler {
        return message;
    }
    format!(
        "{message}. A pooler between this program and Postgres does not keep prepared statements apart. With PgBouncer 1.21 \
         or newer, set max_prepared_statements = 200 in its configuration. With an older one, set server_reset_query_always \
         = 1 there and add statement_cache=off to the database URL. See PgBouncer in docs/scale.md"
    )
}

#[cfg(test)]
mod tests {
    use storage::StorageError;

    use super::*;
    use crate::sql::SqlError;

    fn error(kind: DatabaseErrorKind, message: &str) -> Error {
        Error::DatabaseError(kind, Box::new(message.to_owned()))
    }

    #[test]
    fn transient_errors_are_unavailable_and_others_refused() {
        for message in TRANSIENT {
            let error = StorageError::from(SqlError::from(error(DatabaseErrorKind::Unknown, message)));
            assert!(matches!(error, StorageError::Unavailable(_)), "{message}");
        }
        let other = error(DatabaseErrorKind::Unknown, r#"relation "images" does not exist"#);
        assert!(matches!(StorageError::from(SqlError::from(other)), StorageError::Refused(_)));
    }

    #[test]
    fn errors_of_foreign_statements_hint_at_the_pooler() {
        for (message, is_of_pooler) in [
            (r#"prepared statement "s17" already exists"#, true),
            (r#"prepared statement "s0" does not exist"#, true),
            (r#"bind message supplies 2 parameters, but prepared statement "s3" requires 1"#, true),
            ("cannot insert multiple commands into a prepared statement", false),
            (r#"relation "images" already exists"#, false),
        ] {
            let error = StorageError::from(SqlError::from(error(DatabaseErrorKind::Unknown, message)));
            let text = error.to_string();
            assert!(text.contains(message), "{text}");
            for setting in ["max_prepared_statements", "statement_cache=off", "docs/scale.md"] {
                assert_eq!(text.contains(setting), is_of_pooler, "{text}");
            }
        }
    }

    #[test]
    fn conflicts_are_recognized() {
        assert!(is_conflict(&error(DatabaseErrorKind::SerializationFailure, "")));
        assert!(is_conflict(&error(DatabaseErrorKind::Unknown, "deadlock detected")));
        assert!(!is_conflict(&error(DatabaseErrorKind::UniqueViolation, "")));
    }
}
