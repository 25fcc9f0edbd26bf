//! Adds the images that are older than the map.

use std::collections::BTreeSet;

use diesel::{QueryableByName, prelude::*, sql_types::BigInt};

use super::update;
use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock,
    sql::{schema::images, statement},
};

#[derive(QueryableByName)]
struct Progress {
    #[diesel(sql_type = BigInt)]
    below_seq: i64,
}

/// Images from this number on are in the map; images below it may be missing.
pub(super) fn below(c: &mut SqlConnection) -> Result<i64, SqlError> {
    let progress: Progress = statement("SELECT below_seq FROM map_fill").get_result(c)?;
    Ok(progress.below_seq)
}

pub(super) fn is_complete(c: &mut SqlConnection) -> Result<bool, SqlError> {
    Ok(below(c)? <= 0)
}

/// Adds a batch of images, the newest additions first, because these are shown more often.
pub(super) fn fill(c: &mut SqlConnection, max: u32) -> Result<u32, SqlError> {
    let below = below(c)?;
    let batch: Vec<(i64, i64)> = images::table
        .filter(images::seq.lt(below))
        .order(images::seq.desc())
        .limit(i64::from(max))
        .select((images::seq, images::account_id))
        .load(c)?;
    let accounts: BTreeSet<i64> = batch.iter().map(|(_, account)| *account).collect();
    for account in accounts {
        lock::take(c, Lock::Account(account))?;
    }
    for (seq, _) in &batch {
        update(c, *seq)?;
    }
    let next = batch.last().map_or(0, |(seq, _)| *seq);
    statement("UPDATE map_fill SET below_seq = $1 WHERE below_seq > $1")
        .bind::<BigInt, _>(next)
        .execute(c)?;
    Ok(u32::try_from(batch.len()).unwrap_or(u32::MAX))
}
