use crate::{EARTH_RADIUS_M, Invalid, Position};

/// The largest radius of a circle in metres: half the equator, so that a circle can cover the whole Earth.
pub const MAX_RADIUS_M: f64 = 20_037_508.0;

/// All places within a great-circle distance of a centre. It may cross the 180° meridian and include a pole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle {
    centre: Position,
    radius_m: f64,
}

/// A rectangle of latitudes and longitudes in degrees, with `west ≤ east`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatLonBox {
    /// Lowest latitude.
    pub south: f64,
    /// Highest latitude.
    pub north: f64,
    /// Lowest longitude.
    pub west: f64,
    /// Highest longitude.
    pub east: f64,
}

/// Widens boxes by about ten centimetres, so that rounding never excludes a place on the boundary.
const MARGIN_DEGREES: f64 = 1e-6;

impl Circle {
    /// A circle of `radius_m` metres, above 0 and at most [`MAX_RADIUS_M`].
    ///
    /// # Errors
    /// [`Invalid`] naming `radiusMeters`.
    pub fn new(centre: Position, radius_m: f64) -> Result<Self, Invalid> {
        if radius_m > 0.0 && radius_m <= MAX_RADIUS_M {
            Ok(Self { centre, radius_m })
        } else {
            Err(Invalid::new("radiusMeters", "must be above 0 and at most 20037508"))
        }
    }

    /// Builds a circle from three parameters, which must all be present or all absent.
    ///
    /// # Errors
    /// [`Invalid`] naming the parameter that is missing or out of range.
    pub fn from_parts(
        latitude: Option<f64>,
        longitude: Option<f64>,
        radius_m: Option<f64>,
    ) -> Result<Option<Self>, Invalid> {
        let missing =
            |field| Invalid::new(field, "is missing: latitude, longitude and radiusMeters go together");
        match (latitude, longitude, radius_m) {
            (None, None, None) => Ok(None),
            (Some(latitude), Some(longitude), Some(radius_m)) => {
                Self::new(Position::new(latitude, longitude)?, radius_m).map(Some)
            }
            (None, _, _) => Err(missing("latitude")),
            (_, None, _) => Err(missing("longitude")),
            (_, _, None) => Err(missing("radiusMeters")),
        }
    }

    pub const fn centre(self) -> Position {
        self.centre
    }

    /// The radius in metres.
    pub const fn radius_m(self) -> f64 {
        self.radius_m
    }

    /// The distance in metres from the centre, if `position` lies in the circle or on its boundary.
    pub fn distance_within_m(self, position: Position) -> Option<f64> {
        let distance_m = self.centre.distance_m(position);
        (distance_m <= self.radius_m).then_some(distance_m)
    }

    /// Whether `position` lies in the circle or on its boundary.
    pub fn contains(self, position: Position) -> bool {
        self.distance_within_m(position).is_some()
    }

    /// One box that covers the circle, or two if it crosses the 180° meridian. A spatial index filters by them before
    /// the exact distances are computed.
    pub fn bounding_boxes(self) -> Vec<LatLonBox> {
        let reach = self.radius_m / EARTH_RADIUS_M;
        let reach_degrees = reach.to_degrees() + MARGIN_DEGREES;
        let (latitude, longitude) = (self.centre.latitude(), self.centre.longitude());
        let south = (latitude - reach_degrees).max(-90.0);
        let north = (latitude + reach_degrees).min(90.0);
        let span = |west: f64, east: f64| LatLonBox { south, north, west, east };

        if south <= -90.0 || north >= 90.0 {
            return vec![span(-180.0, 180.0)];
        }
        // The distance in degrees to the meridians that touch the circle. No pole is inside, so sin(reach) is below
        // cos(latitude).
        let half_width = (reach.sin() / latitude.to_radians().cos()).clamp(-1.0, 1.0).asin().to_degrees();
        let half_width = half_width.abs() + MARGIN_DEGREES;
        let (west, east) = (longitude - half_width, longitude + half_width);
        if west < -180.0 {
            vec![span(-180.0, east), span(west + 360.0, 180.0)]
        } else if east > 180.0 {
            vec![span(west, 180.0), span(-180.0, east - 360.0)]
        } else {
            vec![span(west, east)]
        }
    }
}

impl LatLonBox {
    /// Whether `position` lies in the box or on its boundary.
    pub fn contains(self, position: Position) -> bool {
        (self.south..=self.north).contains(&position.latitude())
            && (self.west..=self.east).contains(&position.longitude())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn circle(latitude: f64, longitude: f64, radius_m: f64) -> Circle {
        Circle::new(Position::new(latitude, longitude).unwrap(), radius_m).unwrap()
    }

    #[test]
    fn circles_can_cross_the_180th_meridian() {
        let fiji = circle(-17.0, 179.95, 20_000.0);
        assert_eq!(fiji.bounding_boxes().len(), 2);
        assert!(fiji.contains(Position::new(-17.0, -179.95).unwrap()));
        assert!(!fiji.contains(Position::new(-17.0, 179.0).unwrap()));
    }

    #[test]
    fn circles_can_include_a_pole() {
        let pole = circle(89.9, 0.0, 50_000.0);
        assert!(pole.contains(Position::new(89.9, 180.0).unwrap()));
        assert_eq!(
            pole.bounding_boxes(),
            [LatLonBox { south: pole.bounding_boxes()[0].south, north: 90.0, west: -180.0, east: 180.0 }]
        );
    }

    #[test]
    fn circles_can_cover_the_whole_earth() {
        let earth = circle(12.0, 34.0, MAX_RADIUS_M);
        assert!(earth.contains(Position::new(-12.0, -146.0).unwrap()));
    }

    #[test]
    fn circle_parameters_are_all_present_or_all_absent() {
        assert_eq!(Circle::from_parts(None, None, None), Ok(None));
        let missing = |lat, lon, r| Circle::from_parts(lat, lon, r).unwrap_err().field;
        assert_eq!(missing(None, Some(1.0), Some(1.0)), "latitude");
        assert_eq!(missing(Some(1.0), None, Some(1.0)), "longitude");
        assert_eq!(missing(Some(1.0), Some(1.0), None), "radiusMeters");
        for radius_m in [0.0, -1.0, 20_037_508.1, f64::NAN] {
            assert_eq!(missing(Some(1.0), Some(1.0), Some(radius_m)), "radiusMeters");
        }
    }

    proptest! {
        #[test]
        fn bounding_boxes_cover_the_circle(
            centre in (-90.0..=90.0, -180.0..=180.0),
            exponent in 0.0..7.3,
            bearing in 0.0..std::f64::consts::TAU,
            share in 0.0..=1.0,
        ) {
            let circle = circle(centre.0, centre.1, 10_f64.powf(exponent).min(MAX_RADIUS_M));
            let place = destination(circle, bearing, share);
            let covered = circle.bounding_boxes().iter().any(|area| area.contains(place));
            prop_assert!(covered || !circle.contains(place), "{place:?} outside {:?}", circle.bounding_boxes());
        }
    }

    /// The place at `share` of the radius from the centre.
    fn destination(circle: Circle, bearing: f64, share: f64) -> Position {
        let angle = (circle.radius_m * share / EARTH_RADIUS_M).min(std::f64::consts::PI);
        let (lat, lon) = (circle.centre.latitude().to_radians(), circle.centre.longitude().to_radians());
        let to_lat =
            (lat.sin() * angle.cos() + lat.cos() * angle.sin() * bearing.cos()).clamp(-1.0, 1.0).asin();
        let to_lon =
            lon + (bearing.sin() * angle.sin() * lat.cos()).atan2(angle.cos() - lat.sin() * to_lat.sin());
        let degrees = (to_lon.to_degrees() + 540.0).rem_euclid(360.0) - 180.0;
        Position::new(to_lat.to_degrees(), degrees.clamp(-180.0, 180.0)).unwrap()
    }
}
