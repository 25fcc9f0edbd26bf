use serde::{Deserialize, Serialize};

use crate::Invalid;

/// The mean radius of the Earth in metres (IUGG), used for great-circle distances.
pub const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// A place on Earth in degrees, WGS 84.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "(f64, f64)", try_from = "(f64, f64)")]
pub struct Position {
    latitude: f64,
    longitude: f64,
}

impl Position {
    /// Where the equator meets the meridian of Greenwich.
    pub const EQUATOR: Self = Self { latitude: 0.0, longitude: 0.0 };

    /// Checks a latitude of −90 to 90 and a longitude of −180 to 180 degrees.
    ///
    /// # Errors
    /// [`Invalid`] naming `latitude` or `longitude`.
    pub fn new(latitude: f64, longitude: f64) -> Result<Self, Invalid> {
        if !(-90.0..=90.0).contains(&latitude) {
            return Err(Invalid::new("latitude", "must lie between -90 and 90"));
        }
        if !(-180.0..=180.0).contains(&longitude) {
            return Err(Invalid::new("longitude", "must lie between -180 and 180"));
        }
        Ok(Self { latitude, longitude })
    }

    /// Degrees north of the equator, −90 to 90.
    pub const fn latitude(self) -> f64 {
        self.latitude
    }

    /// Degrees east of Greenwich, −180 to 180.
    pub const fn longitude(self) -> f64 {
        self.longitude
    }

    /// The great-circle distance to `other` in metres (haversine formula, which is exact for near points).
    pub fn distance_m(self, other: Self) -> f64 {
        let (lat_a, lat_b) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half_lat = ((lat_b - lat_a) / 2.0).sin();
        let half_lon = ((other.longitude - self.longitude).to_radians() / 2.0).sin();
        let chord = half_lat * half_lat + lat_a.cos() * lat_b.cos() * half_lon * half_lon;
        2.0 * EARTH_RADIUS_M * chord.sqrt().min(1.0).asin()
    }
}

impl From<Position> for (f64, f64) {
    fn from(position: Position) -> Self {
        (position.latitude, position.longitude)
    }
}

impl TryFrom<(f64, f64)> for Position {
    type Error = Invalid;

    fn try_from((latitude, longitude): (f64, f64)) -> Result<Self, Invalid> {
        Self::new(latitude, longitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_distances() {
        let at = |lat, lon| Position::new(lat, lon).unwrap();
        let check = |a: Position, b: Position, expect: f64| {
            assert!((a.distance_m(b) - expect).abs() < 1.0, "{} != {expect}", a.distance_m(b));
        };
        check(at(0.0, 0.0), at(0.0, 1.0), 111_195.08);
        check(at(48.858_37, 2.294_48), at(40.689_25, -74.044_5), 5_837_420.5);
        check(at(90.0, 0.0), at(-90.0, 77.0), EARTH_RADIUS_M * std::f64::consts::PI);
        check(at(0.0, 180.0), at(0.0, -180.0), 0.0);
    }

    #[test]
    fn coordinates_out_of_range_are_refused() {
        assert!(Position::new(f64::NAN, 0.0).is_err());
        assert!(Position::new(0.0, f64::INFINITY).is_err());
        assert_eq!(Position::new(91.0, 0.0).unwrap_err().field, "latitude");
        assert_eq!(Position::new(0.0, -180.1).unwrap_err().field, "longitude");
    }

    proptest! {
        #[test]
        fn distance_is_symmetric(a in (-90.0..=90.0, -180.0..=180.0), b in (-90.0..=90.0, -180.0..=180.0)) {
            let (a, b) = (Position::new(a.0, a.1).unwrap(), Position::new(b.0, b.1).unwrap());
            prop_assert!((a.distance_m(b) - b.distance_m(a)).abs() < 1e-6);
            prop_assert_eq!(a.distance_m(a), 0.0);
        }
    }
}
