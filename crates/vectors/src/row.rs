use std::cmp::Ordering;

/// The id of a vector in the store. Ids ascend in the order in which vectors were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub i64);

/// A row of an index, without the numbers of its vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub vector: RowId,
    /// The id of its image in the store.
    pub image: i64,
    /// The capture time of the image, in milliseconds since 1970.
    pub captured_at_ms: i64,
    pub position: Option<PositionE7>,
}

/// A position on Earth, accurate to about a centimetre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PositionE7 {
    /// Latitude in units of 10⁻⁷ degrees, positive to the north.
    pub latitude_e7: i32,
    /// Longitude in units of 10⁻⁷ degrees, positive to the east.
    pub longitude_e7: i32,
}

impl PositionE7 {
    /// Represents an unknown position in columns of fixed width.
    pub(crate) const UNKNOWN: Self = Self { latitude_e7: i32::MIN, longitude_e7: i32::MIN };

    pub(crate) fn is_known(self) -> bool {
        self != Self::UNKNOWN
    }

    /// Rounds degrees. Values outside ±90 and ±180 are clamped.
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

/// A bounding box, edges included. A box that crosses the 180° meridian has to be split in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    pub south_west: PositionE7,
    pub north_east: PositionE7,
}

impl Area {
    /// Rounds degrees outwards.
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

    pub fn contains(&self, position: PositionE7) -> bool {
        // `&` instead of `&&`, because branches would be hard to predict.
        (self.south_west.latitude_e7 <= position.latitude_e7)
            & (position.latitude_e7 <= self.north_east.latitude_e7)
            & (self.south_west.longitude_e7 <= position.longitude_e7)
            & (position.longitude_e7 <= self.north_east.longitude_e7)
    }
}

const UNITS: f64 = 1e7;

/// Converts a clamped whole number.
#[expect(clippy::cast_possible_truncation, reason = "at most 180 times 10⁷; NaN becomes 0")]
fn e7(units: f64) -> i32 {
    units as i32
}

/// A row with its similarity to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredRow {
    pub vector: RowId,
    /// The id of its image in the store.
    pub image: i64,
    /// The capture time of the image, in milliseconds since 1970.
    pub captured_at_ms: i64,
    /// The dot product of the query and the quantized vector.
    pub similarity: f32,
}

impl ScoredRow {
    /// A total order: by similarity, then the newest capture time, then the last stored.
    pub fn best_first(&self, other: &Self) -> Ordering {
        let key = |hit: &Self| (hit.captured_at_ms, hit.vector);
        other.similarity.total_cmp(&self.similarity).then_with(|| key(other).cmp(&key(self)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_accurate_to_a_centimetre() {
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
