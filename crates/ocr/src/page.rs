//! Composes a page of text lines cropped from a picture: black on white, of one size, without their surroundings.

use crate::components::Component;
use crate::gray::{GrayBuffer, index};
use crate::lines::LineCandidate;
use crate::threshold::{PixelRun, Polarity};

/// The height of letters on the page, in pixels: the one that Tesseract reads best.
const LETTER_HEIGHT: u32 = 32;
/// The largest factor by which letters are enlarged.
const MAX_ENLARGEMENT: u32 = 4;
/// Maximum length of a scaled line, in pixels. Anything longer is not text.
const MAX_LENGTH: u32 = 3000;
/// Maximum height of a scaled line, in pixels. Anything higher is several lines or not text.
const MAX_HEIGHT: u32 = 200;
/// The space between lines and around them, in pixels.
const GAP: u32 = 14;
const MARGIN: u32 = 20;
/// The largest page, in pixels.
const MAX_AREA: u64 = 12_000_000;
/// The smallest difference between ink and background, in levels.
const MIN_CONTRAST: u8 = 15;

pub(crate) fn crop_lines<'a>(
    gray: &GrayBuffer,
    runs: &[PixelRun],
    components: &[Component],
    lines: impl Iterator<Item = &'a LineCandidate>,
) -> Vec<GrayBuffer> {
    lines.filter_map(|line| crop(gray, runs, components, line)).collect()
}

/// A page of the cropped lines, as many as fit; `None` if there are none.
pub(crate) fn compose(lines: &[GrayBuffer]) -> Option<GrayBuffer> {
    let mut width = 0;
    let mut height = 2 * MARGIN;
    let mut count = 0;
    for line in lines {
        let (wider, higher) = (width.max(line.width + 2 * MARGIN), height + line.height + GAP);
        if u64::from(wider) * u64::from(higher) > MAX_AREA {
            break;
        }
        (width, height, count) = (wider, higher, count + 1);
    }
    if count == 0 {
        return None;
    }
    let mut pixels = vec![u8::MAX; index(width) * index(MARGIN)];
    for line in lines.iter().take(count) {
        for row in line.pixels.chunks_exact(index(line.width)) {
            let begin = pixels.len();
            pixels.resize(begin + index(MARGIN), u8::MAX);
            pixels.extend_from_slice(row);
            pixels.resize(begin + index(width), u8::MAX);
        }
        pixels.resize(pixels.len() + index(width) * index(GAP), u8::MAX);
    }
    pixels.resize(index(width) * index(height), u8::MAX);
    Some(GrayBuffer { width, height, pixels })
}

/// Crops a line, turns it black on white, and scales its letters to [`LETTER_HEIGHT`].
fn crop(
    gray: &GrayBuffer,
    runs: &[PixelRun],
    components: &[Component],
    line: &LineCandidate,
) -> Option<GrayBuffer> {
    let (across, down) = (line.letter_height * 2 / 5 + 2, line.letter_height * 9 / 20 + 2);
    let (left, right) = (line.left.saturating_sub(across), (line.right + across).min(gray.width));
    let (top, bottom) = (line.top.saturating_sub(down), (line.bottom + down).min(gray.height));
    let (width, height) = (right.checked_sub(left)?, bottom.checked_sub(top)?);
    let scale = |side: u32| (side * LETTER_HEIGHT + line.letter_height / 2) / line.letter_height.max(1);
    let (new_width, new_height) = (scale(width), scale(height));
    let fits = (1..=MAX_LENGTH).contains(&new_width) && (1..=MAX_HEIGHT).contains(&new_height);
    if !fits || line.letter_height * MAX_ENLARGEMENT < LETTER_HEIGHT {
        return None;
    }

    let polarity = components.get(*line.letters.first()?)?.polarity;
    let letters = line.letters.iter().filter_map(|letter| components.get(*letter));
    // These are dots, accents and commas. Components that reach beyond the crop belong to something else.
    let small = components.iter().filter(|component| {
        component.polarity == polarity
            && component.left > left
            && component.right < right
            && component.top > top
            && component.bottom < bottom
    });
    let mut ink = Mask::new(width, height);
    for component in letters.chain(small) {
        for run in runs.get(component.runs.0..component.runs.1).unwrap_or_default() {
            ink.mark(run, left, top);
        }
    }

    let levels: Vec<u8> = gray.rows((left, right), (top, bottom)).flatten().copied().collect();
    let levels: Vec<u8> = match polarity {
        Polarity::Dark => levels,
        Polarity::Light => levels.iter().map(|level| u8::MAX - level).collect(),
    };
    let black = median(levels.iter().zip(&ink.marked).filter(|(_, mark)| **mark).map(|(level, _)| *level))?;
    let surroundings = ink.dilated(2);
    let white =
        median(levels.iter().zip(&surroundings.marked).filter(|(_, mark)| !**mark).map(|(level, _)| *level))
            .unwrap_or(u8::MAX);
    let contrast = white.checked_sub(black).filter(|contrast| *contrast >= MIN_CONTRAST)?;
    let kept = ink.dilated((line.letter_height * 3 / 50).max(1));
    let pixels = levels.iter().zip(&kept.marked).map(|(level, mark)| {
        let stretched = u16::from(level.saturating_sub(black)) * 255 / u16::from(contrast);
        if *mark { u8::try_from(stretched).unwrap_or(u8::MAX) } else { u8::MAX }
    });
    GrayBuffer { width, height, pixels: pixels.collect() }.resize(new_width, new_height)
}

/// The marked pixels of a crop.
struct Mask {
    width: u32,
    marked: Vec<bool>,
}

impl Mask {
    fn new(width: u32, height: u32) -> Self {
        Self { width, marked: vec![false; index(width) * index(height)] }
    }

    /// Marks a run of the picture. The crop starts at `left` and `top`.
    fn mark(&mut self, run: &PixelRun, left: u32, top: u32) {
        let begin = index(run.row.saturating_sub(top)) * index(self.width);
        let from = begin + index(run.left.saturating_sub(left));
        let to = begin + index(run.right.saturating_sub(left).min(self.width));
        self.marked.get_mut(from..to).into_iter().flatten().for_each(|mark| *mark = true);
    }

    /// Dilates the marks by a square of `by` pixels in each direction.
    fn dilated(&self, by: u32) -> Self {
        let width = index(self.width).max(1);
        let mut across = vec![false; self.marked.len()];
        for (row, dilated) in self.marked.chunks(width).zip(across.chunks_mut(width)) {
            for column in row.iter().enumerate().filter(|(_, mark)| **mark).map(|(column, _)| column) {
                let reach = column.saturating_sub(index(by))..(column + index(by) + 1).min(row.len());
                dilated.get_mut(reach).into_iter().flatten().for_each(|mark| *mark = true);
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
        let is_median = total > 0 && left < count;
        left = left.saturating_sub(count);
        is_median.then_some(level)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{components, lines, threshold};

    /// A picture of bars that look like letters.
    fn picture(ink: u8, background: u8) -> GrayBuffer {
        let mut pixels = vec![background; 300 * 120];
        for letter in 0..6 {
            for row in 50..70 {
                let begin = row * 300 + 60 + letter * 16;
                pixels[begin..begin + 4].fill(ink);
                pixels[begin + 6..begin + 10].fill(ink);
            }
            pixels[60 * 300 + 60 + letter * 16..60 * 300 + 70 + letter * 16].fill(ink);
        }
        GrayBuffer { width: 300, height: 120, pixels }
    }

    fn page(gray: &GrayBuffer) -> Option<GrayBuffer> {
        let mut runs = threshold::find_ink(gray);
        let components = components::find(&mut runs);
        compose(&crop_lines(gray, &runs, &components, lines::find(&components, &(8..=60)).iter()))
    }

    #[test]
    fn lines_become_black_on_white_in_one_size() {
        for (ink, background) in [(0, 255), (255, 0), (90, 140), (180, 120)] {
            let page = page(&picture(ink, background)).unwrap();
            assert_eq!(page.pixels.len(), index(page.width) * index(page.height));
            let dark: Vec<usize> = (0..)
                .zip(page.pixels.chunks_exact(index(page.width)))
                .filter(|(_, row)| row.iter().any(|level| *level < 60))
                .map(|(row, _)| row)
                .collect();
            let height = dark.last().unwrap() - dark[0] + 1;
            assert!((28..=36).contains(&height), "{ink} on {background}: {height}");
            assert!(
                page.pixels[0] == 255
                    && page.pixels.iter().filter(|level| **level == 255).count() * 2 > page.pixels.len()
            );
        }
    }

    #[test]
    fn picture_without_text_gives_no_page() {
        assert_eq!(page(&GrayBuffer { width: 90, height: 80, pixels: vec![50; 7200] }), None);
        assert_eq!(page(&picture(120, 128)), None);
    }

    #[test]
    fn median_is_found() {
        let check = |levels: &[u8], expect| assert_eq!(median(levels.iter().copied()), expect, "{levels:?}");
        check(&[], None);
        check(&[7], Some(7));
        check(&[0, 255, 9], Some(9));
        check(&[255, 255, 0, 0, 0], Some(0));
    }
}
