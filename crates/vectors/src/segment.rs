use std::mem::size_of;

use crate::{
    Error, PositionE7, Row, RowId,
    codes::{self, Codes},
};

/// A segment has at most so many rows: with 512 numbers each, a megabyte, which is what is copied when a row is appended
/// to a snapshot that is being read.
pub(crate) const ROWS: usize = 2048;
/// It begins with room for so many and doubles that.
const FEWEST: usize = 32;

/// Rows in columns, of which a search reads those that it needs.
pub(crate) struct Segment {
    codes: Vec<Codes>,
    units: Vec<f32>,
    vectors: Vec<RowId>,
    images: Vec<i64>,
    captured_at_ms: Vec<i64>,
    positions: Vec<PositionE7>,
    /// Whether the images are in order, as they are when each was encoded once and soon.
    in_order: bool,
    /// How many blocks of codes a row has.
    blocks: usize,
    /// There is room for so many rows in all columns.
    room: usize,
}

impl Segment {
    pub(crate) fn new(blocks: usize) -> Self {
        Self {
            codes: Vec::new(),
            units: Vec::new(),
            vectors: Vec::new(),
            images: Vec::new(),
            captured_at_ms: Vec::new(),
            positions: Vec::new(),
            in_order: true,
            blocks,
            room: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= ROWS
    }

    /// What it has allocated.
    pub(crate) fn bytes(&self) -> usize {
        let facts = size_of::<f32>() + size_of::<RowId>() + 2 * size_of::<i64>() + size_of::<PositionE7>();
        self.room * (self.blocks * size_of::<Codes>() + facts)
    }

    pub(crate) fn push(&mut self, row: Row, vector: &[f32]) -> Result<(), Error> {
        if self.len() == self.room {
            self.make_room((self.room * 2).clamp(FEWEST, ROWS.max(self.room + 1)));
        }
        let unit = codes::append(vector, &mut self.codes)?;
        self.in_order &= self.images.last().is_none_or(|last| *last <= row.image);
        self.units.push(unit);
        self.vectors.push(row.vector);
        self.images.push(row.image);
        self.captured_at_ms.push(row.captured_at_ms);
        self.positions.push(row.position.unwrap_or(PositionE7::NOWHERE));
        Ok(())
    }

    fn make_room(&mut self, rows: usize) {
        fn of<T>(column: &mut Vec<T>, count: usize) {
            column.reserve_exact(count.saturating_sub(column.len()));
        }
        of(&mut self.codes, rows * self.blocks);
        of(&mut self.units, rows);
        of(&mut self.vectors, rows);
        of(&mut self.images, rows);
        of(&mut self.captured_at_ms, rows);
        of(&mut self.positions, rows);
        self.room = rows;
    }

    pub(crate) fn codes(&self) -> &[Codes] {
        &self.codes
    }

    /// What 1 is worth in each row's codes.
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

    /// Some of them are [nowhere](Position::is_somewhere).
    pub(crate) fn positions(&self) -> &[PositionE7] {
        &self.positions
    }

    pub(crate) fn row(&self, row: usize) -> Option<Row> {
        let position = *self.positions.get(row)?;
        Some(Row {
            vector: *self.vectors.get(row)?,
            image: *self.images.get(row)?,
            captured_at_ms: *self.captured_at_ms.get(row)?,
            position: position.is_somewhere().then_some(position),
        })
    }
}

/// With the same room, so that it can be appended to.
impl Clone for Segment {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.blocks);
        copy.in_order = self.in_order;
        copy.make_room(self.room);
        copy.codes.extend_from_slice(&self.codes);
        copy.units.extend_from_slice(&self.units);
        copy.vectors.extend_from_slice(&self.vectors);
        copy.images.extend_from_slice(&self.images);
        copy.captured_at_ms.extend_from_slice(&self.captured_at_ms);
        copy.positions.extend_from_slice(&self.positions);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_be_allocated_is() {
        let mut segment = Segment::new(2);
        let row = Row { vector: RowId(1), image: 1, captured_at_ms: 1, position: None };
        for count in 1..=ROWS {
            segment.push(row, &[0.5; 33]).unwrap();
            for segment in [&segment, &segment.clone()] {
                assert_eq!(segment.len(), count);
                assert!(segment.room >= count && segment.room <= (2 * count).clamp(FEWEST, ROWS));
                let capacities = [
                    segment.codes.capacity() / 2,
                    segment.units.capacity(),
                    segment.vectors.capacity(),
                    segment.images.capacity(),
                    segment.captured_at_ms.capacity(),
                    segment.positions.capacity(),
                ];
                assert_eq!(capacities, [segment.room; 6]);
                assert_eq!(segment.bytes(), segment.room * (64 + 36));
            }
        }
        assert!(segment.is_full());
    }

    #[test]
    fn a_refused_row_leaves_nothing() {
        let mut segment = Segment::new(1);
        let row = Row { vector: RowId(1), image: 1, captured_at_ms: 1, position: None };
        assert_eq!(segment.push(row, &[f32::NAN]), Err(Error::Number));
        assert_eq!((segment.len(), segment.codes.len()), (0, 0));
    }
}
