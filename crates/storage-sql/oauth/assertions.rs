use diesel::prelude::*;
use oauth_core::UsedAssertion;

use crate::{SqlConnection, error::SqlError, sql::schema::oauth_assertions};

/// Records a used assertion. This is a single statement, so the second of two concurrent uses changes no row.
pub(super) fn record(c: &mut SqlConnection, used: UsedAssertion) -> Result<bool, SqlError> {
    let inserted = diesel::insert_into(oauth_assertions::table)
        .values((
            oauth_assertions::hash.eq(used.hash.0.as_slice()),
            oauth_assertions::expires_at_ms.eq(used.expires_at.0),
        ))
        .on_conflict_do_nothing()
        .execute(c)?;
    Ok(inserted == 1)
}
