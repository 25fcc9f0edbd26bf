//! Land and borders as paths of an SVG image.

use std::fmt::Write as _;

use places::{LAND_WIDTH, Outline};

use super::view::{Size, View};

/// Paths in tenths of a unit from the centre.
pub(super) struct LandPaths {
    pub(super) land: String,
    pub(super) borders: String,
}

/// Points closer than this many tenths of a unit to the one before are left out.
const MIN_STEP: f64 = 15.0;

/// Outlines smaller than this many tenths of a unit are left out.
const MIN_SIZE: f64 = 25.0;

/// A point in tenths of a unit.
type Point = (f64, f64);

/// The visible part in tenths of a unit.
#[derive(Clone, Copy)]
struct Frame {
    half_width: f64,
    half_height: f64,
}

/// From this zoom on, the outlines reach farther beyond the view, because few of them are visible.
const NEAR_ZOOM: f64 = 4.5;

/// The outlines of a view. They reach beyond its edges, so that it can be moved before others are loaded.
pub(super) fn paths(view: View, size: Size) -> LandPaths {
    let tenths = if view.zoom < NEAR_ZOOM { 7.0 } else { 10.0 };
    let frame = Frame { half_width: size.width * tenths, half_height: size.height * tenths };
    let world = places::world();
    let mut paths = LandPaths { land: String::new(), borders: String::new() };
    for copy in [-2.0, -1.0, 0.0, 1.0, 2.0] {
        let projection = Projection { view, copy };
        for coast in world.coasts.iter().filter(|coast| projection.is_visible(coast, frame)) {
            write_path(&mut paths.land, &clipped(&projection.points(coast), frame), true);
        }
        for border in world.borders.iter().filter(|border| projection.is_visible(border, frame)) {
            for part in visible_parts(&projection.points(border), frame) {
                write_path(&mut paths.borders, part, false);
            }
        }
    }
    paths
}

/// Projects one of the copies of the world, which are side by side.
struct Projection {
    view: View,
    copy: f64,
}

impl Projection {
    fn point(&self, (x, y): (i32, i32)) -> Point {
        let share = |units: i32| f64::from(units) / f64::from(LAND_WIDTH);
        let tenths = self.view.world() * 10.0;
        ((share(x) + self.copy - self.view.x) * tenths, (share(y) - self.view.y) * tenths)
    }

    /// Whether an outline is in the frame and large enough to be seen.
    fn is_visible(&self, outline: &Outline, frame: Frame) -> bool {
        let (low, high) = (self.point(outline.low), self.point(outline.high));
        let is_inside = low.0 < frame.half_width
            && high.0 > -frame.half_width
            && low.1 < frame.half_height
            && high.1 > -frame.half_height;
        is_inside && (high.0 - low.0).max(high.1 - low.1) > MIN_SIZE
    }

    /// The points of an outline, without those that are too close together to be seen.
    fn points(&self, outline: &Outline) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        let last = outline.points.last().map(|last| self.point(*last));
        for point in outline.points.iter().map(|point| self.point(*point)) {
            let is_far = points
                .last()
                .is_none_or(|before| (point.0 - before.0).abs() + (point.1 - before.1).abs() >= MIN_STEP);
            if is_far {
                points.push(point);
            }
        }
        points.extend(last);
        points
    }
}

/// The coordinate that is compared with an edge of the frame.
type Coordinate = fn(Point) -> f64;

/// The part of a closed line within the frame (algorithm of Sutherland and Hodgman).
fn clipped(points: &[Point], frame: Frame) -> Vec<Point> {
    let mut points = points.to_vec();
    let (width, height) = (frame.half_width, frame.half_height);
    let edges: [(Coordinate, f64); 4] =
        [(|p| p.0, -width), (|p| -p.0, -width), (|p| p.1, -height), (|p| -p.1, -height)];
    for (value, limit) in edges {
        let mut kept = Vec::with_capacity(points.len());
        let mut before = points.last().copied();
        for point in points {
            if let Some(before) = before {
                let (from, to) = (value(before) - limit, value(point) - limit);
                if (from < 0.0) != (to < 0.0) {
                    let share = from / (from - to);
                    let crossing = |a: f64, b: f64| a + (b - a) * share;
                    kept.push((crossing(before.0, point.0), crossing(before.1, point.1)));
                }
            }
            if value(point) >= limit {
                kept.push(point);
            }
            before = Some(point);
        }
        points = kept;
    }
    points
}

/// The parts of an open line with points in the frame.
fn visible_parts(points: &[Point], frame: Frame) -> Vec<&[Point]> {
    let is_inside = |point: &Point| point.0.abs() <= frame.half_width && point.1.abs() <= frame.half_height;
    points.chunk_by(|a, b| is_inside(a) == is_inside(b)).filter(|part| part.iter().all(is_inside)).collect()
}

/// Adds a line with relative steps in whole tenths.
#[expect(clippy::cast_possible_truncation, reason = "within the frame, which is small")]
fn write_path(path: &mut String, points: &[Point], is_closed: bool) {
    let mut points = points.iter().map(|(x, y)| (x.round() as i64, y.round() as i64));
    let Some(mut last) = points.next() else { return };
    let _ = write!(path, "M{} {}l", last.0, last.1);
    for point in points {
        let (right, down) = (point.0 - last.0, point.1 - last.1);
        if (right, down) != (0, 0) {
            let separator = if down < 0 { "" } else { " " };
            let start = if right < 0 || path.ends_with('l') { "" } else { " " };
            let _ = write!(path, "{start}{right}{separator}{down}");
            last = point;
        }
    }
    if path.ends_with('l') {
        path.push_str("0 0");
    }
    if is_closed {
        path.push('z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_cut_at_the_frame() {
        let frame = Frame { half_width: 10.0, half_height: 10.0 };
        let square = [(0.0, 0.0), (20.0, 0.0), (20.0, 5.0), (0.0, 5.0), (0.0, 0.0)];
        let mut path = String::new();
        write_path(&mut path, &clipped(&square, frame), true);
        assert_eq!(path, "M0 0l10 0 0 5-10 0 0-5z");
        assert_eq!(clipped(&[(20.0, 20.0), (30.0, 20.0), (30.0, 30.0)], frame), []);
    }

    #[test]
    fn the_paths_of_all_zooms_are_small() {
        let size = Size { width: 768.0, height: 512.0 };
        for zoom in 1..=18 {
            for (x, y) in [(0.5, 0.5), (0.475, 0.383), (0.999, 0.3)] {
                let paths = paths(View { zoom: f64::from(zoom), x, y }, size);
                assert!(paths.land.len() + paths.borders.len() < 150_000, "{zoom}: {}", paths.land.len());
            }
        }
        // In the middle of a continent, all is land.
        let inland = paths(View { zoom: 12.0, x: 0.55, y: 0.45 }, size).land;
        assert_eq!(inland.matches('M').count(), 1, "{inland}");
    }
}
