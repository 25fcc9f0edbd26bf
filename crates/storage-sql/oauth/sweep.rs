use diesel::{RunQueryDsl, sql_types::BigInt};
use oauth_core::{Sweep, UnixMillis};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{statement, value::row_count},
};

const UNREDEEMED: &str = "
DELETE FROM oauth_grants WHERE seq IN (
    SELECT seq FROM oauth_grants
    WHERE redeemed_at_ms IS NULL AND code_expires_at_ms < $1
    ORDER BY code_expires_at_ms LIMIT $2
)";

const ENDED: &str = "
DELETE FROM oauth_grants WHERE seq IN (
    SELECT seq FROM oauth_grants WHERE ends_at_ms < $1 ORDER BY ends_at_ms LIMIT $2
)";

const UNUSED: &str = "
DELETE FROM oauth_clients WHERE seq IN (
    SELECT seq FROM oauth_clients
    WHERE registered_last_at_ms < $1
        AND NOT EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.client_id = oauth_clients.id)
    ORDER BY registered_last_at_ms LIMIT $2
)";

const EXPIRED_ASSERTIONS: &str = "
DELETE FROM oauth_assertions WHERE hash IN (
    SELECT hash FROM oauth_assertions WHERE expires_at_ms < $1 ORDER BY expires_at_ms LIMIT $2
)";

/// Deletes a batch of expired codes and grants, then of clients without grants, and of expired assertions.
pub(super) fn sweep(c: &mut SqlConnection, sweep: &Sweep) -> Result<u64, SqlError> {
    let mut delete = |delete: &'static str, before: UnixMillis| -> Result<u64, SqlError> {
        let deleted = statement(delete)
            .bind::<BigInt, _>(before.0)
            .bind::<BigInt, _>(i64::from(sweep.max))
            .execute(c)?;
        Ok(row_count(deleted))
    };
    let codes = delete(UNREDEEMED, sweep.codes_before)?;
    let grants = delete(ENDED, sweep.grants_before)?;
    let clients = delete(UNUSED, sweep.clients_before)?;
    let assertions = delete(EXPIRED_ASSERTIONS, sweep.assertions_before)?;
    Ok([codes, grants, clients, assertions].into_iter().fold(0, u64::saturating_add))
}
