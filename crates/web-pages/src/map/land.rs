//! Land, water and borders as paths of an SVG image.

use std::fmt::Write as _;

use maud::{Markup, html};
use places::{Detail, Ground, LAND_WIDTH, Line};

use super::view::{Size, View};

/// Paths in tenths of a unit from the centre.
#[derive(Default)]
pub(super) struct GroundPaths {
    pub(super) land: String,
    pub(super) lakes: String,
    pub(super) rivers: String,
    pub(super) streams: String,
    pub(super) regions: String,
    pub(super) borders: String,
}

/// Points closer than this many tenths of a unit to the one before are left out.
const MIN_STEP: f64 = 17.0;

/// The same for lines other than shores.
const MIN_LINE_STEP: f64 = 22.0;

/// Outlines smaller than this many tenths of a unit are left out.
const MIN_SIZE: f64 = 25.0;

/// Rivers and borders of regions are shown from this zoom on.
const RIVER_ZOOM: f64 = 3.0;

/// A point in tenths of a unit.
pub(super) type Point = (f64, f64);

/// The visible part in tenths of a unit.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) half_width: f64,
    pub(super) half_height: f64,
}

impl Frame {
    /// The part that is drawn. It reaches beyond the edges of the view, so that it can be moved before others are loaded: farther in
    /// a close view, which has few lines.
    pub(super) fn of(view: View, size: Size) -> Self {
        let tenths = if view.zoom < 8.0 { 6.5 } else { 9.0 };
        Self { half_width: size.width * tenths, half_height: size.height * tenths }
    }

    /// The view alone, which cannot be moved.
    pub(super) fn still(size: Size) -> Self {
        Self { half_width: size.width * 5.0, half_height: size.height * 5.0 }
    }

    /// Its size in units.
    pub(super) fn size(self) -> Size {
        Size { width: self.half_width / 5.0, height: self.half_height / 5.0 }
    }
}

const fn detail(zoom: f64) -> Detail {
    if zoom < 5.25 {
        Detail::World
    } else if zoom < 8.0 {
        Detail::Country
    } else {
        Detail::Town
    }
}

/// The number of times that lines are smoothed.
const fn rounds(zoom: f64) -> usize {
    if zoom < 9.5 {
        0
    } else if zoom < 11.5 {
        1
    } else if zoom < 14.0 {
        2
    } else {
        3
    }
}

/// The layers of a view from below to above, with outlines of `towns` if there are any. The ids of elements begin with `prefix`,
/// because a page can have several maps.
pub(super) fn layers(paths: &GroundPaths, towns: &str, prefix: &str) -> Markup {
    html! {
        path.land id={ (prefix) "shape" } d=(paths.land) {}
        @if !towns.is_empty() {
            clipPath id={ (prefix) "on-land" } { use href={ "#" (prefix) "shape" } {} }
            path.town d=(towns) clip-path={ "url(#" (prefix) "on-land)" } {}
        }
        path.stream d=(paths.streams) {}
        path.river d=(paths.rivers) {}
        path.lake d=(paths.lakes) {}
        path.region d=(paths.regions) {}
        path.border d=(paths.borders) {}
    }
}

/// The lines of a view.
pub(super) fn paths(view: View, frame: Frame) -> GroundPaths {
    let mut paths = GroundPaths::default();
    for copy in [-2.0, -1.0, 0.0, 1.0, 2.0] {
        let projection = Projection { view, copy, frame };
        let Some((low, high)) = projection.limits() else { continue };
        for tile in places::ground(detail(view.zoom), low, high) {
            projection.draw(&tile, &mut paths);
        }
    }
    paths
}

/// Projects one of the copies of the world, which are side by side.
struct Projection {
    view: View,
    copy: f64,
    frame: Frame,
}

impl Projection {
    /// The edges of the frame on the map; `None` if this copy of the world is not in it.
    #[expect(clippy::cast_possible_truncation, reason = "limited to the map")]
    fn limits(&self) -> Option<((i32, i32), (i32, i32))> {
        let width = f64::from(LAND_WIDTH);
        let tenths = self.view.world() * 10.0;
        let (x, y) = (self.view.x - self.copy, self.view.y);
        let (right, down) = (self.frame.half_width / tenths, self.frame.half_height / tenths);
        let units = |share: f64| (share * width).floor().clamp(0.0, width) as i32;
        let is_visible = x + right >= 0.0 && x - right <= 1.0;
        is_visible.then(|| ((units(x - right), units(y - down)), (units(x + right), units(y + down))))
    }

    fn draw(&self, tile: &Ground, paths: &mut GroundPaths) {
        for ring in &tile.land {
            self.draw_ring(tile, ring, &mut paths.land);
        }
        for ring in &tile.lakes {
            self.draw_ring(tile, ring, &mut paths.lakes);
        }
        if self.view.zoom >= RIVER_ZOOM {
            self.draw_lines(&tile.rivers, &mut paths.rivers);
            self.draw_lines(&tile.streams, &mut paths.streams);
            self.draw_lines(&tile.regions, &mut paths.regions);
        }
        self.draw_lines(&tile.borders, &mut paths.borders);
    }

    fn draw_ring(&self, tile: &Ground, ring: &Line, path: &mut String) {
        let is_cut =
            |(x, y): (i32, i32)| x == tile.low.0 || x == tile.high.0 || y == tile.low.1 || y == tile.high.1;
        // Points at the edge of the tile are kept: without them, there would be gaps between tiles.
        let mut points: Vec<(Point, bool)> = Vec::with_capacity(ring.len());
        for at in ring {
            let (point, is_fixed) = (self.point(*at), is_cut(*at));
            if is_fixed || points.last().is_none_or(|(before, _)| distance(*before, point) >= MIN_STEP) {
                points.push((point, is_fixed));
            }
        }
        if self.is_large(&points) {
            for _ in 0..rounds(self.view.zoom) {
                points = smoother(&points, self.frame);
            }
            let points: Vec<Point> = points.into_iter().map(|(point, _)| point).collect();
            write_path(path, &clipped(&points, self.frame), true);
        }
    }

    /// Whether a ring is in the frame and large enough to be seen.
    fn is_large(&self, points: &[(Point, bool)]) -> bool {
        let (low, high) = limits(points.iter().map(|(point, _)| *point));
        let size = (high.0 - low.0).max(high.1 - low.1);
        meets(self.frame, low, high) && (size > MIN_SIZE || points.iter().any(|(_, is_fixed)| *is_fixed))
    }

    fn draw_lines(&self, lines: &[Line], path: &mut String) {
        for line in lines {
            let last = line.len().saturating_sub(1);
            let mut points: Vec<(Point, bool)> = Vec::new();
            for (number, at) in line.iter().enumerate() {
                let (point, is_end) = (self.point(*at), number == 0 || number == last);
                if is_end || points.last().is_none_or(|(before, _)| distance(*before, point) >= MIN_LINE_STEP)
                {
                    points.push((point, is_end));
                }
            }
            let (low, high) = limits(points.iter().map(|(point, _)| *point));
            if !meets(self.frame, low, high) {
                continue;
            }
            for _ in 0..rounds(self.view.zoom) {
                points = smoother(&points, self.frame);
            }
            let points: Vec<Point> = points.into_iter().map(|(point, _)| point).collect();
            for part in visible_parts(&points, self.frame) {
                write_path(path, part, false);
            }
        }
    }

    fn point(&self, (x, y): (i32, i32)) -> Point {
        let share = |units: i32| f64::from(units) / f64::from(LAND_WIDTH);
        let tenths = self.view.world() * 10.0;
        ((share(x) + self.copy - self.view.x) * tenths, (share(y) - self.view.y) * tenths)
    }
}

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).abs() + (a.1 - b.1).abs()
}

fn limits(points: impl Iterator<Item = Point>) -> (Point, Point) {
    let start = ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    points.fold(start, |(low, high), (x, y)| ((low.0.min(x), low.1.min(y)), (high.0.max(x), high.1.max(y))))
}

/// Whether a rectangle and the frame overlap.
fn meets(frame: Frame, low: Point, high: Point) -> bool {
    low.0 <= frame.half_width
        && high.0 >= -frame.half_width
        && low.1 <= frame.half_height
        && high.1 >= -frame.half_height
}

/// A line whose corners near the frame are cut once (algorithm of Chaikin). Fixed points stay.
fn smoother(points: &[(Point, bool)], frame: Frame) -> Vec<(Point, bool)> {
    let mut line = Vec::with_capacity(points.len() * 2);
    for (number, (point, is_fixed)) in points.iter().enumerate() {
        let before = points.get(if number == 0 { points.len() - 1 } else { number - 1 });
        let after = points.get(if number + 1 == points.len() { 0 } else { number + 1 });
        let (Some((before, _)), Some((after, _))) = (before, after) else { continue };
        let (low, high) = limits([*before, *point, *after].into_iter());
        if *is_fixed || !meets(frame, low, high) {
            line.push((*point, *is_fixed));
        } else {
            let towards = |other: &Point| (point.0 * 0.75 + other.0 * 0.25, point.1 * 0.75 + other.1 * 0.25);
            line.extend([(towards(before), false), (towards(after), false)]);
        }
    }
    line
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

/// The parts of an open line that may be seen in the frame.
fn visible_parts(points: &[Point], frame: Frame) -> Vec<&[Point]> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (number, pair) in points.windows(2).enumerate() {
        let (low, high) = limits(pair.iter().copied());
        if !meets(frame, low, high) {
            parts.extend(points.get(start..=number));
            start = number + 1;
        }
    }
    parts.extend(points.get(start..));
    parts.retain(|part| part.len() > 1);
    parts
}

/// Adds a line with relative steps in whole tenths.
#[expect(clippy::cast_possible_truncation, reason = "near the frame, which is small")]
pub(super) fn write_path(path: &mut String, points: &[Point], is_closed: bool) {
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
    use std::io::Write as _;

    use super::*;

    const FRAME: Frame = Frame { half_width: 10.0, half_height: 10.0 };

    #[test]
    fn a_square_is_cut_at_the_frame() {
        let square = [(0.0, 0.0), (20.0, 0.0), (20.0, 5.0), (0.0, 5.0), (0.0, 0.0)];
        let mut path = String::new();
        write_path(&mut path, &clipped(&square, FRAME), true);
        assert_eq!(path, "M0 0l10 0 0 5-10 0 0-5z");
        assert_eq!(clipped(&[(20.0, 20.0), (30.0, 20.0), (30.0, 30.0)], FRAME), []);
    }

    #[test]
    fn the_visible_parts_of_a_line_are_kept() {
        let line = [(-90.0, 0.0), (90.0, 0.0), (90.0, 50.0), (0.0, 50.0), (0.0, 5.0)];
        assert_eq!(visible_parts(&line, FRAME), [&line[..2], &line[3..]]);
        assert_eq!(visible_parts(&line[..1], FRAME), [&[] as &[Point]; 0]);
    }

    #[test]
    fn corners_are_cut_except_those_of_tiles() {
        let points = [((0.0, 0.0), true), ((8.0, 0.0), false), ((8.0, 8.0), true)];
        let line: Vec<Point> = smoother(&points, FRAME).into_iter().map(|(point, _)| point).collect();
        assert_eq!(line, [(0.0, 0.0), (6.0, 0.0), (8.0, 2.0), (8.0, 8.0)]);
    }

    #[test]
    fn the_paths_of_all_zooms_are_small() {
        let size = Size { width: 768.0, height: 512.0 };
        for zoom in 1..=18 {
            for (x, y) in [(0.5, 0.5), (0.475, 0.383), (0.999, 0.3), (0.514, 0.3), (0.567, 0.385)] {
                let view = View { zoom: f64::from(zoom), x, y };
                let paths = paths(view, Frame::of(view, size));
                let GroundPaths { land, lakes, rivers, streams, regions, borders } = &paths;
                let all = [land, lakes, rivers, streams, regions, borders].map(String::as_str).concat();
                let mut sent = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                sent.write_all(all.as_bytes()).unwrap();
                let sent = sent.finish().unwrap().len();
                assert!(all.len() < 200_000 && sent < 60_000, "{zoom} {x} {y}: {}, {sent}", all.len());
            }
        }
        // In the middle of a continent, all is land.
        let view = View { zoom: 12.0, x: 0.55, y: 0.45 };
        let inland = paths(view, Frame::of(view, size)).land;
        assert_eq!(inland.matches('M').count(), 1, "{inland}");
    }
}
