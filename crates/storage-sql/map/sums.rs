//! Sums of the points of squares.

use diesel::{
    QueryableByName, RunQueryDsl,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::{MAX_MAP_LEVEL, MapCell, MapPoint, Position};

use super::MIN_STORED;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::map_cells,
        statement,
        value::{RowReader, json_array, json_text},
    },
};

/// A point of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryableByName)]
pub(super) struct PointRow {
    #[diesel(sql_type = BigInt)]
    pub(super) image_seq: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) code: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) captured_at_ms: i64,
}

impl PointRow {
    pub(super) fn point(&self) -> Result<MapPoint, SqlError> {
        RowReader::new("map_points", &self.image_seq).required("code", MapPoint::from_code(self.code))
    }
}

/// The sums of a square, as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Queryable, Selectable, Insertable, QueryableByName)]
#[diesel(table_name = map_cells, check_for_backend(crate::Backend))]
pub(super) struct Sums {
    pub(super) cell: i64,
    pub(super) photos: i64,
    pub(super) newest_ms: i64,
    pub(super) x_sum: i64,
    pub(super) y_sum: i64,
}

impl Sums {
    pub(super) fn new(cell: MapCell) -> Self {
        Self { cell: cell.number(), photos: 0, newest_ms: i64::MIN, x_sum: 0, y_sum: 0 }
    }

    pub(super) fn add(&mut self, row: &PointRow) -> Result<(), SqlError> {
        let point = row.point()?;
        self.photos += 1;
        self.newest_ms = self.newest_ms.max(row.captured_at_ms);
        self.x_sum += i64::from(point.x());
        self.y_sum += i64::from(point.y());
        Ok(())
    }

    pub(super) fn cell(&self) -> Result<MapCell, SqlError> {
        RowReader::new("map_cells", &self.cell).required("cell", MapCell::from_number(self.cell))
    }

    /// The mean position.
    pub(super) fn centre(&self) -> Result<Position, SqlError> {
        let mean = |column, sum: i64| {
            let mean = sum.checked_div(self.photos).and_then(|mean| u32::try_from(mean).ok());
            RowReader::new("map_cells", &self.cell).required(column, mean)
        };
        Ok(MapPoint::new(mean("x_sum", self.x_sum)?, mean("y_sum", self.y_sum)?).position())
    }
}

/// The numbers of squares as a JSON array.
pub(super) fn numbers(cells: &[MapCell]) -> String {
    json_array(&cells.iter().map(|cell| cell.number()).collect::<Vec<_>>())
}

const STORED: &str = concat!(
    "SELECT m.cell, m.photos, m.newest_ms, m.x_sum, m.y_sum FROM ",
    integers!("$1"),
    " AS wanted ",
    join_after!("map_cells", "m", "m.account_id = $2 AND m.cell = wanted.value"),
    " ORDER BY m.cell"
);

/// The stored squares among these, in the order of their numbers.
pub(super) fn stored(c: &mut SqlConnection, account: i64, cells: &[MapCell]) -> Result<Vec<Sums>, SqlError> {
    Ok(statement(STORED).bind::<Text, _>(numbers(cells)).bind::<BigInt, _>(account).load(c)?)
}

const POINTS_IN: &str = concat!(
    "SELECT p.image_seq, p.code, p.captured_at_ms FROM ",
    integer_pairs!("$1"),
    " AS wanted ",
    join_after!("map_points", "p", "p.account_id = $2 AND p.code BETWEEN wanted.first AND wanted.second"),
    " LIMIT $3"
);

/// Up to `limit` points of squares, which are in the order of their codes.
pub(super) fn points_in(
    c: &mut SqlConnection,
    account: i64,
    cells: &[MapCell],
    limit: i64,
) -> Result<Vec<PointRow>, SqlError> {
    // Neighbours in this order become one range.
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for (first, last) in cells.iter().map(|cell| cell.codes()) {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == first => *end = last,
            _ => ranges.push((first, last)),
        }
    }
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    Ok(statement(POINTS_IN)
        .bind::<Text, _>(json_text(&ranges))
        .bind::<BigInt, _>(account)
        .bind::<BigInt, _>(limit)
        .load(c)?)
}

/// Adds up the squares of all levels from points in the order of their codes.
pub(super) struct Adder {
    /// The square of each level that has the last point.
    open: Vec<Sums>,
    /// Squares that are complete and are to be stored.
    pub(super) complete: Vec<Sums>,
}

impl Adder {
    pub(super) fn new() -> Self {
        Self { open: Vec::new(), complete: Vec::new() }
    }

    pub(super) fn add(&mut self, row: &PointRow) -> Result<(), SqlError> {
        let same = self
            .open
            .iter()
            .zip(0..)
            .take_while(|(sums, level)| sums.cell == MapCell::at(*level, row.code).number())
            .count();
        self.close(same);
        let first = u8::try_from(same).unwrap_or(MAX_MAP_LEVEL);
        self.open.extend((first..=MAX_MAP_LEVEL).map(|level| Sums::new(MapCell::at(level, row.code))));
        self.open.iter_mut().try_for_each(|sums| sums.add(row))
    }

    pub(super) fn finish(&mut self) {
        self.close(0);
    }

    fn close(&mut self, from: usize) {
        self.complete.extend(self.open.drain(from..).filter(|sums| sums.photos >= MIN_STORED));
    }
}
