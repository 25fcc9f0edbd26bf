use diesel::{
    SqliteConnection,
    dsl::{exists, not},
    prelude::*,
};
use oauth_core::Sweep;

use crate::{
    error::Failure,
    schema::{oauth_clients, oauth_grants},
    value::counted,
};

/// Deletes a batch of what nobody needs any more; grants before the clients that they keep.
pub(super) fn sweep(c: &mut SqliteConnection, sweep: &Sweep) -> Result<u64, Failure> {
    let max = i64::from(sweep.max);
    let unredeemed = oauth_grants::table
        .filter(oauth_grants::redeemed_at_ms.is_null())
        .filter(oauth_grants::code_expires_at_ms.lt(sweep.codes_before.0))
        .order(oauth_grants::code_expires_at_ms)
        .limit(max)
        .select(oauth_grants::seq)
        .load::<i64>(c)?;
    let mut swept = delete_grants(c, &unredeemed)?;
    let ended = oauth_grants::table
        .filter(oauth_grants::ends_at_ms.lt(sweep.grants_before.0))
        .order(oauth_grants::ends_at_ms)
        .limit(max)
        .select(oauth_grants::seq)
        .load::<i64>(c)?;
    swept = swept.saturating_add(delete_grants(c, &ended)?);
    let own = oauth_grants::table.filter(oauth_grants::client_id.eq(oauth_clients::id));
    let unused = oauth_clients::table
        .filter(oauth_clients::issued_at_ms.lt(sweep.clients_before.0))
        .filter(not(exists(own)))
        .order(oauth_clients::issued_at_ms)
        .limit(max)
        .select(oauth_clients::seq)
        .load::<i64>(c)?;
    let gone = diesel::delete(oauth_clients::table.filter(oauth_clients::seq.eq_any(unused))).execute(c)?;
    Ok(swept.saturating_add(counted(gone)))
}

fn delete_grants(c: &mut SqliteConnection, seqs: &[i64]) -> Result<u64, Failure> {
    Ok(counted(diesel::delete(oauth_grants::table.filter(oauth_grants::seq.eq_any(seqs))).execute(c)?))
}
