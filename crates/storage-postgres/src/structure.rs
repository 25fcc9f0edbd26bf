use storage::CheckDepth;

use crate::{SqlConnection, sql::SqlError};

/// Postgres checks its own files, with data checksums and `pg_amcheck`; the service has no access to them.
#[expect(clippy::unnecessary_wraps, reason = "other databases can fail")]
pub(crate) fn check(_: &mut SqlConnection, _: CheckDepth, _max: u32) -> Result<Vec<String>, SqlError> {
    Ok(Vec::new())
}

/// Postgres enforces references whenever a row changes.
#[expect(clippy::unnecessary_wraps, reason = "other databases can fail")]
pub(crate) fn dangling_references(_: &mut SqlConnection, _max: u32) -> Result<Vec<String>, SqlError> {
    Ok(Vec::new())
}
