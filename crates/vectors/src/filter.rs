use std::{fmt, ops::RangeInclusive};

use crate::{Area, KeySet, PositionE7, segment::Segment};

/// The filter of a search: a row passes if it meets all conditions. The default passes all rows.
#[derive(Clone, Default)]
pub struct RowFilter<'a> {
    /// The range of capture times, in milliseconds since 1970.
    pub captured_ms: Option<RangeInclusive<i64>>,
    /// The position is in one of these areas.
    pub areas: Option<&'a [Area]>,
    /// The position passes this predicate. It is called last, only for rows that pass everything else.
    pub accepts: Option<&'a (dyn Fn(PositionE7) -> bool + Sync)>,
    /// The image is one of these.
    pub images: Option<&'a KeySet>,
}

impl RowFilter<'_> {
    /// Writes the rows of a segment that pass into `rows`, given the numbers of all rows of a full segment.
    pub(crate) fn select(&self, segment: &Segment, all_rows: &[u16], rows: &mut Vec<u16>) {
        rows.clear();
        let stored = segment.captured_range_ms();
        let is_before = |range: &RangeInclusive<i64>| range.end() < stored.start();
        let is_after = |range: &RangeInclusive<i64>| stored.end() < range.start();
        if self.captured_ms.as_ref().is_some_and(|range| is_before(range) || is_after(range)) {
            return;
        }
        let are_few = |images: &KeySet| segment.is_in_order() && images.len() <= segment.len() / FEW;
        if let Some(images) = self.images.filter(|images| are_few(images)) {
            find_rows(images, segment.images(), rows);
        } else {
            rows.extend_from_slice(all_rows.get(..segment.len()).unwrap_or(all_rows));
            if let Some(images) = self.images {
                keep(rows, segment.images(), |image| images.contains(image));
            }
        }
        let has_all =
            |range: &&RangeInclusive<i64>| range.contains(stored.start()) && range.contains(stored.end());
        if let Some(range) = self.captured_ms.as_ref().filter(|range| !has_all(range)) {
            keep(rows, segment.captured_at_ms(), |at| (*range.start() <= at) & (at <= *range.end()));
        }
        if let Some(areas) = self.areas {
            keep(rows, segment.positions(), |position| {
                areas.iter().fold(false, |inside, area| inside | area.contains(position))
            });
        }
        if let Some(accepts) = self.accepts {
            keep(rows, segment.positions(), |position| position.is_known() && accepts(position));
        }
    }
}

/// Each image is found by binary search if the image ids of the segment ascend and it has at least this many times as many rows as
/// the filter has images.
const FEW: usize = 8;

/// Finds the rows of some images in an ascending column.
fn find_rows(images: &KeySet, column: &[i64], rows: &mut Vec<u16>) {
    let (Some(first), Some(last)) = (column.first(), column.last()) else { return };
    let mut row = 0;
    for image in images.between(*first, *last) {
        let rest = column.get(row..).unwrap_or_default();
        row += rest.partition_point(|other| *other < image);
        while column.get(row) == Some(&image) {
            rows.extend(u16::try_from(row));
            row += 1;
        }
    }
}

/// Keeps the rows whose value passes. Without a branch, which would be hard to predict: each row is written, and the next row
/// overwrites a row that fails.
fn keep<T: Copy>(rows: &mut Vec<u16>, column: &[T], passes: impl Fn(T) -> bool) {
    let mut kept = 0;
    for place in 0..rows.len() {
        let row = rows.get(place).copied().unwrap_or_default();
        let passed = column.get(usize::from(row)).is_some_and(|value| passes(*value));
        if let Some(slot) = rows.get_mut(kept) {
            *slot = row;
        }
        kept += usize::from(passed);
    }
    rows.truncate(kept);
}

impl fmt::Debug for RowFilter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowFilter")
            .field("captured_ms", &self.captured_ms)
            .field("areas", &self.areas)
            .field("accepts", &self.accepts.is_some())
            .field("images", &self.images)
            .finish()
    }
}
