//! Local thresholding (Niblack): a pixel is ink if it differs from the mean of the window around it.

use crate::gray::{GrayBuffer, index};

/// Half the side of the window, in pixels.
const RADIUS: u32 = 20;

/// The smallest difference of ink from the mean, in standard deviations and in levels.
const MIN_DEVIATIONS: f32 = 0.5;
const MIN_LEVELS: f32 = 10.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Polarity {
    /// Darker than its surroundings.
    Dark,
    /// Lighter than its surroundings.
    Light,
}

/// A horizontal run of ink of one polarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PixelRun {
    pub(crate) row: u32,
    /// The first pixel.
    pub(crate) left: u32,
    /// The pixel after the last.
    pub(crate) right: u32,
    pub(crate) polarity: Polarity,
}

/// Upper bound on runs. A page of small print has a tenth of this.
const MAX_RUNS: usize = 2_000_000;

/// Sums over one column of the window.
#[derive(Debug, Clone, Copy, Default)]
struct ColumnSums {
    count: u32,
    levels: u32,
    squares: u64,
}

/// All ink, row by row; nothing if there are more than [`MAX_RUNS`] runs.
pub(crate) fn find_ink(gray: &GrayBuffer) -> Vec<PixelRun> {
    let width = index(gray.width);
    let rows: Vec<&[u8]> = gray.pixels.chunks_exact(width.max(1)).collect();
    let radius = index(RADIUS);
    let mut columns = vec![ColumnSums::default(); width];
    for row in rows.iter().take(radius) {
        add(&mut columns, row);
    }
    let mut runs = Vec::new();
    let mut before = Vec::with_capacity(width + 1);
    for (row_index, row) in rows.iter().enumerate() {
        if let Some(row) = rows.get(row_index + radius) {
            add(&mut columns, row);
        }
        if let Some(row) = row_index.checked_sub(radius + 1).and_then(|gone| rows.get(gone)) {
            remove(&mut columns, row);
        }
        prefix_sums(&columns, &mut before);
        append_runs(u32::try_from(row_index).unwrap_or(u32::MAX), row, &before, &mut runs);
        if runs.len() > MAX_RUNS {
            return Vec::new();
        }
    }
    runs
}

fn add(columns: &mut [ColumnSums], row: &[u8]) {
    for (sums, level) in columns.iter_mut().zip(row) {
        sums.count += 1;
        sums.levels += u32::from(*level);
        sums.squares += u64::from(*level) * u64::from(*level);
    }
}

fn remove(columns: &mut [ColumnSums], row: &[u8]) {
    for (sums, level) in columns.iter_mut().zip(row) {
        sums.count -= 1;
        sums.levels -= u32::from(*level);
        sums.squares -= u64::from(*level) * u64::from(*level);
    }
}

/// Prefix sums over the columns.
fn prefix_sums(columns: &[ColumnSums], before: &mut Vec<ColumnSums>) {
    before.clear();
    let mut sum = ColumnSums::default();
    before.push(sum);
    for column in columns {
        sum.count += column.count;
        sum.levels += column.levels;
        sum.squares += column.squares;
        before.push(sum);
    }
}

fn append_runs(row_index: u32, row: &[u8], before: &[ColumnSums], runs: &mut Vec<PixelRun>) {
    let radius = index(RADIUS);
    let mut open: Option<PixelRun> = None;
    for (column, level) in (0_u32..).zip(row) {
        let at = index(column);
        let first = before.get(at.saturating_sub(radius));
        let last = before.get((at + radius + 1).min(row.len()));
        let polarity = first.zip(last).and_then(|(first, last)| polarity_of(*level, first, last));
        match &mut open {
            Some(run) if polarity == Some(run.polarity) => run.right = column + 1,
            _ => {
                runs.extend(open.take());
                open = polarity.map(|polarity| PixelRun {
                    row: row_index,
                    left: column,
                    right: column + 1,
                    polarity,
                });
            }
        }
    }
    runs.extend(open);
}

/// Compares a pixel with the window between two prefix sums.
#[expect(clippy::cast_precision_loss, reason = "the threshold need not be exact")]
fn polarity_of(level: u8, first: &ColumnSums, last: &ColumnSums) -> Option<Polarity> {
    let count = (last.count - first.count).max(1) as f32;
    let mean = (last.levels - first.levels) as f32 / count;
    let variance = (last.squares - first.squares) as f32 / count - mean * mean;
    let threshold = (MIN_DEVIATIONS * variance.max(0.0).sqrt()).max(MIN_LEVELS);
    let difference = f32::from(level) - mean;
    if difference < -threshold {
        Some(Polarity::Dark)
    } else if difference > threshold {
        Some(Polarity::Light)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_and_light_ink_is_found() {
        // A black bar and a white one on grey.
        let mut pixels = vec![128; 100 * 60];
        for row in 20..30 {
            pixels[row * 100 + 10..row * 100 + 14].fill(0);
            pixels[row * 100 + 70..row * 100 + 74].fill(255);
        }
        let runs = find_ink(&GrayBuffer { width: 100, height: 60, pixels });
        let bar = |left, polarity| (20..30).map(move |row| PixelRun { row, left, right: left + 4, polarity });
        let dark: Vec<_> = runs.iter().copied().filter(|run| run.polarity == Polarity::Dark).collect();
        let light: Vec<_> = runs.iter().copied().filter(|run| run.polarity == Polarity::Light).collect();
        assert_eq!(dark, bar(10, Polarity::Dark).collect::<Vec<_>>());
        assert_eq!(light, bar(70, Polarity::Light).collect::<Vec<_>>());
    }

    #[test]
    fn uniform_picture_has_no_ink() {
        for (width, height) in [(1, 1), (1, 200), (200, 1), (50, 50)] {
            let gray = GrayBuffer { width, height, pixels: vec![9; index(width * height)] };
            assert_eq!(find_ink(&gray), []);
        }
    }
}
