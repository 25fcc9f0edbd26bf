//! Groups components side by side into text lines.

use std::ops::RangeInclusive;

use tesseract::BoundingBox;

use crate::components::Component;
use crate::union_find::UnionFind;

/// The smallest height of a letter, in pixels.
pub(crate) const MIN_LETTER_HEIGHT: u32 = 8;
/// Upper bound on the following components with which each component is compared, from left to right.
const MAX_NEIGHBOURS: usize = 400;
/// Upper bound on lines. Those with the highest score are kept.
const MAX_LINES: usize = 80;
/// The largest coefficient of variation of the letter heights in a line, and in a line of two letters.
const MAX_VARIATION: f32 = 0.45;
const MAX_VARIATION_OF_PAIR: f32 = 0.2;

/// A group of components that may be a line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LineCandidate {
    /// The indices of its letters among all components.
    pub(crate) letters: Vec<usize>,
    pub(crate) left: u32,
    pub(crate) top: u32,
    pub(crate) right: u32,
    pub(crate) bottom: u32,
    pub(crate) letter_height: u32,
    /// How much it looks like text.
    pub(crate) score: f32,
}

impl LineCandidate {
    /// Its position in a picture that is `factor` times larger.
    pub(crate) fn scaled(&self, factor: u32) -> BoundingBox {
        BoundingBox {
            left: self.left.saturating_mul(factor),
            top: self.top.saturating_mul(factor),
            right: self.right.saturating_mul(factor),
            bottom: self.bottom.saturating_mul(factor),
        }
    }
}

/// The lines whose letters have a height in `heights`, from top to bottom.
pub(crate) fn find(components: &[Component], heights: &RangeInclusive<u32>) -> Vec<LineCandidate> {
    let mut letters: Vec<(usize, &Component)> =
        components.iter().enumerate().filter(|(_, component)| is_letter(component, heights)).collect();
    letters.sort_by_key(|(index, component)| (component.left, *index));
    let highest = letters.iter().map(|(_, component)| component.height()).max().unwrap_or(0);
    let mut sets = UnionFind::new(letters.len());
    for (index, (_, component)) in letters.iter().enumerate() {
        let reach = component.right.saturating_add(highest);
        let others = letters.iter().enumerate().skip(index + 1).take(MAX_NEIGHBOURS);
        for (other_index, (_, other)) in others.take_while(|(_, (_, other))| other.left <= reach) {
            if are_neighbours(component, other) {
                sets.union(index, other_index);
            }
        }
    }
    let mut grouped: Vec<(usize, usize, &Component)> = letters
        .iter()
        .enumerate()
        .map(|(index, (component_index, component))| (sets.find(index), *component_index, *component))
        .collect();
    grouped.sort_by_key(|(root, component_index, _)| (*root, *component_index));
    let mut lines: Vec<LineCandidate> = grouped.chunk_by(|a, b| a.0 == b.0).filter_map(line).collect();
    lines.sort_by(|a, b| b.score.total_cmp(&a.score));
    lines.truncate(MAX_LINES);
    lines.sort_by_key(|line| (line.top, line.left));
    lines
}

fn is_letter(component: &Component, heights: &RangeInclusive<u32>) -> bool {
    let (width, height) = (component.width(), component.height());
    let box_area = u64::from(width) * u64::from(height);
    let area = u64::from(component.area);
    heights.contains(&height)
        && width >= 2
        && width <= height.saturating_mul(8)
        && height <= width.saturating_mul(12)
        && area >= 12
        && area * 100 >= box_area * 12
        && area * 100 <= box_area * 97
}

/// Whether `b` can be the letter after `a`. The two may overlap a little. `b` must not start left of `a`.
fn are_neighbours(a: &Component, b: &Component) -> bool {
    let (higher, lower) = (a.height().max(b.height()), a.height().min(b.height()));
    let gap = i64::from(b.left) - i64::from(a.right);
    let overhang = i64::from(a.width().min(b.width()) / 2);
    let common = i64::from(a.bottom.min(b.bottom)) - i64::from(a.top.max(b.top));
    a.polarity == b.polarity
        && gap <= i64::from(higher)
        && gap >= -overhang
        && u64::from(higher) * 10 <= u64::from(lower) * 22
        && common * 2 >= i64::from(lower)
}

/// The line of these letters; `None` if the group does not look like text.
#[expect(clippy::cast_precision_loss, reason = "the score need not be exact")]
fn line(group: &[(usize, usize, &Component)]) -> Option<LineCandidate> {
    let components = || group.iter().map(|(_, _, component)| *component);
    let left = components().map(|component| component.left).min()?;
    let right = components().map(|component| component.right).max()?;
    let mut heights: Vec<u32> = components().map(Component::height).collect();
    heights.sort_unstable();
    let letter_height = heights.get(heights.len() / 2).copied()?;
    if group.len() < 2 || u64::from(right - left) * 10 < u64::from(letter_height) * 16 {
        return None;
    }
    let count = heights.len() as f32;
    let mean = heights.iter().map(|height| *height as f32).sum::<f32>() / count;
    let variance = heights.iter().map(|height| (*height as f32 - mean).powi(2)).sum::<f32>() / count;
    let variation = variance.sqrt() / mean.max(1.0);
    if variation > MAX_VARIATION || (group.len() == 2 && variation > MAX_VARIATION_OF_PAIR) {
        return None;
    }
    Some(LineCandidate {
        letters: group.iter().map(|(_, component_index, _)| *component_index).collect(),
        left,
        top: components().map(|component| component.top).min()?,
        right,
        bottom: components().map(|component| component.bottom).max()?,
        letter_height,
        score: count / (1.0 + 2.0 * variation),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threshold::Polarity;

    fn letter(left: u32, top: u32, width: u32, height: u32) -> Component {
        let area = width * height / 2;
        Component {
            polarity: Polarity::Dark,
            left,
            top,
            right: left + width,
            bottom: top + height,
            area,
            runs: (0, 0),
        }
    }

    #[test]
    fn letters_side_by_side_are_a_line() {
        let word =
            |left: u32, top: u32| (0..4).map(move |index| letter(left + index * 14, top + index % 2, 10, 20));
        let mut components: Vec<Component> =
            word(100, 50).chain(word(100, 200)).chain(word(300, 52)).collect();
        // A letter that is too large for the first word, and a letter of the other polarity.
        components.push(letter(156, 20, 60, 80));
        components.push(Component { polarity: Polarity::Light, ..letter(156, 200, 10, 20) });
        // A single letter, and letters that are not high enough.
        components.push(letter(500, 300, 10, 20));
        components.extend((0..9).map(|index| letter(index * 8, 400, 6, 7)));
        let lines = find(&components, &(MIN_LETTER_HEIGHT..=240));
        let found: Vec<_> = lines
            .iter()
            .map(|line| (line.letters.clone(), line.left, line.top, line.letter_height))
            .collect();
        assert_eq!(
            found,
            [
                (vec![0, 1, 2, 3], 100, 50, 20),
                (vec![8, 9, 10, 11], 300, 52, 20),
                (vec![4, 5, 6, 7], 100, 200, 20),
            ]
        );
    }

    #[test]
    fn lines_of_highest_score_are_kept() {
        let components: Vec<Component> = (0..200)
            .flat_map(|line: u32| (0..2 + line % 5).map(move |index| letter(index * 24, line * 60, 18, 30)))
            .collect();
        let lines = find(&components, &(MIN_LETTER_HEIGHT..=240));
        assert_eq!(lines.len(), MAX_LINES);
        assert!(lines.iter().all(|line| line.letters.len() >= 5));
        assert!(lines.is_sorted_by_key(|line| line.top));
    }
}
