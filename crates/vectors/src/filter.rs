use std::{fmt, ops::RangeInclusive};

use crate::{Area, KeySet, PositionE7, segment::Segment};

/// Which rows a search looks at: those that everything given holds for. The default is all rows.
#[derive(Clone, Default)]
pub struct RowFilter<'a> {
    /// Captured between these moments, in milliseconds since 1970.
    pub captured_ms: Option<RangeInclusive<i64>>,
    /// Captured at a place in any of these areas.
    pub areas: Option<&'a [Area]>,
    /// Captured at a place that this accepts. It is asked last, and so only about rows that pass all else.
    pub accepts: Option<&'a (dyn Fn(PositionE7) -> bool + Sync)>,
    /// Of these images.
    pub images: Option<&'a KeySet>,
}

impl RowFilter<'_> {
    /// The rows of a segment that pass.
    pub(crate) fn select(&self, segment: &Segment, rows: &mut Vec<u16>) {
        rows.clear();
        let are_few = |images: &KeySet| segment.is_in_order() && images.len() <= segment.len() / FEW;
        if let Some(images) = self.images.filter(|images| are_few(images)) {
            push_rows_of(images, segment.images(), rows);
        } else {
            rows.extend((0..=u16::MAX).take(segment.len()));
            if let Some(images) = self.images {
                keep(rows, segment.images(), |image| images.contains(image));
            }
        }
        if let Some(range) = &self.captured_ms {
            keep(rows, segment.captured_at_ms(), |at| (*range.start() <= at) & (at <= *range.end()));
        }
        if let Some(areas) = self.areas {
            keep(rows, segment.positions(), |position| {
                areas.iter().fold(false, |inside, area| inside | area.contains(position))
            });
        }
        if let Some(accepts) = self.accepts {
            keep(rows, segment.positions(), |position| position.is_somewhere() && accepts(position));
        }
    }
}

/// When the images asked for are so many times fewer than the rows, they are looked up one by one.
const FEW: usize = 8;

/// The rows of some images in a column in which images ascend.
fn push_rows_of(images: &KeySet, column: &[i64], rows: &mut Vec<u16>) {
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

/// Keeps the rows whose value passes. What passes is hard to foresee, so that a branch would cost more than to write
/// each row and to write over those that do not.
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
