//! Passes over all images, in batches.

use std::collections::BTreeSet;

use diesel::prelude::*;

use crate::{Lock, SqlConnection, error::SqlError, lock, sql::schema::images};

/// Updates up to `most` images with internal ids below `below`, the newest additions first, because these are shown more often.
/// Returns their number, and the lowest of their ids; 0 if there are none.
pub(crate) fn update_images(
    c: &mut SqlConnection,
    below: i64,
    most: u32,
    update: fn(&mut SqlConnection, i64) -> Result<(), SqlError>,
) -> Result<(u32, i64), SqlError> {
    let batch: Vec<(i64, i64)> = images::table
        .filter(images::seq.lt(below))
        .order(images::seq.desc())
        .limit(i64::from(most))
        .select((images::seq, images::account_id))
        .load(c)?;
    let accounts: BTreeSet<i64> = batch.iter().map(|(_, account)| *account).collect();
    for account in accounts {
        lock::take(c, Lock::Account(account))?;
    }
    for (seq, _) in &batch {
        update(c, *seq)?;
    }
    let lowest = batch.last().map_or(0, |(seq, _)| *seq);
    Ok((u32::try_from(batch.len()).unwrap_or(u32::MAX), lowest))
}
