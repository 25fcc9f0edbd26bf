//! Ink that hangs together: letters, mostly, where there is writing.

use super::sets::Sets;
use super::strokes::{Ink, Run};

/// A connected piece of ink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) ink: Ink,
    pub(super) left: u32,
    pub(super) top: u32,
    /// The column after the last.
    pub(super) right: u32,
    /// The row after the last.
    pub(super) bottom: u32,
    /// In pixels.
    pub(super) area: u32,
    /// Its runs, in the list of all that are sorted by part: the first, and the one after the last.
    pub(super) runs: (usize, usize),
}

impl Part {
    pub(super) fn width(&self) -> u32 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> u32 {
        self.bottom - self.top
    }
}

/// Puts runs together that touch, also at a corner, and sorts them by part. They come row by row.
pub(super) fn connect(runs: &mut Vec<Run>) -> Vec<Part> {
    let mut sets = Sets::new(runs.len());
    let mut above = 0..0;
    let mut start = 0;
    for row in runs.chunk_by(|a, b| a.row == b.row) {
        let end = start + row.len();
        let touches_above = runs
            .get(above.clone())
            .is_some_and(|above| above.first().map(|run| run.row + 1) == row.first().map(|run| run.row));
        if touches_above {
            join_rows(runs.get(above.clone()).unwrap_or_default(), above.start, row, start, &mut sets);
        }
        above = start..end;
        start = end;
    }
    let mut labelled: Vec<(usize, Run)> =
        runs.iter().enumerate().map(|(place, run)| (sets.root(place), *run)).collect();
    labelled.sort_by_key(|(root, run)| (*root, run.row, run.left));
    runs.clear();
    runs.extend(labelled.iter().map(|(_, run)| *run));
    let mut parts = Vec::new();
    let mut start = 0;
    for group in labelled.chunk_by(|(a, _), (b, _)| a == b) {
        let end = start + group.len();
        parts.extend(part(group, (start, end)));
        start = end;
    }
    parts
}

fn part(group: &[(usize, Run)], runs: (usize, usize)) -> Option<Part> {
    let of = || group.iter().map(|(_, run)| run);
    Some(Part {
        ink: of().next()?.ink,
        left: of().map(|run| run.left).min()?,
        top: of().map(|run| run.row).min()?,
        right: of().map(|run| run.right).max()?,
        bottom: of().map(|run| run.row + 1).max()?,
        area: of().map(|run| run.right - run.left).sum(),
        runs,
    })
}

/// Joins what touches in two rows, one above the other, each from left to right.
fn join_rows(above: &[Run], above_start: usize, row: &[Run], start: usize, sets: &mut Sets) {
    let mut skipped = 0;
    for (place, run) in row.iter().enumerate() {
        // What ends left of this run ends left of the next ones, too.
        skipped += above.iter().skip(skipped).take_while(|other| other.right < run.left).count();
        let reach = above.iter().enumerate().skip(skipped).take_while(|(_, other)| other.left <= run.right);
        for (other_place, _) in reach.filter(|(_, other)| other.ink == run.ink) {
            sets.join(above_start + other_place, start + place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of a drawing: `#` is dark, `o` is light.
    fn runs(rows: &[&str]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (row, line) in (0..).zip(rows) {
            for (column, c) in (0..).zip(line.chars()) {
                let ink = match c {
                    '#' => Ink::Dark,
                    'o' => Ink::Light,
                    _ => continue,
                };
                match runs.last_mut() {
                    Some(run) if run.row == row && run.right == column && run.ink == ink => run.right += 1,
                    _ => runs.push(Run { row, left: column, right: column + 1, ink }),
                }
            }
        }
        runs
    }

    #[test]
    fn what_touches_is_one_part() {
        type Told = (Ink, (u32, u32, u32, u32), u32);
        let check = |rows: &[&str], expect: &[Told]| {
            let mut runs = runs(rows);
            let count = runs.len();
            let parts = connect(&mut runs);
            let told: Vec<_> = parts
                .iter()
                .map(|part| (part.ink, (part.left, part.top, part.right, part.bottom), part.area))
                .collect();
            assert_eq!(told, expect, "{rows:?}");
            assert_eq!(parts.iter().map(|part| part.runs.1 - part.runs.0).sum::<usize>(), count);
            for part in &parts {
                let area: u32 = runs[part.runs.0..part.runs.1].iter().map(|run| run.right - run.left).sum();
                assert_eq!(area, part.area);
            }
        };
        check(&[], &[]);
        check(&["# #", "# #", "###"], &[(Ink::Dark, (0, 0, 3, 3), 7)]);
        check(&["#  ", " # ", "  #"], &[(Ink::Dark, (0, 0, 3, 3), 3)]);
        check(&["#", " ", "#"], &[(Ink::Dark, (0, 0, 1, 1), 1), (Ink::Dark, (0, 2, 1, 3), 1)]);
        check(
            &["##oo", "  oo", " ## "],
            &[(Ink::Dark, (0, 0, 2, 1), 2), (Ink::Light, (2, 0, 4, 2), 4), (Ink::Dark, (1, 2, 3, 3), 2)],
        );
        // A spiral, whose arms are joined late.
        check(
            &["#####", "#   #", "# # #", "# ###", "#    "],
            &[(Ink::Dark, (0, 0, 5, 5), 5 + 2 + 3 + 4 + 1)],
        );
    }
}
