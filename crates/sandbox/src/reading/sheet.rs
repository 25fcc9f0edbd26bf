//! Lines cut out of a picture, one below the other on white paper: black, of one size, and without what is around
//! them.

use super::gray::{Gray, index};
use super::parts::Part;
use super::rows::Row;
use super::strokes::{Ink, Run};

/// The height that letters get, in pixels: what Tesseract reads best.
const LETTER_HEIGHT: u32 = 32;
/// Letters are enlarged so many times at the most.
const MOST_ENLARGED: u32 = 4;
/// Lines longer than this, at that height, are none.
const MAX_LENGTH: u32 = 3000;
/// Lines higher than this, at that height, are several, or none.
const MAX_HEIGHT: u32 = 200;
/// Room between lines and around them.
const GAP: u32 = 14;
const MARGIN: u32 = 20;
/// As much paper is filled, in pixels.
const MAX_AREA: u64 = 12_000_000;
/// Ink and paper differ by at least so many levels.
const LEAST_CONTRAST: u8 = 15;

/// The lines of a picture that are like writing, each cut out.
pub(super) fn strips(gray: &Gray, runs: &[Run], parts: &[Part], rows: &[Row]) -> Vec<Gray> {
    rows.iter().filter_map(|row| strip(gray, runs, parts, row)).collect()
}

/// Lines on paper, the first ones if there is no room for all; `None` if there are none.
pub(super) fn of(strips: &[Gray]) -> Option<Gray> {
    let mut width = 0;
    let mut height = 2 * MARGIN;
    let mut count = 0;
    for strip in strips {
        let (wider, higher) = (width.max(strip.width + 2 * MARGIN), height + strip.height + GAP);
        if u64::from(wider) * u64::from(higher) > MAX_AREA {
            break;
        }
        (width, height, count) = (wider, higher, count + 1);
    }
    if count == 0 {
        return None;
    }
    let mut pixels = vec![u8::MAX; index(width) * index(MARGIN)];
    for strip in strips.iter().take(count) {
        for line in strip.pixels.chunks_exact(index(strip.width)) {
            let begin = pixels.len();
            pixels.resize(begin + index(MARGIN), u8::MAX);
            pixels.extend_from_slice(line);
            pixels.resize(begin + index(width), u8::MAX);
        }
        pixels.resize(pixels.len() + index(width) * index(GAP), u8::MAX);
    }
    pixels.resize(index(width) * index(height), u8::MAX);
    Some(Gray { width, height, pixels })
}

/// A line, black on white and at the height that is read best.
fn strip(gray: &Gray, runs: &[Run], parts: &[Part], row: &Row) -> Option<Gray> {
    let (across, down) = (row.letter_height * 2 / 5 + 2, row.letter_height * 9 / 20 + 2);
    let (left, right) = (row.left.saturating_sub(across), (row.right + across).min(gray.width));
    let (top, bottom) = (row.top.saturating_sub(down), (row.bottom + down).min(gray.height));
    let (width, height) = (right.checked_sub(left)?, bottom.checked_sub(top)?);
    let scale = |side: u32| (side * LETTER_HEIGHT + row.letter_height / 2) / row.letter_height.max(1);
    let (new_width, new_height) = (scale(width), scale(height));
    let fits = (1..=MAX_LENGTH).contains(&new_width) && (1..=MAX_HEIGHT).contains(&new_height);
    if !fits || row.letter_height * MOST_ENLARGED < LETTER_HEIGHT {
        return None;
    }

    let ink = parts.get(*row.letters.first()?)?.ink;
    let letters = row.letters.iter().filter_map(|place| parts.get(*place));
    // Dots, accents and commas; what reaches beyond the strip belongs to something else.
    let small = parts.iter().filter(|part| {
        part.ink == ink && part.left > left && part.right < right && part.top > top && part.bottom < bottom
    });
    let mut written = Stencil::new(width, height);
    for part in letters.chain(small) {
        for run in runs.get(part.runs.0..part.runs.1).unwrap_or_default() {
            written.mark(run, left, top);
        }
    }

    let levels: Vec<u8> = gray.rows((left, right), (top, bottom)).flatten().copied().collect();
    let levels: Vec<u8> = match ink {
        Ink::Dark => levels,
        Ink::Light => levels.iter().map(|level| u8::MAX - level).collect(),
    };
    let black =
        median(levels.iter().zip(&written.marked).filter(|(_, mark)| **mark).map(|(level, _)| *level))?;
    let around = written.grown(2);
    let white =
        median(levels.iter().zip(&around.marked).filter(|(_, mark)| !**mark).map(|(level, _)| *level))
            .unwrap_or(u8::MAX);
    let contrast = white.checked_sub(black).filter(|contrast| *contrast >= LEAST_CONTRAST)?;
    let kept = written.grown((row.letter_height * 3 / 50).max(1));
    let pixels = levels.iter().zip(&kept.marked).map(|(level, mark)| {
        let stretched = u16::from(level.saturating_sub(black)) * 255 / u16::from(contrast);
        if *mark { u8::try_from(stretched).unwrap_or(u8::MAX) } else { u8::MAX }
    });
    Gray { width, height, pixels: pixels.collect() }.resize(new_width, new_height)
}

/// Marks on a strip.
struct Stencil {
    width: u32,
    marked: Vec<bool>,
}

impl Stencil {
    fn new(width: u32, height: u32) -> Self {
        Self { width, marked: vec![false; index(width) * index(height)] }
    }

    /// Marks a run of the picture that the strip is cut out of at that place.
    fn mark(&mut self, run: &Run, left: u32, top: u32) {
        let begin = index(run.row.saturating_sub(top)) * index(self.width);
        let from = begin + index(run.left.saturating_sub(left));
        let to = begin + index(run.right.saturating_sub(left).min(self.width));
        self.marked.get_mut(from..to).into_iter().flatten().for_each(|mark| *mark = true);
    }

    /// With all that is so near to a mark, across and down.
    fn grown(&self, by: u32) -> Self {
        let width = index(self.width).max(1);
        let mut across = vec![false; self.marked.len()];
        for (row, grown) in self.marked.chunks(width).zip(across.chunks_mut(width)) {
            for place in row.iter().enumerate().filter(|(_, mark)| **mark).map(|(place, _)| place) {
                let reach = place.saturating_sub(index(by))..(place + index(by) + 1).min(row.len());
                grown.get_mut(reach).into_iter().flatten().for_each(|mark| *mark = true);
            }
        }
        let mut marked = across.clone();
        for shift in 1..=index(by) {
            let offset = shift * width;
            for (mark, below) in marked.iter_mut().zip(across.iter().skip(offset)) {
                *mark |= *below;
            }
            for (mark, above) in marked.iter_mut().skip(offset).zip(&across) {
                *mark |= *above;
            }
        }
        Self { width: self.width, marked }
    }
}

/// The level in the middle.
fn median(levels: impl Iterator<Item = u8>) -> Option<u8> {
    let mut counts = [0_u32; 256];
    let mut total = 0;
    for level in levels {
        if let Some(count) = counts.get_mut(usize::from(level)) {
            *count += 1;
            total += 1;
        }
    }
    let mut left = total / 2;
    (0..=u8::MAX).zip(counts).find_map(|(level, count)| {
        let here = total > 0 && left < count;
        left = left.saturating_sub(count);
        here.then_some(level)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{parts, rows, strokes};

    /// Bars like letters, in that ink on that paper.
    fn picture(ink: u8, paper: u8) -> Gray {
        let mut pixels = vec![paper; 300 * 120];
        for letter in 0..6 {
            for row in 50..70 {
                let begin = row * 300 + 60 + letter * 16;
                pixels[begin..begin + 4].fill(ink);
                pixels[begin + 6..begin + 10].fill(ink);
            }
            pixels[60 * 300 + 60 + letter * 16..60 * 300 + 70 + letter * 16].fill(ink);
        }
        Gray { width: 300, height: 120, pixels }
    }

    fn sheet(gray: &Gray) -> Option<Gray> {
        let mut runs = strokes::find(gray);
        let parts = parts::connect(&mut runs);
        of(&strips(gray, &runs, &parts, &rows::find(&parts, &(8..=60))))
    }

    #[test]
    fn lines_become_black_on_white_in_one_size() {
        for (ink, paper) in [(0, 255), (255, 0), (90, 140), (180, 120)] {
            let sheet = sheet(&picture(ink, paper)).unwrap();
            assert_eq!(sheet.pixels.len(), index(sheet.width) * index(sheet.height));
            let dark: Vec<usize> = (0..)
                .zip(sheet.pixels.chunks_exact(index(sheet.width)))
                .filter(|(_, row)| row.iter().any(|level| *level < 60))
                .map(|(place, _)| place)
                .collect();
            let height = dark.last().unwrap() - dark[0] + 1;
            assert!((28..=36).contains(&height), "{ink} on {paper}: {height}");
            assert!(
                sheet.pixels[0] == 255
                    && sheet.pixels.iter().filter(|level| **level == 255).count() * 2 > sheet.pixels.len()
            );
        }
    }

    #[test]
    fn where_nothing_is_written_there_is_no_sheet() {
        assert_eq!(sheet(&Gray { width: 90, height: 80, pixels: vec![50; 7200] }), None);
        assert_eq!(sheet(&picture(120, 128)), None);
    }

    #[test]
    fn the_middle_level_is_found() {
        let check = |levels: &[u8], expect| assert_eq!(median(levels.iter().copied()), expect, "{levels:?}");
        check(&[], None);
        check(&[7], Some(7));
        check(&[0, 255, 9], Some(9));
        check(&[255, 255, 0, 0, 0], Some(0));
    }
}
