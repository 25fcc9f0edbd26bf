//! Connected components of ink, which are letters where there is text.

use crate::threshold::{PixelRun, Polarity};
use crate::union_find::UnionFind;

/// A connected component of ink of one polarity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) polarity: Polarity,
    pub(crate) left: u32,
    pub(crate) top: u32,
    /// The column after the last.
    pub(crate) right: u32,
    /// The row after the last.
    pub(crate) bottom: u32,
    /// In pixels.
    pub(crate) area: u32,
    /// Its runs: start and end index in the list that [`find`] sorts.
    pub(crate) runs: (usize, usize),
}

impl Component {
    pub(crate) fn width(&self) -> u32 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> u32 {
        self.bottom - self.top
    }
}

/// Joins runs that touch, also diagonally (8-connectivity), and sorts them by component. `runs` must be sorted by row.
pub(crate) fn find(runs: &mut Vec<PixelRun>) -> Vec<Component> {
    let mut sets = UnionFind::new(runs.len());
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
    let mut labelled: Vec<(usize, PixelRun)> =
        runs.iter().enumerate().map(|(index, run)| (sets.find(index), *run)).collect();
    labelled.sort_by_key(|(root, run)| (*root, run.row, run.left));
    runs.clear();
    runs.extend(labelled.iter().map(|(_, run)| *run));
    let mut components = Vec::new();
    let mut start = 0;
    for group in labelled.chunk_by(|(a, _), (b, _)| a == b) {
        let end = start + group.len();
        components.extend(component(group, (start, end)));
        start = end;
    }
    components
}

fn component(group: &[(usize, PixelRun)], runs: (usize, usize)) -> Option<Component> {
    let members = || group.iter().map(|(_, run)| run);
    Some(Component {
        polarity: members().next()?.polarity,
        left: members().map(|run| run.left).min()?,
        top: members().map(|run| run.row).min()?,
        right: members().map(|run| run.right).max()?,
        bottom: members().map(|run| run.row + 1).max()?,
        area: members().map(|run| run.right - run.left).sum(),
        runs,
    })
}

/// Joins touching runs of two adjacent rows, each sorted from left to right.
fn join_rows(above: &[PixelRun], above_start: usize, row: &[PixelRun], start: usize, sets: &mut UnionFind) {
    let mut skipped = 0;
    for (index, run) in row.iter().enumerate() {
        // A run above that ends left of `run` also ends left of all later runs in this row.
        skipped += above.iter().skip(skipped).take_while(|other| other.right < run.left).count();
        let reach = above.iter().enumerate().skip(skipped).take_while(|(_, other)| other.left <= run.right);
        for (other_index, _) in reach.filter(|(_, other)| other.polarity == run.polarity) {
            sets.union(above_start + other_index, start + index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runs of a drawing: `#` is dark, `o` is light.
    fn runs(rows: &[&str]) -> Vec<PixelRun> {
        let mut runs: Vec<PixelRun> = Vec::new();
        for (row, line) in (0..).zip(rows) {
            for (column, c) in (0..).zip(line.chars()) {
                let polarity = match c {
                    '#' => Polarity::Dark,
                    'o' => Polarity::Light,
                    _ => continue,
                };
                match runs.last_mut() {
                    Some(run) if run.row == row && run.right == column && run.polarity == polarity => {
                        run.right += 1;
                    }
                    _ => runs.push(PixelRun { row, left: column, right: column + 1, polarity }),
                }
            }
        }
        runs
    }

    #[test]
    fn touching_runs_are_one_component() {
        type Found = (Polarity, (u32, u32, u32, u32), u32);
        let check = |rows: &[&str], expect: &[Found]| {
            let mut runs = runs(rows);
            let count = runs.len();
            let components = find(&mut runs);
            let found: Vec<_> = components
                .iter()
                .map(|component| {
                    (
                        component.polarity,
                        (component.left, component.top, component.right, component.bottom),
                        component.area,
                    )
                })
                .collect();
            assert_eq!(found, expect, "{rows:?}");
            assert_eq!(
                components.iter().map(|component| component.runs.1 - component.runs.0).sum::<usize>(),
                count
            );
            for component in &components {
                let area: u32 =
                    runs[component.runs.0..component.runs.1].iter().map(|run| run.right - run.left).sum();
                assert_eq!(area, component.area);
            }
        };
        check(&[], &[]);
        check(&["# #", "# #", "###"], &[(Polarity::Dark, (0, 0, 3, 3), 7)]);
        check(&["#  ", " # ", "  #"], &[(Polarity::Dark, (0, 0, 3, 3), 3)]);
        check(&["#", " ", "#"], &[(Polarity::Dark, (0, 0, 1, 1), 1), (Polarity::Dark, (0, 2, 1, 3), 1)]);
        check(
            &["##oo", "  oo", " ## "],
            &[
                (Polarity::Dark, (0, 0, 2, 1), 2),
                (Polarity::Light, (2, 0, 4, 2), 4),
                (Polarity::Dark, (1, 2, 3, 3), 2),
            ],
        );
        // A spiral, whose arms are joined last.
        check(
            &["#####", "#   #", "# # #", "# ###", "#    "],
            &[(Polarity::Dark, (0, 0, 5, 5), 5 + 2 + 3 + 4 + 1)],
        );
    }
}
