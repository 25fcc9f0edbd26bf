//! Which pixels differ from what is around them, as ink does from paper.

use super::gray::{Gray, index};

/// As far around a pixel as it is held against, in pixels.
const RADIUS: u32 = 20;

/// So much of the standard deviation around it, and at least so many levels, a pixel must differ from the mean.
const DEVIATIONS: f32 = 0.5;
const LEAST_LEVELS: f32 = 10.0;

/// Ink, by what it is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ink {
    /// Darker than what is around it.
    Dark,
    /// Lighter.
    Light,
}

/// Pixels side by side that are ink of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) row: u32,
    /// The first pixel.
    pub(super) left: u32,
    /// The one after the last.
    pub(super) right: u32,
    pub(super) ink: Ink,
}

/// As many runs are kept: a page of small print has a tenth.
const MAX_RUNS: usize = 2_000_000;

/// The sums over a column of the window.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    count: u32,
    levels: u32,
    squares: u64,
}

/// All ink, row by row; nothing if there is more than can be writing.
pub(super) fn find(gray: &Gray) -> Vec<Run> {
    let width = index(gray.width);
    let rows: Vec<&[u8]> = gray.pixels.chunks_exact(width.max(1)).collect();
    let radius = index(RADIUS);
    let mut columns = vec![Sums::default(); width];
    for row in rows.iter().take(radius) {
        add(&mut columns, row);
    }
    let mut runs = Vec::new();
    let mut before = Vec::with_capacity(width + 1);
    for (place, row) in rows.iter().enumerate() {
        if let Some(row) = rows.get(place + radius) {
            add(&mut columns, row);
        }
        if let Some(row) = place.checked_sub(radius + 1).and_then(|gone| rows.get(gone)) {
            remove(&mut columns, row);
        }
        running_sums(&columns, &mut before);
        append_runs(u32::try_from(place).unwrap_or(u32::MAX), row, &before, &mut runs);
        if runs.len() > MAX_RUNS {
            return Vec::new();
        }
    }
    runs
}

fn add(columns: &mut [Sums], row: &[u8]) {
    for (sums, level) in columns.iter_mut().zip(row) {
        sums.count += 1;
        sums.levels += u32::from(*level);
        sums.squares += u64::from(*level) * u64::from(*level);
    }
}

fn remove(columns: &mut [Sums], row: &[u8]) {
    for (sums, level) in columns.iter_mut().zip(row) {
        sums.count -= 1;
        sums.levels -= u32::from(*level);
        sums.squares -= u64::from(*level) * u64::from(*level);
    }
}

/// The sums over all columns before each place, and over all.
fn running_sums(columns: &[Sums], before: &mut Vec<Sums>) {
    before.clear();
    let mut sum = Sums::default();
    before.push(sum);
    for column in columns {
        sum.count += column.count;
        sum.levels += column.levels;
        sum.squares += column.squares;
        before.push(sum);
    }
}

fn append_runs(place: u32, row: &[u8], before: &[Sums], runs: &mut Vec<Run>) {
    let radius = index(RADIUS);
    let mut open: Option<Run> = None;
    for (column, level) in (0_u32..).zip(row) {
        let at = index(column);
        let first = before.get(at.saturating_sub(radius));
        let last = before.get((at + radius + 1).min(row.len()));
        let ink = first.zip(last).and_then(|(first, last)| ink_of(*level, first, last));
        match &mut open {
            Some(run) if ink == Some(run.ink) => run.right = column + 1,
            _ => {
                runs.extend(open.take());
                open = ink.map(|ink| Run { row: place, left: column, right: column + 1, ink });
            }
        }
    }
    runs.extend(open);
}

/// Holds a pixel against the window between two running sums.
#[expect(clippy::cast_precision_loss, reason = "a threshold need not be exact")]
fn ink_of(level: u8, first: &Sums, last: &Sums) -> Option<Ink> {
    let count = (last.count - first.count).max(1) as f32;
    let mean = (last.levels - first.levels) as f32 / count;
    let variance = (last.squares - first.squares) as f32 / count - mean * mean;
    let least = (DEVIATIONS * variance.max(0.0).sqrt()).max(LEAST_LEVELS);
    let difference = f32::from(level) - mean;
    if difference < -least {
        Some(Ink::Dark)
    } else if difference > least {
        Some(Ink::Light)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_is_told_from_paper() {
        // A black bar and a white one on grey.
        let mut pixels = vec![128; 100 * 60];
        for row in 20..30 {
            pixels[row * 100 + 10..row * 100 + 14].fill(0);
            pixels[row * 100 + 70..row * 100 + 74].fill(255);
        }
        let runs = find(&Gray { width: 100, height: 60, pixels });
        let ink = |left, ink| (20..30).map(move |row| Run { row, left, right: left + 4, ink });
        let dark: Vec<_> = runs.iter().copied().filter(|run| run.ink == Ink::Dark).collect();
        let light: Vec<_> = runs.iter().copied().filter(|run| run.ink == Ink::Light).collect();
        assert_eq!(dark, ink(10, Ink::Dark).collect::<Vec<_>>());
        assert_eq!(light, ink(70, Ink::Light).collect::<Vec<_>>());
    }

    #[test]
    fn where_all_is_even_there_is_none() {
        for (width, height) in [(1, 1), (1, 200), (200, 1), (50, 50)] {
            let gray = Gray { width, height, pixels: vec![9; index(width * height)] };
            assert_eq!(find(&gray), []);
        }
    }
}
