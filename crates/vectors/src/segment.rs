use std::{mem::size_of, ops::RangeInclusive};

use crate::{
    Error, PositionE7, Row, RowId,
    codes::{self, Vector},
    products::Codes,
};

/// The maximum number of rows in a segment. With 512 numbers each, this is one megabyte: the amount that is copied when a
/// row is appended while a snapshot shares the segment.
pub(crate) const ROWS: usize = 2048;
/// The initial capacity, which is doubled as needed.
const MIN_CAPACITY: usize = 32;

/// Rows, stored by column.
pub(crate) struct Segment {
    codes: Vec<Codes>,
    units: Vec<f32>,
    vectors: Vec<RowId>,
    images: Vec<i64>,
    captured_at_ms: Vec<i64>,
    positions: Vec<PositionE7>,
    /// From the earliest to the latest capture time.
    captured_range_ms: RangeInclusive<i64>,
    /// Whether the image ids ascend, which is usual: it is false only if images were encoded late or again.
    in_order: bool,
    /// The number of blocks of codes in a row.
    blocks: usize,
    /// The capacity of all columns, in rows.
    capacity: usize,
}

/// The range of an empty segment. The first row replaces both ends.
const EMPTY_RANGE_MS: RangeInclusive<i64> = RangeInclusive::new(i64::MAX, i64::MIN);

impl Segment {
    pub(crate) fn new(blocks: usize) -> Self {
        Self {
            codes: Vec::new(),
            units: Vec::new(),
            vectors: Vec::new(),
            images: Vec::new(),
            captured_at_ms: Vec::new(),
            positions: Vec::new(),
            captured_range_ms: EMPTY_RANGE_MS,
            in_order: true,
            blocks,
            capacity: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= ROWS
    }

    /// The allocated memory.
    pub(crate) fn bytes(&self) -> usize {
        let other_columns =
            size_of::<f32>() + size_of::<RowId>() + 2 * size_of::<i64>() + size_of::<PositionE7>();
        self.capacity * (self.blocks * size_of::<Codes>() + other_columns)
    }

    pub(crate) fn push(&mut self, row: Row, vector: Vector<'_>) -> Result<(), Error> {
        if self.len() == self.capacity {
            self.reserve((self.capacity * 2).clamp(MIN_CAPACITY, ROWS.max(self.capacity + 1)));
        }
        let unit = codes::append(vector, &mut self.codes)?;
        self.in_order &= self.images.last().is_none_or(|last| *last <= row.image);
        self.units.push(unit);
        self.vectors.push(row.vector);
        self.images.push(row.image);
        self.captured_at_ms.push(row.captured_at_ms);
        self.widen_captured_range(&(row.captured_at_ms..=row.captured_at_ms));
        self.positions.push(row.position.unwrap_or(PositionE7::UNKNOWN));
        Ok(())
    }

    /// Appends the rows of another segment. Both together have at most [`ROWS`].
    pub(crate) fn append(&mut self, other: &Self) {
        let rows = self.len() + other.len();
        if rows > self.capacity {
            self.reserve(rows.next_power_of_two().max(MIN_CAPACITY));
        }
        let follows = self.images.last().zip(other.images.first()).is_none_or(|(last, first)| last <= first);
        self.in_order &= other.in_order && follows;
        self.widen_captured_range(&other.captured_range_ms);
        self.extend(other);
    }

    /// Copies the rows of another segment.
    fn extend(&mut self, other: &Self) {
        self.codes.extend_from_slice(&other.codes);
        self.units.extend_from_slice(&other.units);
        self.vectors.extend_from_slice(&other.vectors);
        self.images.extend_from_slice(&other.images);
        self.captured_at_ms.extend_from_slice(&other.captured_at_ms);
        self.positions.extend_from_slice(&other.positions);
    }

    fn widen_captured_range(&mut self, other: &RangeInclusive<i64>) {
        let (first, last) = (self.captured_range_ms.start(), self.captured_range_ms.end());
        self.captured_range_ms = *first.min(other.start())..=*last.max(other.end());
    }

    fn reserve(&mut self, rows: usize) {
        fn of<T>(column: &mut Vec<T>, count: usize) {
            column.reserve_exact(count.saturating_sub(column.len()));
        }
        of(&mut self.codes, rows * self.blocks);
        of(&mut self.units, rows);
        of(&mut self.vectors, rows);
        of(&mut self.images, rows);
        of(&mut self.captured_at_ms, rows);
        of(&mut self.positions, rows);
        self.capacity = rows;
    }

    pub(crate) fn codes(&self) -> &[Codes] {
        &self.codes
    }

    /// The value of code 1 in each row.
    pub(crate) fn units(&self) -> &[f32] {
        &self.units
    }

    pub(crate) fn images(&self) -> &[i64] {
        &self.images
    }

    /// Whether [`images`](Self::images) ascend.
    pub(crate) fn is_in_order(&self) -> bool {
        self.in_order
    }

    pub(crate) fn captured_at_ms(&self) -> &[i64] {
        &self.captured_at_ms
    }

    /// From the earliest to the latest of [`captured_at_ms`](Self::captured_at_ms).
    pub(crate) fn captured_range_ms(&self) -> &RangeInclusive<i64> {
        &self.captured_range_ms
    }

    /// Positions may be [unknown](PositionE7::is_known).
    pub(crate) fn positions(&self) -> &[PositionE7] {
        &self.positions
    }

    pub(crate) fn row(&self, row: usize) -> Option<Row> {
        let position = *self.positions.get(row)?;
        Some(Row {
            vector: *self.vectors.get(row)?,
            image: *self.images.get(row)?,
            captured_at_ms: *self.captured_at_ms.get(row)?,
            position: position.is_known().then_some(position),
        })
    }
}

/// Clones with the same capacity, because rows are appended to the clone.
impl Clone for Segment {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.blocks);
        copy.captured_range_ms = self.captured_range_ms.clone();
        copy.in_order = self.in_order;
        copy.reserve(self.capacity);
        copy.extend(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_memory_is_the_allocated_one() {
        let mut segment = Segment::new(2);
        let row = Row { vector: RowId(1), image: 1, captured_at_ms: 1, position: None };
        for count in 1..=ROWS {
            segment.push(row, Vector::Single(&[0.5; 33])).unwrap();
            for segment in [&segment, &segment.clone()] {
                assert_eq!(segment.len(), count);
                assert!(
                    segment.capacity >= count && segment.capacity <= (2 * count).clamp(MIN_CAPACITY, ROWS)
                );
                let capacities = [
                    segment.codes.capacity() / 2,
                    segment.units.capacity(),
                    segment.vectors.capacity(),
                    segment.images.capacity(),
                    segment.captured_at_ms.capacity(),
                    segment.positions.capacity(),
                ];
                assert_eq!(capacities, [segment.capacity; 6]);
                assert_eq!(segment.bytes(), segment.capacity * (64 + 36));
            }
        }
        assert!(segment.is_full());
    }

    #[test]
    fn refused_row_leaves_nothing() {
        let mut segment = Segment::new(1);
        let row = Row { vector: RowId(1), image: 1, captured_at_ms: 1, position: None };
        assert_eq!(segment.push(row, Vector::Single(&[f32::NAN])), Err(Error::Number));
        assert_eq!((segment.len(), segment.codes.len()), (0, 0));
    }
}
