//! Checks and repairs.

use std::collections::HashMap;

use diesel::{OptionalExtension, prelude::*, sql_types::BigInt};
use domain::MapCell;

use super::{
    fill,
    sums::{Adder, PointRow, Sums, stored},
    upkeep::{PlacedImage, insert},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{accounts, images, map_cells, map_points},
        statement,
    },
};

/// The number of points that are added up at once.
const POINTS: i64 = 10_000;

/// The number of squares that one statement writes or reads.
const CELLS: usize = 500;

/// The images with wrong points, among those with internal ids above `after` up to `last`. Images of deleted accounts
/// are left out.
pub(crate) fn wrong_points(c: &mut SqlConnection, after: i64, last: i64) -> Result<Vec<i64>, SqlError> {
    let below = fill::below(c)?;
    let placed: Vec<PlacedImage> = images::table
        .inner_join(accounts::table)
        .filter(images::seq.gt(after.max(below - 1)))
        .filter(images::seq.le(last))
        .filter(accounts::deleted_at_ms.is_null())
        .order(images::seq)
        .select(PlacedImage::as_select())
        .load(c)?;
    let points: Vec<(i64, i64, i64, i64)> = map_points::table
        .filter(map_points::image_seq.gt(after))
        .filter(map_points::image_seq.le(last))
        .load(c)?;
    let mut points: HashMap<i64, (i64, PointRow)> = points
        .into_iter()
        .map(|(image_seq, account, code, captured_at_ms)| {
            (image_seq, (account, PointRow { image_seq, code, captured_at_ms }))
        })
        .collect();
    let mut wrong = Vec::new();
    for image in placed {
        let wanted = image.point()?.map(|row| (image.account_id, row));
        if points.remove(&image.seq) != wanted {
            wrong.push(image.seq);
        }
    }
    Ok(wrong)
}

/// The accounts with wrong squares and their addresses, among those with ids above `after` up to `last`. Deleted ones
/// are left out.
pub(crate) fn wrong_accounts(
    c: &mut SqlConnection,
    after: i64,
    last: i64,
) -> Result<Vec<(i64, Option<String>)>, SqlError> {
    let mut checked: Vec<(i64, Option<String>)> = accounts::table
        .filter(accounts::id.gt(after))
        .filter(accounts::id.le(last))
        .filter(accounts::deleted_at_ms.is_null())
        .order(accounts::id)
        .select((accounts::id, accounts::email))
        .load(c)?;
    let mut wrong = Vec::new();
    for account in checked.drain(..) {
        if !is_right(c, account.0)? {
            wrong.push(account);
        }
    }
    Ok(wrong)
}

fn is_right(c: &mut SqlConnection, account: i64) -> Result<bool, SqlError> {
    let (mut number, mut differs) = (0, false);
    add_up(c, account, |c, sums| {
        let cells = sums.iter().map(Sums::cell).collect::<Result<Vec<MapCell>, _>>()?;
        let mut expected = sums.to_vec();
        expected.sort_unstable_by_key(|sums| sums.cell);
        differs |= stored(c, account, &cells)? != expected;
        number += i64::try_from(sums.len()).unwrap_or(i64::MAX);
        Ok(())
    })?;
    let all: i64 = map_cells::table.filter(map_cells::account_id.eq(account)).count().get_result(c)?;
    Ok(!differs && all == number)
}

/// Recomputes and stores the squares of an account.
pub(crate) fn rebuild_cells(c: &mut SqlConnection, account: i64) -> Result<(), SqlError> {
    let known: Option<i64> = accounts::table.find(account).select(accounts::id).get_result(c).optional()?;
    if known.is_none() {
        return Ok(());
    }
    diesel::delete(map_cells::table.filter(map_cells::account_id.eq(account))).execute(c)?;
    add_up(c, account, |c, sums| insert(c, account, sums))
}

const POINTS_AFTER: &str = "
SELECT image_seq, code, captured_at_ms FROM map_points
WHERE account_id = $1 AND (code, captured_at_ms) > ($2, $3)
ORDER BY code, captured_at_ms LIMIT $4";

/// Adds up all points of an account, and calls `each` with some squares at a time.
fn add_up(
    c: &mut SqlConnection,
    account: i64,
    mut each: impl FnMut(&mut SqlConnection, &[Sums]) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    let mut adder = Adder::new();
    let mut after = (-1, 0);
    loop {
        let rows: Vec<PointRow> = statement(POINTS_AFTER)
            .bind::<BigInt, _>(account)
            .bind::<BigInt, _>(after.0)
            .bind::<BigInt, _>(after.1)
            .bind::<BigInt, _>(POINTS)
            .load(c)?;
        rows.iter().try_for_each(|row| adder.add(row))?;
        match rows.last() {
            Some(row) => after = (row.code, row.captured_at_ms),
            None => adder.finish(),
        }
        for sums in adder.complete.chunks(CELLS) {
            each(c, sums)?;
        }
        adder.complete.clear();
        if rows.is_empty() {
            return Ok(());
        }
    }
}
