//! Positions, squares and areas of the map, which is in the Web Mercator projection.

use std::f64::consts::TAU;

use crate::{Invalid, Position, number::parse_decimal};

/// The latitude of the northern edge of the map. Places farther north are shown on the edge; likewise in the south.
pub const MAX_MAP_LATITUDE: f64 = 85.051_128_779_806_6;

/// The level of the smallest squares: about 38 m wide at the equator.
pub const MAX_MAP_LEVEL: u8 = 20;

/// Maximum number of clusters of a map.
pub const MAX_MAP_CLUSTERS: usize = 200;

/// The number of bits of each coordinate.
const BITS: u8 = 31;

/// The steps of each coordinate.
const STEPS: f64 = 2_147_483_648.0;

const MAX_COORDINATE: u32 = (1 << BITS) - 1;

/// A position on the map: 0 to 2³¹ − 1 from west to east, and from north to south.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapPoint {
    x: u32,
    y: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float outside the range becomes the nearest integer"
)]
fn coordinate(share: f64) -> u32 {
    ((share * STEPS).floor() as u32).min(MAX_COORDINATE)
}

impl MapPoint {
    pub fn of(position: Position) -> Self {
        let latitude = position.latitude().clamp(-MAX_MAP_LATITUDE, MAX_MAP_LATITUDE).to_radians();
        Self {
            x: coordinate(position.longitude() / 360.0 + 0.5),
            y: coordinate(0.5 - (latitude.tan() + 1.0 / latitude.cos()).ln() / TAU),
        }
    }

    /// The point with these coordinates, limited to the map.
    pub fn new(x: u32, y: u32) -> Self {
        Self { x: x.min(MAX_COORDINATE), y: y.min(MAX_COORDINATE) }
    }

    /// Steps from the western edge.
    pub const fn x(self) -> u32 {
        self.x
    }

    /// Steps from the northern edge.
    pub const fn y(self) -> u32 {
        self.y
    }

    /// The Morton code: the bits of both coordinates in turn, so that each square of a [`MapCell`] is one range of codes.
    pub fn code(self) -> i64 {
        (spread(self.y) << 1) | spread(self.x)
    }

    /// The point with that code; `None` if there is none.
    pub fn from_code(code: i64) -> Option<Self> {
        (0..1 << (2 * BITS)).contains(&code).then(|| Self { x: gather(code), y: gather(code >> 1) })
    }

    /// The position in the middle of the step.
    pub fn position(self) -> Position {
        let (x, y) = (share(self.x, 0.5), share(self.y, 0.5));
        Position::new(latitude(y), (x - 0.5) * 360.0).unwrap_or(Position::EQUATOR)
    }
}

/// The share of the map's width or height before a coordinate.
fn share(coordinate: u32, offset: f64) -> f64 {
    (f64::from(coordinate) + offset) / STEPS
}

/// The latitude at this share of the map's height.
fn latitude(y: f64) -> f64 {
    ((0.5 - y) * TAU).sinh().atan().to_degrees().clamp(-90.0, 90.0)
}

/// Moves each bit of a coordinate to the even places.
fn spread(coordinate: u32) -> i64 {
    let mut bits = i64::from(coordinate);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | (bits << shift)) & mask;
    }
    bits
}

/// The coordinate in the even places.
fn gather(code: i64) -> u32 {
    let mut bits = code & 0x5555_5555_5555_5555;
    for (shift, mask) in [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0f0f_0f0f_0f0f_0f0f),
        (4, 0x00ff_00ff_00ff_00ff),
        (8, 0x0000_ffff_0000_ffff),
        (16, 0x0000_0000_7fff_ffff),
    ] {
        bits = (bits | (bits >> shift)) & mask;
    }
    u32::try_from(bits).unwrap_or(MAX_COORDINATE)
}

/// A square of the map. Level 0 is the whole map; each square has four squares of the next level.
///
/// Its number is a bit 1, followed by the leading bits that the codes of all its points share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapCell(i64);

impl MapCell {
    /// The whole map.
    pub const WORLD: Self = Self(1);

    /// The square of this level that contains the point with this code. Levels above [`MAX_MAP_LEVEL`] count as that one.
    pub fn at(level: u8, code: i64) -> Self {
        let level = level.min(MAX_MAP_LEVEL);
        Self((1 << (2 * level)) | (code >> (2 * (BITS - level))))
    }

    /// The square with this number; `None` if there is none.
    pub fn from_number(number: i64) -> Option<Self> {
        let cell = Self(number);
        (number > 0 && number.ilog2().is_multiple_of(2) && cell.level() <= MAX_MAP_LEVEL).then_some(cell)
    }

    /// Its number. Smaller squares have higher numbers.
    pub const fn number(self) -> i64 {
        self.0
    }

    pub fn level(self) -> u8 {
        u8::try_from(self.0.max(1).ilog2() / 2).unwrap_or(MAX_MAP_LEVEL)
    }

    /// The first and the last code of its points.
    pub fn codes(self) -> (i64, i64) {
        let level = self.level();
        let shift = 2 * (BITS - level);
        let first = (self.0 ^ (1 << (2 * level))) << shift;
        (first, first | ((1 << shift) - 1))
    }

    /// Its four squares of the next level; none of the smallest squares.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let number = if self.level() < MAX_MAP_LEVEL { 4 } else { 0 };
        (0..number).map(move |child| Self((self.0 << 2) | child))
    }

    /// The square of the previous level; `None` for the whole map.
    pub fn parent(self) -> Option<Self> {
        (self.0 > 1).then_some(Self(self.0 >> 2))
    }

    /// The smallest square that contains both points.
    pub fn enclosing(first: i64, last: i64) -> Self {
        let differing = u8::try_from(64 - (first ^ last).leading_zeros()).unwrap_or(2 * BITS);
        Self::at(BITS.saturating_sub(differing.div_ceil(2)), first)
    }

    pub fn area(self) -> MapArea {
        let (first, last) = self.codes();
        let corner = |code: i64| MapPoint { x: gather(code), y: gather(code >> 1) };
        let (first, last) = (corner(first), corner(last));
        MapArea {
            west: (share(first.x, 0.0) - 0.5) * 360.0,
            south: latitude(share(last.y, 1.0)),
            east: (share(last.x, 1.0) - 0.5) * 360.0,
            north: latitude(share(first.y, 0.0)),
        }
    }
}

/// A part of the map between two meridians and two parallels, in degrees. If `west` is greater than `east`, it crosses the
/// 180° meridian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapArea {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

impl MapArea {
    pub const WORLD: Self = Self { west: -180.0, south: -90.0, east: 180.0, north: 90.0 };

    /// Checks longitudes of −180 to 180, latitudes of −90 to 90, and that the south is not north of the north.
    ///
    /// # Errors
    /// [`Invalid`] naming `bbox`.
    pub fn new(west: f64, south: f64, east: f64, north: f64) -> Result<Self, Invalid> {
        let invalid = |reason| Err(Invalid::new("bbox", reason));
        if ![west, east].iter().all(|longitude| (-180.0..=180.0).contains(longitude)) {
            return invalid("must have longitudes between -180 and 180");
        }
        if ![south, north].iter().all(|latitude| (-90.0..=90.0).contains(latitude)) {
            return invalid("must have latitudes between -90 and 90");
        }
        if south > north {
            return invalid("must have a south that is at most its north");
        }
        Ok(Self { west, south, east, north })
    }

    /// Parses `west,south,east,north`.
    ///
    /// # Errors
    /// [`Invalid`] naming `bbox`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let numbers: Vec<f64> =
            text.split(',').map(|number| parse_decimal("bbox", number)).collect::<Result<_, _>>()?;
        let [west, south, east, north] = <[f64; 4]>::try_from(numbers)
            .map_err(|_| Invalid::new("bbox", "must be four numbers: west,south,east,north"))?;
        Self::new(west, south, east, north)
    }

    /// Whether a point of the map lies in the area or on its edge, to within a step of the map.
    pub fn contains(&self, point: MapPoint) -> bool {
        let (west, east, north, south) = self.edges(BITS);
        let between = if self.west <= self.east {
            (west..=east).contains(&point.x)
        } else {
            point.x >= west || point.x <= east
        };
        between && (north..=south).contains(&point.y)
    }

    /// The first and the last column, and the first and the last row of the squares of a level that the area touches.
    fn edges(&self, level: u8) -> (u32, u32, u32, u32) {
        let corner = |latitude, longitude| {
            MapPoint::of(Position::new(latitude, longitude).unwrap_or(Position::EQUATOR))
        };
        let (first, last) = (corner(self.north, self.west), corner(self.south, self.east));
        let shift = BITS - level.min(BITS);
        (first.x >> shift, last.x >> shift, first.y >> shift, last.y >> shift)
    }

    /// The squares that the area touches, in the order of their numbers: of this level, or of the next larger level with
    /// at most `max` of them.
    pub fn cells(&self, level: u8, max: usize) -> Vec<MapCell> {
        let fitting = (0..=level.min(MAX_MAP_LEVEL)).rev().find(|level| self.count_cells(*level) <= max);
        let level = fitting.unwrap_or(0);
        let (west, east, north, south) = self.edges(level);
        let columns: Vec<u32> = if self.west <= self.east {
            (west..=east).collect()
        } else {
            (west..1 << level).chain(0..=east.min(west.saturating_sub(1))).collect()
        };
        let mut cells: Vec<MapCell> = (north..=south)
            .flat_map(|row| columns.iter().map(move |column| (*column, row)))
            .map(|(column, row)| MapCell((1 << (2 * level)) | (spread(row) << 1) | spread(column)))
            .collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    fn count_cells(&self, level: u8) -> usize {
        let (west, east, north, south) = self.edges(level);
        let columns = if self.west <= self.east {
            u64::from(east - west) + 1
        } else {
            ((1_u64 << level) - u64::from(west) + u64::from(east) + 1).min(1 << level)
        };
        usize::try_from(columns * (u64::from(south - north) + 1)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(latitude: f64, longitude: f64) -> MapPoint {
        MapPoint::of(Position::new(latitude, longitude).unwrap())
    }

    #[test]
    fn known_points() {
        assert_eq!(point(0.0, 0.0), MapPoint::new(1 << 30, 1 << 30));
        assert_eq!(point(90.0, -180.0), MapPoint::new(0, 0));
        assert_eq!(point(-90.0, 180.0), MapPoint::new(u32::MAX, u32::MAX));
        // Tile 5/15/12 of Web Mercator has Lisbon.
        let lisbon = MapCell::at(5, point(38.72, -9.14).code());
        assert_eq!(lisbon, MapCell::at(5, MapPoint::new(15 << 26, 12 << 26).code()));
        assert_eq!(lisbon.level(), 5);
    }

    #[test]
    fn areas_are_parsed() {
        let area = MapArea::parse("170,-20.5,-170,10").unwrap();
        assert_eq!(area, MapArea { west: 170.0, south: -20.5, east: -170.0, north: 10.0 });
        for bad in ["", "1,2,3", "1,2,3,4,5", "1,2,3,x", "181,0,0,1", "0,-91,0,1", "0,2,1,1", "0,0,1e3,1"] {
            assert_eq!(MapArea::parse(bad).unwrap_err().field, "bbox", "{bad}");
        }
    }

    #[test]
    fn an_area_across_the_180_meridian_has_squares_on_both_sides() {
        let area = MapArea::new(170.0, -10.0, -170.0, 10.0).unwrap();
        assert_eq!(area.cells(1, 200).len(), 4);
        assert_eq!(area.cells(0, 200), [MapCell::WORLD]);
        assert!(area.contains(point(0.0, 179.0)) && area.contains(point(0.0, -179.0)));
        assert!(!area.contains(point(0.0, 0.0)));
        let around = MapArea::new(10.0, -10.0, 9.0, 10.0).unwrap();
        assert_eq!(around.cells(3, 200).len(), 16);
    }

    #[test]
    fn too_many_squares_are_replaced_by_larger_ones() {
        assert_eq!(MapArea::WORLD.cells(10, 200).len(), 64);
        assert_eq!(MapArea::WORLD.cells(2, 200).len(), 16);
        assert_eq!(MapArea::new(1.0, 2.0, 1.0, 2.0).unwrap().cells(200, 200).len(), 1);
    }

    proptest! {
        #[test]
        fn codes_round_trip(x in 0..1_u32 << 31, y in 0..1_u32 << 31) {
            let point = MapPoint::new(x, y);
            prop_assert_eq!(MapPoint::from_code(point.code()), Some(point));
            prop_assert_eq!(MapPoint::of(point.position()), point);
        }

        #[test]
        fn squares_contain_their_points(latitude in -90.0..=90.0_f64, longitude in -180.0..=180.0_f64, level in 0..=MAX_MAP_LEVEL) {
            let code = point(latitude, longitude).code();
            let cell = MapCell::at(level, code);
            let (first, last) = cell.codes();
            prop_assert!((first..=last).contains(&code));
            prop_assert_eq!(cell.level(), level);
            prop_assert_eq!(MapCell::from_number(cell.number()), Some(cell));
            prop_assert_eq!(MapCell::at(level, first), cell);
            prop_assert_eq!(MapCell::at(level, last), cell);
            prop_assert!(cell.children().all(|child| child.parent() == Some(cell)));
            let area = cell.area();
            let north_east = MapPoint::of(Position::new(area.north, area.east).unwrap());
            prop_assert!(north_east.x >= point(latitude, longitude).x);
            prop_assert!(MapArea::new(area.west, area.south, area.east, area.north).is_ok());
            prop_assert!(area.contains(point(latitude, longitude)));
            prop_assert_eq!(MapCell::enclosing(code, code).level(), MAX_MAP_LEVEL);
            prop_assert_eq!(MapCell::enclosing(first, last), cell);
        }

        #[test]
        fn an_area_has_the_squares_of_its_points(
            west in -180.0..=180.0_f64, east in -180.0..=180.0_f64,
            a in -90.0..=90.0_f64, b in -90.0..=90.0_f64,
            latitude in -90.0..=90.0_f64, longitude in -180.0..=180.0_f64,
            level in 0..=MAX_MAP_LEVEL, max in 1..300_usize,
        ) {
            let area = MapArea::new(west, a.min(b), east, a.max(b)).unwrap();
            let cells = area.cells(level, max);
            prop_assert!(!cells.is_empty() && cells.len() <= max.max(1));
            prop_assert!(cells.is_sorted());
            let point = point(latitude, longitude);
            if area.contains(point) {
                let level = cells[0].level();
                prop_assert!(cells.contains(&MapCell::at(level, point.code())));
            }
        }
    }
}
