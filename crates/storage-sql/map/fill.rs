//! Adds the images that are older than the map.

use diesel::{QueryableByName, RunQueryDsl, sql_types::BigInt};

use super::update;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{batch, statement},
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

/// Adds a batch of images.
pub(super) fn fill(c: &mut SqlConnection, max: u32) -> Result<u32, SqlError> {
    let below = below(c)?;
    let (count, next) = batch::update_images(c, below, max, update)?;
    statement("UPDATE map_fill SET below_seq = $1 WHERE below_seq > $1")
        .bind::<BigInt, _>(next)
        .execute(c)?;
    Ok(count)
}
