//! Coastlines, lakes, rivers and borders in tiles. `data/README.md` describes the format.

use std::ops::RangeInclusive;

/// The width and height of the map in the units of [`Line`].
pub const LAND_WIDTH: i32 = 1 << 20;

static LAND: &[u8] = include_bytes!("../data/land.bin");

const MAGIC: &[u8; 8] = b"land0002";

/// How far the polygons of a tile reach into its neighbours, in the steps of its level.
const OVERLAP: i32 = 2;

/// The points of a line on the map, in the Web Mercator projection: units from the western edge and from the northern edge, which is at
/// 85.05° north.
pub type Line = Vec<(i32, i32)>;

/// How exact the lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// For a world up to about 10,000 pixels wide. The whole world is one tile.
    World,
    /// For a world up to about 65,000 pixels wide.
    Country,
    /// All there is: points about 150 m apart.
    Town,
}

impl Detail {
    /// The number of the first tile, the number of tiles in each direction, and the size of a step.
    const fn level(self) -> (usize, i32, i32) {
        match self {
            Self::World => (0, 1, 32),
            Self::Country => (1, 16, 8),
            Self::Town => (1 + 16 * 16, 64, 2),
        }
    }
}

/// The number of tiles of all levels.
const TILES: usize = 1 + 16 * 16 + 64 * 64;

/// A square of the map.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ground {
    /// The lowest x and y at which its polygons are cut. They are in the neighbouring tiles.
    pub low: (i32, i32),
    /// The highest x and y at which they are cut.
    pub high: (i32, i32),
    /// The rings of land. Points that they wind around are on land. Rings of neighbouring tiles overlap and turn in the same direction.
    pub land: Vec<Line>,
    /// The rings of lakes, like those of land.
    pub lakes: Vec<Line>,
    pub rivers: Vec<Line>,
    /// Smaller rivers.
    pub streams: Vec<Line>,
    /// Borders within a country.
    pub regions: Vec<Line>,
    /// Borders between countries.
    pub borders: Vec<Line>,
}

/// The squares of the map that touch an area, in units. An area beyond the edges of the map is cut off.
///
/// Reads only these squares, which takes microseconds for each.
pub fn ground(detail: Detail, low: (i32, i32), high: (i32, i32)) -> Vec<Ground> {
    let (_, across, _) = detail.level();
    let side = LAND_WIDTH / across;
    let range = |low: i32, high: i32| -> RangeInclusive<i32> {
        low.div_euclid(side).max(0)..=high.div_euclid(side).min(across - 1)
    };
    let columns = range(low.0, high.0);
    let tiles = range(low.1, high.1).flat_map(|row| columns.clone().map(move |column| (column, row)));
    tiles.filter_map(|(column, row)| tile(LAND, detail, column, row)).collect()
}

/// Reads a tile; `None` if it is empty, and for another format or a truncated file.
fn tile(file: &[u8], detail: Detail, column: i32, row: i32) -> Option<Ground> {
    let (first, across, step) = detail.level();
    let rest = file.strip_prefix(MAGIC)?;
    let (index, tiles) = rest.split_at_checked((TILES + 1) * 4)?;
    let number = first + usize::try_from(row * across + column).ok()?;
    let offset = |number: usize| {
        let bytes = index.as_chunks().0.get(number)?;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    };
    let mut rest = tiles.get(offset(number)?..offset(number + 1)?)?;
    if rest.is_empty() {
        return None;
    }
    let side = LAND_WIDTH / across;
    let (west, north) = (column * side, row * side);
    let mut layer = || lines(&mut rest, (west, north), step);
    let overlap = OVERLAP * step;
    Some(Ground {
        low: (west - overlap, north - overlap),
        high: (west + side + overlap, north + side + overlap),
        land: layer()?,
        lakes: layer()?,
        rivers: layer()?,
        streams: layer()?,
        regions: layer()?,
        borders: layer()?,
    })
}

fn lines(rest: &mut &[u8], origin: (i32, i32), step: i32) -> Option<Vec<Line>> {
    let count = number(rest)?;
    (0..count).map(|_| line(rest, origin, step)).collect()
}

fn line(rest: &mut &[u8], origin: (i32, i32), step: i32) -> Option<Line> {
    let count = number(rest)?;
    let (mut x, mut y) = origin;
    let mut next = || {
        x = x.checked_add(signed(rest)?.checked_mul(step)?)?;
        y = y.checked_add(signed(rest)?.checked_mul(step)?)?;
        Some((x, y))
    };
    (0..count).map(|_| next()).collect()
}

fn signed(rest: &mut &[u8]) -> Option<i32> {
    let zigzag = number(rest)?;
    let magnitude = i32::try_from(zigzag >> 1).ok()?;
    Some(if zigzag & 1 == 0 { magnitude } else { -magnitude - 1 })
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u32::from(byte & 127) << shift;
        if *byte < 128 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use domain::{MapPoint, Position};
    use proptest::prelude::*;

    use super::*;

    /// A file whose first tile has these bytes and whose other tiles are empty.
    fn file(tile: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend(0_u32.to_le_bytes());
        for _ in 0..TILES {
            file.extend(u32::try_from(tile.len()).unwrap().to_le_bytes());
        }
        file.extend(tile);
        file
    }

    fn at(latitude: f64, longitude: f64) -> (i32, i32) {
        let point = MapPoint::of(Position::new(latitude, longitude).unwrap());
        (i32::try_from(point.x() >> 11).unwrap(), i32::try_from(point.y() >> 11).unwrap())
    }

    /// The squares at a place, and the place.
    fn around(latitude: f64, longitude: f64) -> (Vec<Ground>, (i32, i32)) {
        let place = at(latitude, longitude);
        (ground(Detail::Town, place, place), place)
    }

    /// Whether one of the lines has a point within some units of a place.
    fn is_near(lines: &[Line], place: (i32, i32), units: i32) -> bool {
        let is_near = |(x, y): &(i32, i32)| (x - place.0).abs() < units && (y - place.1).abs() < units;
        lines.iter().flatten().any(is_near)
    }

    /// Whether rings wind around a place.
    fn is_inside(rings: &[Line], (x, y): (i32, i32)) -> bool {
        let winds = rings.iter().map(|ring| {
            let next = ring.iter().cycle().skip(1);
            let crossings = ring.iter().zip(next).map(|(a, b)| {
                let side =
                    i64::from(b.0 - a.0) * i64::from(y - a.1) - i64::from(x - a.0) * i64::from(b.1 - a.1);
                i32::from(a.1 <= y && b.1 > y && side > 0) - i32::from(a.1 > y && b.1 <= y && side < 0)
            });
            crossings.sum::<i32>()
        });
        winds.sum::<i32>() != 0
    }

    #[test]
    fn file_is_read_as_documented() {
        let read = |bytes: &[u8]| tile(&file(bytes), Detail::World, 0, 0);
        let ground = read(b"\x01\x03\x04\x06\x01\xac\x02\0\0\0\0\0\x01\x01\x02\x02\0").unwrap();
        assert_eq!(ground.land, [vec![(64, 96), (32, 96 + 150 * 32), (32, 96 + 150 * 32)]]);
        assert_eq!((ground.low, ground.high), ((-64, -64), (LAND_WIDTH + 64, LAND_WIDTH + 64)));
        assert_eq!(ground.regions, [vec![(32, 32)]]);
        assert_eq!(read(b""), None);
        assert_eq!(read(b"\x01\x02"), None);
        assert_eq!(tile(b"land0001", Detail::World, 0, 0), None);
        assert_eq!(tile(&file(b"\0\0\0\0\0\0"), Detail::Town, 63, 63), None);
    }

    #[test]
    fn every_tile_is_readable() {
        for detail in [Detail::World, Detail::Country, Detail::Town] {
            let tiles = ground(detail, (i32::MIN, i32::MIN), (i32::MAX, i32::MAX));
            let (first, across, _) = detail.level();
            let offset = |number: usize| {
                let at = MAGIC.len() + number * 4;
                u32::from_le_bytes(*LAND[at..].first_chunk().unwrap())
            };
            let last = first + usize::try_from(across * across).unwrap();
            let filled = (first..last).filter(|number| offset(*number) < offset(number + 1)).count();
            assert_eq!(tiles.len(), filled, "{detail:?}");
            for tile in tiles {
                for ring in tile.land.iter().chain(&tile.lakes) {
                    let is_inside = |(x, y): &(i32, i32)| {
                        (tile.low.0..=tile.high.0).contains(x) && (tile.low.1..=tile.high.1).contains(y)
                    };
                    assert!(ring.len() > 2 && ring.iter().all(is_inside), "{:?}", tile.low);
                }
            }
        }
    }

    #[test]
    fn known_places_are_on_the_map() {
        for (latitude, longitude) in [(48.85, 2.35), (-33.86, 150.9), (64.0, -20.0), (-80.0, 0.0)] {
            let (tiles, place) = around(latitude, longitude);
            assert!(tiles.iter().any(|tile| is_inside(&tile.land, place)), "{latitude} {longitude}");
        }
        for (latitude, longitude) in [(43.0, -30.0), (0.0, 0.0), (55.0, 3.0), (36.0, 18.0)] {
            let (tiles, place) = around(latitude, longitude);
            assert!(!tiles.iter().any(|tile| is_inside(&tile.land, place)), "{latitude} {longitude}");
        }
        // Lake Geneva, Lake Victoria.
        for (latitude, longitude) in [(46.45, 6.55), (-1.0, 33.0)] {
            let (tiles, place) = around(latitude, longitude);
            assert!(tiles.iter().any(|tile| is_inside(&tile.lakes, place)), "{latitude} {longitude}");
        }
        // The Seine in Paris, the Danube in Budapest.
        for (latitude, longitude) in [(48.85, 2.35), (47.5, 19.05)] {
            let (tiles, place) = around(latitude, longitude);
            assert!(tiles.iter().any(|tile| is_near(&tile.rivers, place, 150)), "{latitude} {longitude}");
        }
        // The Rhine is the border at Basel; the Canton of Vaud ends near Villeneuve.
        let (tiles, place) = around(47.6, 7.59);
        assert!(tiles.iter().any(|tile| is_near(&tile.borders, place, 150)));
        let (tiles, place) = around(46.4, 6.9);
        assert!(tiles.iter().any(|tile| is_near(&tile.regions, place, 400)));
    }

    #[test]
    fn a_small_area_reads_few_tiles() {
        let (x, y) = at(48.85, 2.35);
        assert!(ground(Detail::Town, (x - 500, y - 500), (x + 500, y + 500)).len() <= 4);
        assert_eq!(ground(Detail::World, (x, y), (x, y)).len(), 1);
        assert_eq!(ground(Detail::Town, (LAND_WIDTH + 5, y), (LAND_WIDTH + 9, y)), []);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(rest in prop::collection::vec(any::<u8>(), 0..200), cut in 0..20_000_usize) {
            let mut bytes = file(&rest);
            let _ = tile(&bytes, Detail::World, 0, 0);
            bytes.truncate(cut);
            let _ = tile(&bytes, Detail::Country, 3, 4);
            for at in (8..bytes.len()).step_by(401) {
                bytes[at] = rest.first().copied().unwrap_or(255);
            }
            let _ = tile(&bytes, Detail::Town, 1, 63);
        }

        #[test]
        fn arbitrary_areas_never_panic(low in any::<(i32, i32)>(), high in any::<(i32, i32)>()) {
            let _ = ground(Detail::World, low, high);
            let _ = ground(Detail::Country, low, (low.0.saturating_add(70_000), low.1.saturating_add(70_000)));
        }
    }
}
