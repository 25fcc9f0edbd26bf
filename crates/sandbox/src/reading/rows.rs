//! Parts that stand side by side like the letters of a line.

use std::ops::RangeInclusive;

use tesseract::BoundingBox;

use super::parts::Part;
use super::sets::Sets;

/// Letters are at least so high, in pixels.
pub(super) const LEAST_HEIGHT: u32 = 8;
/// So many neighbours to the right are looked at.
const NEIGHBOURS: usize = 400;
/// So many lines are kept, those that look most like writing.
pub(super) const MAX_ROWS: usize = 80;
/// How uneven the heights of letters may be: their standard deviation as a part of their mean; and those of two.
const UNEVEN: f32 = 0.45;
const UNEVEN_PAIR: f32 = 0.2;

/// A line that may be writing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// The places of its letters among all parts.
    pub(super) letters: Vec<usize>,
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) right: u32,
    pub(super) bottom: u32,
    /// The height of the letter in the middle of all by height.
    pub(super) letter_height: u32,
    /// How much it looks like writing.
    likeness: f32,
}

impl Row {
    /// The same line in a picture that is so many times larger.
    pub(super) fn enlarged(&self, times: u32) -> BoundingBox {
        BoundingBox {
            left: self.left.saturating_mul(times),
            top: self.top.saturating_mul(times),
            right: self.right.saturating_mul(times),
            bottom: self.bottom.saturating_mul(times),
        }
    }
}

/// The lines whose letters have these heights, from top to bottom.
pub(super) fn find(parts: &[Part], heights: &RangeInclusive<u32>) -> Vec<Row> {
    let mut letters: Vec<(usize, &Part)> =
        parts.iter().enumerate().filter(|(_, part)| is_letter(part, heights)).collect();
    letters.sort_by_key(|(place, part)| (part.left, *place));
    let highest = letters.iter().map(|(_, part)| part.height()).max().unwrap_or(0);
    let mut sets = Sets::new(letters.len());
    for (place, (_, part)) in letters.iter().enumerate() {
        let reach = part.right.saturating_add(highest);
        let others = letters.iter().enumerate().skip(place + 1).take(NEIGHBOURS);
        for (other_place, (_, other)) in others.take_while(|(_, (_, other))| other.left <= reach) {
            if are_neighbours(part, other) {
                sets.join(place, other_place);
            }
        }
    }
    let mut grouped: Vec<(usize, usize, &Part)> = letters
        .iter()
        .enumerate()
        .map(|(place, (of_all, part))| (sets.root(place), *of_all, *part))
        .collect();
    grouped.sort_by_key(|(root, of_all, _)| (*root, *of_all));
    let mut rows: Vec<Row> = grouped.chunk_by(|a, b| a.0 == b.0).filter_map(row).collect();
    rows.sort_by(|a, b| b.likeness.total_cmp(&a.likeness));
    rows.truncate(MAX_ROWS);
    rows.sort_by_key(|row| (row.top, row.left));
    rows
}

fn is_letter(part: &Part, heights: &RangeInclusive<u32>) -> bool {
    let (width, height) = (part.width(), part.height());
    let room = u64::from(width) * u64::from(height);
    let area = u64::from(part.area);
    heights.contains(&height)
        && width >= 2
        && width <= height.saturating_mul(8)
        && height <= width.saturating_mul(12)
        && area >= 12
        && area * 100 >= room * 12
        && area * 100 <= room * 97
}

/// Whether `b`, which does not begin before `a`, can be the next letter, or one that overhangs.
fn are_neighbours(a: &Part, b: &Part) -> bool {
    let (higher, lower) = (a.height().max(b.height()), a.height().min(b.height()));
    let gap = i64::from(b.left) - i64::from(a.right);
    let overhang = i64::from(a.width().min(b.width()) / 2);
    let common = i64::from(a.bottom.min(b.bottom)) - i64::from(a.top.max(b.top));
    a.ink == b.ink
        && gap <= i64::from(higher)
        && gap >= -overhang
        && u64::from(higher) * 10 <= u64::from(lower) * 22
        && common * 2 >= i64::from(lower)
}

/// A line of these letters, if they are like one.
#[expect(clippy::cast_precision_loss, reason = "a likeness need not be exact")]
fn row(group: &[(usize, usize, &Part)]) -> Option<Row> {
    let parts = || group.iter().map(|(_, _, part)| *part);
    let left = parts().map(|part| part.left).min()?;
    let right = parts().map(|part| part.right).max()?;
    let mut heights: Vec<u32> = parts().map(Part::height).collect();
    heights.sort_unstable();
    let letter_height = heights.get(heights.len() / 2).copied()?;
    if group.len() < 2 || u64::from(right - left) * 10 < u64::from(letter_height) * 16 {
        return None;
    }
    let count = heights.len() as f32;
    let mean = heights.iter().map(|height| *height as f32).sum::<f32>() / count;
    let variance = heights.iter().map(|height| (*height as f32 - mean).powi(2)).sum::<f32>() / count;
    let uneven = variance.sqrt() / mean.max(1.0);
    if uneven > UNEVEN || (group.len() == 2 && uneven > UNEVEN_PAIR) {
        return None;
    }
    Some(Row {
        letters: group.iter().map(|(_, of_all, _)| *of_all).collect(),
        left,
        top: parts().map(|part| part.top).min()?,
        right,
        bottom: parts().map(|part| part.bottom).max()?,
        letter_height,
        likeness: count / (1.0 + 2.0 * uneven),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::strokes::Ink;

    fn letter(left: u32, top: u32, width: u32, height: u32) -> Part {
        let area = width * height / 2;
        Part { ink: Ink::Dark, left, top, right: left + width, bottom: top + height, area, runs: (0, 0) }
    }

    #[test]
    fn letters_side_by_side_are_a_line() {
        let word =
            |left: u32, top: u32| (0..4).map(move |place| letter(left + place * 14, top + place % 2, 10, 20));
        let mut parts: Vec<Part> = word(100, 50).chain(word(100, 200)).chain(word(300, 52)).collect();
        // Too large beside the first word, and of the other ink.
        parts.push(letter(156, 20, 60, 80));
        parts.push(Part { ink: Ink::Light, ..letter(156, 200, 10, 20) });
        // Alone, and too low.
        parts.push(letter(500, 300, 10, 20));
        parts.extend((0..9).map(|place| letter(place * 8, 400, 6, 7)));
        let rows = find(&parts, &(LEAST_HEIGHT..=240));
        let told: Vec<_> =
            rows.iter().map(|row| (row.letters.clone(), row.left, row.top, row.letter_height)).collect();
        assert_eq!(
            told,
            [
                (vec![0, 1, 2, 3], 100, 50, 20),
                (vec![8, 9, 10, 11], 300, 52, 20),
                (vec![4, 5, 6, 7], 100, 200, 20),
            ]
        );
    }

    #[test]
    fn the_likeliest_lines_are_kept() {
        let parts: Vec<Part> = (0..200)
            .flat_map(|line: u32| (0..2 + line % 5).map(move |place| letter(place * 24, line * 60, 18, 30)))
            .collect();
        let rows = find(&parts, &(LEAST_HEIGHT..=240));
        assert_eq!(rows.len(), MAX_ROWS);
        assert!(rows.iter().all(|row| row.letters.len() >= 5));
        assert!(rows.is_sorted_by_key(|row| row.top));
    }
}
