use crate::{Lock, SqlConnection, sql::SqlError};

/// Takes a lock until the end of the transaction. Does nothing on SQLite, where a transaction that writes excludes all
/// other writes.
#[expect(clippy::unnecessary_wraps, reason = "other databases can fail")]
pub(crate) fn take(_: &mut SqlConnection, _: Lock) -> Result<(), SqlError> {
    Ok(())
}
