//! Keeps points and squares up to date with the images.

use std::collections::{BTreeMap, HashMap};

use diesel::{
    OptionalExtension,
    dsl::max,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::{MAX_MAP_LEVEL, MapCell, MapPoint};

use super::{
    MIN_STORED,
    sums::{PointRow, Sums, numbers, points_in, stored},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{images, map_cells, map_points},
        statement,
        value::RowReader,
    },
};

/// The point of an image with its account.
type OwnedPoint = (i64, PointRow);

/// Brings the map up to date with an image, after its visibility, its position or its capture time has changed. It does
/// nothing if none of them has.
pub(crate) fn update(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let wanted = point_of_image(c, seq)?;
    let present = stored_point(c, seq)?;
    if wanted == present {
        return Ok(());
    }
    if let Some((account, row)) = present {
        remove_point(c, account, &row)?;
    }
    match wanted {
        Some((account, row)) => add_point(c, account, &row),
        None => Ok(()),
    }
}

/// Removes an image that is about to be purged.
pub(crate) fn remove(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    match stored_point(c, seq)? {
        Some((account, row)) => remove_point(c, account, &row),
        None => Ok(()),
    }
}

fn stored_point(c: &mut SqlConnection, seq: i64) -> Result<Option<OwnedPoint>, SqlError> {
    let found: Option<(i64, i64, i64)> = map_points::table
        .find(seq)
        .select((map_points::account_id, map_points::code, map_points::captured_at_ms))
        .get_result(c)
        .optional()?;
    Ok(found
        .map(|(account, code, captured_at_ms)| (account, PointRow { image_seq: seq, code, captured_at_ms })))
}

/// What decides the point of an image.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
pub(super) struct PlacedImage {
    pub(super) seq: i64,
    pub(super) account_id: i64,
    live: bool,
    latitude: Option<f64>,
    longitude: Option<f64>,
    captured_at_ms: Option<i64>,
}

impl PlacedImage {
    /// The point that the image has on the map, if any.
    pub(super) fn point(&self) -> Result<Option<PointRow>, SqlError> {
        let position = RowReader::new("images", &self.seq).position(self.latitude, self.longitude)?;
        Ok(match (position, self.captured_at_ms) {
            (Some(position), Some(captured_at_ms)) if self.live => {
                Some(PointRow { image_seq: self.seq, code: MapPoint::of(position).code(), captured_at_ms })
            }
            _ => None,
        })
    }
}

fn point_of_image(c: &mut SqlConnection, seq: i64) -> Result<Option<OwnedPoint>, SqlError> {
    let image: Option<PlacedImage> =
        images::table.find(seq).select(PlacedImage::as_select()).get_result(c).optional()?;
    let Some(image) = image else { return Ok(None) };
    Ok(image.point()?.map(|row| (image.account_id, row)))
}

/// The squares of all levels that have a point.
fn path(code: i64) -> Vec<MapCell> {
    (0..=MAX_MAP_LEVEL).map(|level| MapCell::at(level, code)).collect()
}

const ADD: &str = concat!(
    "UPDATE map_cells SET photos = photos + 1, x_sum = x_sum + $1, y_sum = y_sum + $2,
        newest_ms = CASE WHEN newest_ms < $3 THEN $3 ELSE newest_ms END
    WHERE account_id = $4 AND cell IN (SELECT value FROM ",
    integers!("$5"),
    " AS wanted)"
);

fn add_point(c: &mut SqlConnection, account: i64, row: &PointRow) -> Result<(), SqlError> {
    diesel::insert_into(map_points::table)
        .values((
            map_points::image_seq.eq(row.image_seq),
            map_points::account_id.eq(account),
            map_points::code.eq(row.code),
            map_points::captured_at_ms.eq(row.captured_at_ms),
        ))
        .execute(c)?;
    let point = row.point()?;
    let path = path(row.code);
    let updated = statement(ADD)
        .bind::<BigInt, _>(i64::from(point.x()))
        .bind::<BigInt, _>(i64::from(point.y()))
        .bind::<BigInt, _>(row.captured_at_ms)
        .bind::<BigInt, _>(account)
        .bind::<Text, _>(numbers(&path))
        .execute(c)?;
    // The stored squares are the first ones of the path.
    store_full_squares(c, account, path.get(updated..).unwrap_or_default())
}

/// Stores the squares among these that now have enough points. The levels of the squares are ascending.
fn store_full_squares(c: &mut SqlConnection, account: i64, cells: &[MapCell]) -> Result<(), SqlError> {
    let Some(largest) = cells.first() else { return Ok(()) };
    let points = points_in(c, account, &[*largest], MIN_STORED)?;
    for cell in cells {
        let (first, last) = cell.codes();
        let mut sums = Sums::new(*cell);
        for row in points.iter().filter(|row| (first..=last).contains(&row.code)) {
            sums.add(row)?;
        }
        if sums.photos < MIN_STORED {
            break;
        }
        insert(c, account, &[sums])?;
    }
    Ok(())
}

/// Stores the sums of squares.
pub(super) fn insert(c: &mut SqlConnection, account: i64, sums: &[Sums]) -> Result<(), SqlError> {
    let rows: Vec<_> = sums.iter().map(|sums| (map_cells::account_id.eq(account), *sums)).collect();
    diesel::insert_into(map_cells::table).values(rows).execute(c)?;
    Ok(())
}

const SUBTRACT: &str = concat!(
    "UPDATE map_cells SET photos = photos - 1, x_sum = x_sum - $1, y_sum = y_sum - $2
    WHERE account_id = $3 AND cell IN (SELECT value FROM ",
    integers!("$4"),
    " AS wanted)
    RETURNING cell, photos, newest_ms, x_sum, y_sum"
);

fn remove_point(c: &mut SqlConnection, account: i64, row: &PointRow) -> Result<(), SqlError> {
    diesel::delete(map_points::table.find(row.image_seq)).execute(c)?;
    let point = row.point()?;
    let path = path(row.code);
    let mut left: Vec<Sums> = statement(SUBTRACT)
        .bind::<BigInt, _>(i64::from(point.x()))
        .bind::<BigInt, _>(i64::from(point.y()))
        .bind::<BigInt, _>(account)
        .bind::<Text, _>(numbers(&path))
        .load(c)?;
    left.sort_unstable_by_key(|sums| sums.cell);
    let full = left.partition_point(|sums| sums.photos >= MIN_STORED);
    let small = left.split_off(full);
    if !small.is_empty() {
        let cells: Vec<i64> = small.iter().map(|sums| sums.cell).collect();
        diesel::delete(map_cells::table)
            .filter(map_cells::account_id.eq(account))
            .filter(map_cells::cell.eq_any(cells))
            .execute(c)?;
    }
    // `left` begins with the largest squares. The first ones may have a newer photo than this one and need no update.
    let first = left.partition_point(|sums| sums.newest_ms != row.captured_at_ms);
    update_newest(c, account, left.get(first..).unwrap_or_default())
}

/// Recomputes the newest photo of squares. Each square is inside the square before it.
fn update_newest(c: &mut SqlConnection, account: i64, outdated: &[Sums]) -> Result<(), SqlError> {
    let mut parts: Vec<(MapCell, Vec<MapCell>)> = Vec::new();
    for (index, sums) in outdated.iter().enumerate() {
        let (cell, next) = (sums.cell()?, outdated.get(index + 1).map(|next| next.cell));
        parts.push((cell, cell.children().filter(|child| Some(child.number()) != next).collect()));
    }
    let others: Vec<MapCell> = parts.iter().flat_map(|(_, others)| others.iter().copied()).collect();
    let newest_of = newest_of(c, account, &others)?;
    // The smallest squares have no parts.
    let mut newest = match parts.last() {
        Some((cell, others)) if others.is_empty() => newest_point(c, account, *cell)?,
        _ => None,
    };
    let mut changes: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (cell, others) in parts.iter().rev() {
        newest = others.iter().filter_map(|other| newest_of.get(other)).copied().chain(newest).max();
        if let Some(newest_ms) = newest {
            changes.entry(newest_ms).or_default().push(cell.number());
        }
    }
    for (newest_ms, cells) in changes {
        diesel::update(map_cells::table)
            .filter(map_cells::account_id.eq(account))
            .filter(map_cells::cell.eq_any(cells))
            .set(map_cells::newest_ms.eq(newest_ms))
            .execute(c)?;
    }
    Ok(())
}

fn newest_point(c: &mut SqlConnection, account: i64, cell: MapCell) -> Result<Option<i64>, SqlError> {
    let (first, last) = cell.codes();
    Ok(map_points::table
        .filter(map_points::account_id.eq(account))
        .filter(map_points::code.between(first, last))
        .select(max(map_points::captured_at_ms))
        .get_result(c)?)
}

/// The time of the newest photo of each of these squares that has one. No square is inside another.
fn newest_of(
    c: &mut SqlConnection,
    account: i64,
    cells: &[MapCell],
) -> Result<HashMap<MapCell, i64>, SqlError> {
    let mut newest = HashMap::new();
    for sums in stored(c, account, cells)? {
        newest.insert(sums.cell()?, sums.newest_ms);
    }
    let mut unstored: Vec<MapCell> =
        cells.iter().copied().filter(|cell| !newest.contains_key(cell)).collect();
    unstored.sort_unstable_by_key(|cell| cell.codes());
    for row in points_in(c, account, &unstored, i64::MAX)? {
        let following = unstored.partition_point(|cell| cell.codes().0 <= row.code);
        if let Some(cell) = following.checked_sub(1).and_then(|index| unstored.get(index)) {
            let newest_ms = newest.entry(*cell).or_insert(row.captured_at_ms);
            *newest_ms = row.captured_at_ms.max(*newest_ms);
        }
    }
    Ok(newest)
}
