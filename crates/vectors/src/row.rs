use std::cmp::Ordering;

/// The store's number of a vector: each that is stored has a higher one than all before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub i64);

/// What an index knows of a vector besides its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The vector.
    pub vector: RowId,
    /// The store's number of the image that it shows.
    pub image: i64,
    /// When that was taken, in milliseconds since 1970.
    pub captured_at_ms: i64,
    /// Where that was taken.
    pub position: Option<PositionE7>,
}

/// A place on Earth, to about a centimetre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PositionE7 {
    /// Latitude in units of 10⁻⁷ degrees, north of the equator above 0.
    pub latitude_e7: i32,
    /// Longitude in units of 10⁻⁷ degrees, east of Greenwich above 0.
    pub longitude_e7: i32,
}

impl PositionE7 {
    /// Stands for no position where every row has the same room for one.
    pub(crate) const NOWHERE: Self = Self { latitude_e7: i32::MIN, longitude_e7: i32::MIN };

    pub(crate) fn is_somewhere(self) -> bool {
        self != Self::NOWHERE
    }

    /// Of degrees, rounded; what is beyond ±90 or ±180 is taken to be there.
    pub fn from_degrees(latitude: f64, longitude: f64) -> Self {
        Self {
            latitude_e7: e7((latitude.clamp(-90.0, 90.0) * UNITS).round()),
            longitude_e7: e7((longitude.clamp(-180.0, 180.0) * UNITS).round()),
        }
    }

    /// Latitude and longitude in degrees.
    pub fn degrees(self) -> (f64, f64) {
        (f64::from(self.latitude_e7) / UNITS, f64::from(self.longitude_e7) / UNITS)
    }
}

/// Between two latitudes and two longitudes, all inclusive. One that crosses the 180° meridian is two of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Its southern and western corner.
    pub south_west: PositionE7,
    /// Its northern and eastern corner.
    pub north_east: PositionE7,
}

impl Area {
    /// Of degrees, rounded so that nothing is left out.
    pub fn from_degrees(south: f64, west: f64, north: f64, east: f64) -> Self {
        Self {
            south_west: PositionE7 {
                latitude_e7: e7((south.clamp(-90.0, 90.0) * UNITS).floor()),
                longitude_e7: e7((west.clamp(-180.0, 180.0) * UNITS).floor()),
            },
            north_east: PositionE7 {
                latitude_e7: e7((north.clamp(-90.0, 90.0) * UNITS).ceil()),
                longitude_e7: e7((east.clamp(-180.0, 180.0) * UNITS).ceil()),
            },
        }
    }

    /// Whether a place is in it.
    pub fn contains(&self, position: PositionE7) -> bool {
        // All four at once: most rows of a search fail any one of them, and which is hard to foresee.
        (self.south_west.latitude_e7 <= position.latitude_e7)
            & (position.latitude_e7 <= self.north_east.latitude_e7)
            & (self.south_west.longitude_e7 <= position.longitude_e7)
            & (position.longitude_e7 <= self.north_east.longitude_e7)
    }
}

const UNITS: f64 = 1e7;

/// Of a whole number that was clamped before.
#[expect(clippy::cast_possible_truncation, reason = "at most 180 times 10⁷; what is no number becomes 0")]
fn e7(units: f64) -> i32 {
    units as i32
}

/// A row that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredRow {
    /// The vector.
    pub vector: RowId,
    /// The image that it shows.
    pub image: i64,
    /// When that was taken, in milliseconds since 1970.
    pub captured_at_ms: i64,
    /// The dot product with the query, but for the rounding of the row to signed bytes.
    pub similarity: f32,
}

impl ScoredRow {
    /// Best first: by similarity, then the one taken last, then the one stored last. No two rows are equal by it.
    pub fn best_first(&self, other: &Self) -> Ordering {
        let key = |hit: &Self| (hit.captured_at_ms, hit.vector);
        other.similarity.total_cmp(&self.similarity).then_with(|| key(other).cmp(&key(self)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_kept_to_a_centimetre() {
        for (latitude, longitude) in [(0.0, 0.0), (48.858_370_1, 2.294_481_3), (-90.0, 180.0), (90.0, -180.0)]
        {
            let (north, east) = PositionE7::from_degrees(latitude, longitude).degrees();
            assert!((north - latitude).abs() < 1e-7 && (east - longitude).abs() < 1e-7, "{north}, {east}");
        }
        let far = PositionE7::from_degrees(1e300, f64::NAN);
        assert_eq!(far, PositionE7 { latitude_e7: 900_000_000, longitude_e7: 0 });
    }

    #[test]
    fn the_corners_of_an_area_are_in_it() {
        let area = Area::from_degrees(48.858_370_12, 2.294_481_31, 48.9, 2.3);
        let check = |latitude, longitude, expect| {
            let position = PositionE7::from_degrees(latitude, longitude);
            assert_eq!(area.contains(position), expect, "{latitude}, {longitude}");
        };
        check(48.858_370_12, 2.294_481_31, true);
        check(48.9, 2.3, true);
        check(48.91, 2.3, false);
        check(48.9, 2.31, false);
        check(48.8, 2.3, false);
        check(48.9, 2.2, false);
    }
}
