//! Coastlines and borders. `data/README.md` describes the format.

use std::sync::LazyLock;

/// The width and height of the map in the units of [`Outline::points`].
pub const LAND_WIDTH: i32 = 262_144;

static LAND: &[u8] = include_bytes!("../data/land.bin");

const MAGIC: &[u8; 8] = b"land0001";

/// A line on the map, in the Web Mercator projection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The points of the line, in units from the western edge and from the northern edge, which is at 85.05° north. A line that
    /// crosses the 180° meridian continues beyond the edge.
    pub points: Vec<(i32, i32)>,
    /// The lowest values of its points.
    pub low: (i32, i32),
    /// The highest values of its points.
    pub high: (i32, i32),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct World {
    /// The shores of continents, islands and inland seas. Each line is closed, and its last point equals the first. A point that is
    /// inside an odd number of these lines is on land.
    pub coasts: Vec<Outline>,
    /// The borders between two countries.
    pub borders: Vec<Outline>,
}

/// The world. The first call unpacks it, which takes some milliseconds.
pub fn world() -> &'static World {
    static WORLD: LazyLock<World> = LazyLock::new(|| read(LAND).unwrap_or_default());
    &WORLD
}

/// Parses the file; `None` for another format or a truncated file.
fn read(file: &[u8]) -> Option<World> {
    let mut rest = file.strip_prefix(MAGIC)?;
    Some(World { coasts: outlines(&mut rest)?, borders: outlines(&mut rest)? })
}

fn outlines(rest: &mut &[u8]) -> Option<Vec<Outline>> {
    let number = number(rest)?;
    (0..number).map(|_| outline(rest)).collect()
}

fn outline(rest: &mut &[u8]) -> Option<Outline> {
    let number = number(rest)?;
    let (mut x, mut y) = (0_i32, 0_i32);
    let mut step = || {
        x = x.checked_add(signed(rest)?)?;
        y = y.checked_add(signed(rest)?)?;
        Some((x, y))
    };
    let points = (0..number).map(|_| step()).collect::<Option<Vec<_>>>()?;
    let (mut low, mut high) = ((i32::MAX, i32::MAX), (i32::MIN, i32::MIN));
    for (x, y) in &points {
        low = (low.0.min(*x), low.1.min(*y));
        high = (high.0.max(*x), high.1.max(*y));
    }
    Some(Outline { points, low, high })
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
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn file_is_read_as_documented() {
        let world = read(b"land0001\x01\x02\x04\x06\x01\xac\x02\0").unwrap();
        assert_eq!(world.coasts, [Outline { points: vec![(2, 3), (1, 153)], low: (1, 3), high: (2, 153) }]);
        assert_eq!(world.borders, []);
        assert_eq!(read(b"land0002\0\0"), None);
        assert_eq!(read(b"land0001\x01\x02"), None);
    }

    #[test]
    fn the_world_has_land_and_borders() {
        let world = world();
        assert!(world.coasts.len() > 1000 && world.borders.len() > 100);
        for outline in world.coasts.iter().chain(&world.borders) {
            assert!(outline.points.len() > 1);
            assert!(outline.low.0 >= -LAND_WIDTH && outline.high.0 <= 2 * LAND_WIDTH);
            assert!(outline.low.1 >= 0 && outline.high.1 <= LAND_WIDTH);
            let is_smooth = |pair: &[(i32, i32)]| {
                (pair[0].0 - pair[1].0).abs() < LAND_WIDTH / 2 || pair[0].1 == LAND_WIDTH
            };
            assert!(outline.points.windows(2).all(is_smooth));
        }
        assert!(world.coasts.iter().all(|coast| coast.points.first() == coast.points.last()));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(rest in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&[&MAGIC[..], &rest].concat());
        }
    }
}
