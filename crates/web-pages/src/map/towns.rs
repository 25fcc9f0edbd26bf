//! Built-up areas, estimated from the population of cities: towns that touch grow together.

use std::collections::HashMap;
use std::f64::consts::TAU;

use super::land::{Frame, Point, write_path};
use super::view::{Size, View, shares_of};

/// Built-up areas are shown from this zoom on.
const MIN_ZOOM: f64 = 6.0;

/// The side of a cell of the grid in tenths of a unit.
const CELL: f64 = 50.0;

/// The radius of a built-up area as a multiple of the radius of its city in [`places::largest_cities`]: for about 6,500 people per km².
const SPREAD: f64 = 3.5;

/// Smaller circles in tenths of a unit are left out.
const MIN_RADIUS: f64 = 55.0;

/// Maximum number of cities.
const MAX_CITIES: usize = 1_500;

/// The density at the edge of a town that stands alone.
const EDGE: f64 = 0.5625;

/// The largest radius of a city in metres.
const LARGEST_M: f64 = 2_550.0;

const EARTH_M: f64 = 40_075_017.0;

/// The outlines of the built-up areas of a view.
pub(super) fn towns(view: View, size: Size) -> String {
    let mut path = String::new();
    if view.zoom < MIN_ZOOM {
        return path;
    }
    let frame = Frame::of(view, size);
    let mut grid = Grid::new(frame);
    let drawn = frame.size();
    // A town reaches into the frame from a centre outside of it.
    let reach = 2.0 * LARGEST_M * SPREAD * stretch(view.y) / EARTH_M * view.world();
    let near = Size { width: drawn.width + 2.0 * reach, height: drawn.height + 2.0 * reach };
    for city in places::largest_cities(&view.area(near), MAX_CITIES) {
        let at = shares_of(city.at);
        let radius = city.radius_m * SPREAD * stretch(at.1) / EARTH_M * view.world() * 10.0;
        if radius > MIN_RADIUS {
            let (right, down) = view.units(at);
            grid.add((right * 10.0, down * 10.0), radius);
        }
    }
    for outline in grid.outlines() {
        write_path(&mut path, &outline, true);
    }
    path
}

/// By how much Mercator stretches the map at a height of it.
fn stretch(y: f64) -> f64 {
    ((0.5 - y) * TAU).cosh()
}

/// The density of buildings at the corners of cells. It is 0 at the edges.
struct Grid {
    low: Point,
    columns: usize,
    rows: usize,
    density: Vec<f64>,
}

impl Grid {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a frame has some thousand tenths"
    )]
    fn new(frame: Frame) -> Self {
        let count = |half: f64| (half * 2.0 / CELL).ceil().clamp(0.0, 1000.0) as usize + 3;
        let (columns, rows) = (count(frame.half_width), count(frame.half_height));
        let low = (-frame.half_width - CELL, -frame.half_height - CELL);
        Self { low, columns, rows, density: vec![0.0; columns * rows] }
    }

    /// Adds a round town.
    fn add(&mut self, centre: Point, radius: f64) {
        let reach = radius * 2.0;
        let columns = range(
            (centre.0 - reach - self.low.0) / CELL,
            (centre.0 + reach - self.low.0) / CELL,
            self.columns,
        );
        let rows =
            range((centre.1 - reach - self.low.1) / CELL, (centre.1 + reach - self.low.1) / CELL, self.rows);
        for row in rows {
            for column in columns.clone() {
                let (x, y) = self.place(column, row);
                let far = ((x - centre.0).powi(2) + (y - centre.1).powi(2)) / (reach * reach);
                if far < 1.0
                    && let Some(density) = self.density.get_mut(row * self.columns + column)
                {
                    *density += (1.0 - far).powi(2);
                }
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "at most some thousand")]
    fn place(&self, column: usize, row: usize) -> Point {
        (self.low.0 + column as f64 * CELL, self.low.1 + row as f64 * CELL)
    }

    fn at(&self, column: usize, row: usize) -> f64 {
        self.density.get(row * self.columns + column).copied().unwrap_or(0.0)
    }

    /// The lines between what is built up and what is not (marching squares).
    fn outlines(&self) -> Vec<Vec<Point>> {
        // From the side where a line enters a cell to the side where it leaves. Sides have numbers: that to the right of a corner
        // is twice the number of the corner, that below it is one more.
        let mut next: HashMap<usize, usize> = HashMap::new();
        for row in 0..self.rows.saturating_sub(1) {
            for column in 0..self.columns.saturating_sub(1) {
                let corner = row * self.columns + column;
                let (top, left) = (corner * 2, corner * 2 + 1);
                let (right, bottom) = (left + 2, top + self.columns * 2);
                let is_built = |column, row| usize::from(self.at(column, row) > EDGE);
                let case = is_built(column, row)
                    + 2 * is_built(column + 1, row)
                    + 4 * is_built(column + 1, row + 1)
                    + 8 * is_built(column, row + 1);
                let steps: &[(usize, usize)] = match case {
                    1 => &[(left, top)],
                    2 => &[(top, right)],
                    3 => &[(left, right)],
                    4 => &[(right, bottom)],
                    5 => &[(left, top), (right, bottom)],
                    6 => &[(top, bottom)],
                    7 => &[(left, bottom)],
                    8 => &[(bottom, left)],
                    9 => &[(bottom, top)],
                    10 => &[(top, right), (bottom, left)],
                    11 => &[(bottom, right)],
                    12 => &[(right, left)],
                    13 => &[(right, top)],
                    14 => &[(top, left)],
                    _ => &[],
                };
                next.extend(steps.iter().copied());
            }
        }
        let mut starts: Vec<usize> = next.keys().copied().collect();
        starts.sort_unstable();
        let mut outlines = Vec::new();
        for start in starts {
            let mut outline = Vec::new();
            let mut side = start;
            while let Some(after) = next.remove(&side) {
                outline.push(self.crossing(side));
                side = after;
            }
            if outline.len() > 2 {
                outlines.push(outline);
            }
        }
        outlines
    }

    /// Where the density at a side is that of the edge.
    fn crossing(&self, side: usize) -> Point {
        let corner = side / 2;
        let (column, row) = (corner % self.columns, corner / self.columns);
        let (right, down) = if side.is_multiple_of(2) { (1, 0) } else { (0, 1) };
        let (from, to) = (self.at(column, row), self.at(column + right, row + down));
        let share = if from == to { 0.5 } else { ((EDGE - from) / (to - from)).clamp(0.0, 1.0) };
        let (a, b) = (self.place(column, row), self.place(column + right, row + down));
        (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share)
    }
}

/// The corners between two places that are not at the edge of the grid.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "limited to the grid")]
fn range(low: f64, high: f64, count: usize) -> std::ops::Range<usize> {
    let corner = |place: f64| (place.max(1.0) as usize).min(count.saturating_sub(1));
    corner(low.ceil())..corner(high.floor() + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid::new(Frame { half_width: 2_000.0, half_height: 1_500.0 })
    }

    #[test]
    fn a_town_that_stands_alone_is_round() {
        let mut grid = grid();
        grid.add((100.0, -200.0), 300.0);
        let outlines = grid.outlines();
        assert_eq!(outlines.len(), 1);
        for (x, y) in &outlines[0] {
            let radius = (x - 100.0).hypot(y + 200.0);
            assert!((290.0..310.0).contains(&radius), "{radius}");
        }
    }

    #[test]
    fn towns_that_touch_grow_together() {
        let mut grid = grid();
        grid.add((-250.0, 0.0), 300.0);
        grid.add((250.0, 0.0), 300.0);
        assert_eq!(grid.outlines().len(), 1);
        grid.add((1_500.0, 0.0), 200.0);
        assert_eq!(grid.outlines().len(), 2);
        grid.add((0.0, 0.0), 90_000.0);
        assert_eq!(grid.outlines().len(), 1);
    }

    #[test]
    fn built_up_areas_are_small_texts() {
        for (zoom, latitude) in [(6.0, 0.333), (8.0, 0.334), (10.0, 0.335), (18.0, 0.335)] {
            let view = View { zoom, x: 0.5192, y: latitude };
            let path = towns(view, Size::DEFAULT);
            assert!(path.len() < 40_000, "{zoom}: {}", path.len());
        }
        assert!(!towns(View { zoom: 10.0, x: 0.5065, y: 0.344 }, Size::DEFAULT).is_empty());
        // Six kilometres east of the centre of Paris.
        let (x, y) = super::super::view::shares(domain::Position::new(48.8566, 2.435).unwrap());
        for zoom in 10..=18 {
            assert!(!towns(View { zoom: f64::from(zoom), x, y }, Size::DEFAULT).is_empty(), "{zoom}");
        }
        assert_eq!(towns(View { zoom: 2.0, x: 0.5, y: 0.5 }, Size::DEFAULT), "");
    }
}
