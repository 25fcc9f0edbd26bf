//! Lines on the map: projected, simplified and cut into tiles.

use std::collections::HashMap;
use std::f64::consts::{PI, TAU};

use super::shapes::Position;

/// A point on the map in units.
pub(super) type Point = (f64, f64);

/// The latitude of the northern edge of the map.
const MAX_LATITUDE: f64 = 85.051_128_779_806_6;

pub(super) fn projected((longitude, latitude): Position, width: f64) -> Point {
    let latitude = latitude.clamp(-MAX_LATITUDE, MAX_LATITUDE);
    let y = 0.5 - (PI / 4.0 + latitude.to_radians() / 2.0).tan().ln() / TAU;
    ((longitude / 360.0 + 0.5).clamp(0.0, 1.0) * width, y.clamp(0.0, 1.0) * width)
}

/// A line without the points that are closer than the tolerance to the simpler line (algorithm of Ramer, Douglas and Peucker).
pub(super) fn simplified(points: &[Point], tolerance: f64) -> Vec<Point> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let mut is_kept = vec![false; points.len()];
    let mut parts = vec![(0, last)];
    // The ends of a ring are one point, so its farthest point is kept as well.
    while let Some((from, to)) = parts.pop() {
        is_kept[from] = true;
        is_kept[to] = true;
        let distances = (from + 1..to).map(|at| (at, distance(points[at], points[from], points[to])));
        if let Some((farthest, distance)) = distances.max_by(|a, b| a.1.total_cmp(&b.1))
            && distance > tolerance
        {
            parts.extend([(from, farthest), (farthest, to)]);
        }
    }
    points.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(point, _)| *point).collect()
}

/// Lines whose ends meet, without a third one there, become one line.
pub(super) fn joined(mut lines: Vec<Vec<Point>>) -> Vec<Vec<Point>> {
    type Key = (u64, u64);
    let key = |point: Option<&Point>| point.map_or((0, 0), |(x, y)| (x.to_bits(), y.to_bits()));
    let mut meeting: HashMap<Key, Vec<usize>> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        meeting.entry(key(line.first())).or_default().push(number);
        meeting.entry(key(line.last())).or_default().push(number);
    }
    // The other line at the end of one.
    let next = |end: Key, this: usize| match meeting.get(&end).map(Vec::as_slice) {
        Some([a, b]) if *a != *b && *a == this => Some(*b),
        Some([a, b]) if *a != *b => Some(*a),
        _ => None,
    };
    let mut joined = Vec::new();
    for start in 0..lines.len() {
        let mut line = std::mem::take(&mut lines[start]);
        for _ in 0..2 {
            let mut this = start;
            while let Some(other) = next(key(line.last()), this) {
                let mut more = std::mem::take(&mut lines[other]);
                if more.is_empty() {
                    break;
                }
                if key(more.first()) != key(line.last()) {
                    more.reverse();
                }
                line.extend(more.into_iter().skip(1));
                this = other;
            }
            line.reverse();
        }
        joined.push(line);
    }
    joined.retain(|line| !line.is_empty());
    joined
}

/// The distance of a point from a stretch.
fn distance(point: Point, from: Point, to: Point) -> f64 {
    let (right, down) = (to.0 - from.0, to.1 - from.1);
    let (x, y) = (point.0 - from.0, point.1 - from.1);
    let square = right * right + down * down;
    let share = if square > 0.0 { ((x * right + y * down) / square).clamp(0.0, 1.0) } else { 0.0 };
    (x - share * right).hypot(y - share * down)
}

/// The longer side of the box around a line.
pub(super) fn extent(points: &[Point]) -> f64 {
    let (low, high) = limits(points);
    (high.0 - low.0).max(high.1 - low.1)
}

/// The lowest and the highest coordinates.
pub(super) fn limits(points: &[Point]) -> (Point, Point) {
    let start = ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    points
        .iter()
        .fold(start, |(low, high), (x, y)| ((low.0.min(*x), low.1.min(*y)), (high.0.max(*x), high.1.max(*y))))
}

/// A rectangle: its lowest and its highest coordinates.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) low: Point,
    pub(super) high: Point,
}

impl Frame {
    /// The distances of a point from the four edges, positive inside.
    fn depths(self, (x, y): Point) -> [f64; 4] {
        [x - self.low.0, self.high.0 - x, y - self.low.1, self.high.1 - y]
    }

    /// The part of a ring in the frame (algorithm of Sutherland and Hodgman).
    pub(super) fn cut_ring(self, ring: &[Point]) -> Vec<Point> {
        let mut points = ring.to_vec();
        for edge in 0..4 {
            let mut kept = Vec::with_capacity(points.len());
            let mut before = points.last().copied();
            for point in points {
                let depth = self.depths(point)[edge];
                if let Some(before) = before {
                    let from = self.depths(before)[edge];
                    if (from < 0.0) != (depth < 0.0) {
                        kept.push(between(before, point, from / (from - depth)));
                    }
                }
                if depth >= 0.0 {
                    kept.push(point);
                }
                before = Some(point);
            }
            points = kept;
        }
        points
    }

    /// The parts of a line in the frame.
    pub(super) fn cut_line(self, line: &[Point]) -> Vec<Vec<Point>> {
        let mut parts: Vec<Vec<Point>> = Vec::new();
        let mut is_open = false;
        for pair in line.windows(2) {
            let [from, to] = *pair else { continue };
            let (mut first, mut last) = (0.0_f64, 1.0_f64);
            for (start, end) in self.depths(from).into_iter().zip(self.depths(to)) {
                let share = start / (start - end);
                if start < 0.0 && end < 0.0 {
                    last = -1.0;
                } else if start < 0.0 {
                    first = first.max(share);
                } else if end < 0.0 {
                    last = last.min(share);
                }
            }
            if first > last {
                is_open = false;
                continue;
            }
            match parts.last_mut() {
                Some(part) if is_open && first == 0.0 => part.push(between(from, to, last)),
                _ => parts.push(vec![between(from, to, first), between(from, to, last)]),
            }
            is_open = last == 1.0;
        }
        parts
    }
}

fn between(from: Point, to: Point, share: f64) -> Point {
    (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { low: (0.0, 0.0), high: (10.0, 10.0) };

    #[test]
    fn a_line_keeps_its_corners() {
        let line = [(0.0, 0.0), (5.0, 0.4), (10.0, 0.0), (10.0, 8.0)];
        assert_eq!(simplified(&line, 0.5), [(0.0, 0.0), (10.0, 0.0), (10.0, 8.0)]);
        assert_eq!(simplified(&line, 0.3), line);
        let ring = [(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 0.0)];
        assert_eq!(simplified(&ring, 1.0), ring);
        assert_eq!(simplified(&[], 1.0), []);
    }

    #[test]
    fn lines_and_rings_are_cut() {
        assert_eq!(
            FRAME.cut_line(&[(-5.0, 5.0), (5.0, 5.0), (15.0, 5.0), (15.0, 2.0), (5.0, 2.0)]),
            [vec![(0.0, 5.0), (5.0, 5.0), (10.0, 5.0)], vec![(10.0, 2.0), (5.0, 2.0)]]
        );
        assert_eq!(FRAME.cut_line(&[(-5.0, 15.0), (-2.0, 5.0)]), [[]; 0]);
        let cut = FRAME.cut_ring(&[(5.0, 5.0), (15.0, 5.0), (15.0, 8.0), (5.0, 8.0), (5.0, 5.0)]);
        assert_eq!(limits(&cut), ((5.0, 5.0), (10.0, 8.0)));
        assert_eq!(FRAME.cut_ring(&[(20.0, 0.0), (30.0, 0.0), (30.0, 5.0)]), []);
    }

    #[test]
    fn lines_that_meet_are_joined() {
        let at = |x: f64| (x, 1.0);
        let lines = vec![vec![at(2.0), at(3.0)], vec![at(1.0), at(2.0)], vec![at(5.0), at(4.0), at(3.0)]];
        assert_eq!(joined(lines), [[at(1.0), at(2.0), at(3.0), at(4.0), at(5.0)]]);
        let fork = vec![vec![at(1.0), at(2.0)], vec![at(2.0), at(3.0)], vec![at(2.0), (2.0, 9.0)]];
        assert_eq!(joined(fork.clone()), fork);
        let ring = vec![vec![at(1.0), (2.0, 3.0)], vec![(2.0, 3.0), at(1.0)]];
        assert_eq!(joined(ring).len(), 1);
    }

    #[test]
    fn the_map_is_a_square() {
        assert_eq!(projected((-180.0, 90.0), 8.0), (0.0, 0.0));
        let (x, y) = projected((0.0, 0.0), 8.0);
        assert!((x - 4.0).abs() < 1e-9 && (y - 4.0).abs() < 1e-9);
    }
}
