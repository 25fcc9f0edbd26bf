//! The visible part of the map.

use domain::{Invalid, MAX_MAP_LATITUDE, MAX_MAP_LEVEL, MapArea, MapPoint, Position, parse_decimal};
use http_server::Query;

/// The side of the square that a page shows at least, in units. At zoom 0 the world is 256 units wide, as tiles of other
/// maps are.
pub(super) const SIDE: f64 = 512.0;

/// The smallest zoom. Scripts use it in small windows.
const MIN_ZOOM: f64 = 0.0;

/// The smallest zoom that a page leads to: the square shows the whole world.
pub(super) const WORLD_ZOOM: f64 = 1.0;

/// The largest zoom. The smallest squares of the store are 64 units wide here.
pub(super) const MAX_ZOOM: f64 = 18.0;

/// The largest zoom that a page chooses by itself.
const MAX_CHOSEN_ZOOM: f64 = 14.0;

/// The zoom of a view of one place: a large city and its surroundings.
const AROUND_ZOOM: f64 = 9.0;

/// The largest zoom at which a page shows an area. The next one lists the photos of each cluster.
const MAX_FITTING_ZOOM: f64 = MAX_ZOOM - 0.5;

/// The difference between the level of the squares of clusters and the zoom. With it, squares are at least 64 units wide.
const CLUSTER_ZOOM: f64 = 2.0;

/// A zoom and the centre, as shares of the world's width from the west and the north.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct View {
    pub(super) zoom: f64,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The width and the height of the visible part in units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Size {
    /// For a browser that does not say how large its window is: as wide as most windows that are not narrow.
    pub(super) const DEFAULT: Self = Self { width: 768.0, height: SIDE };

    /// The square that every window shows.
    pub(super) const SQUARE: Self = Self { width: SIDE, height: SIDE };

    /// The parameters `w` and `h`, which a script sets; `None` without them.
    pub(super) fn parse(query: &Query<'_>) -> Result<Option<Self>, Invalid> {
        let side = |name| -> Result<Option<f64>, Invalid> {
            let side = query.get(name).map(|text| parse_decimal(name, text)).transpose()?;
            Ok(side.map(|side| side.clamp(SIDE / 2.0, SIDE * 5.0)))
        };
        Ok(side("w")?.zip(side("h")?).map(|(width, height)| Self { width, height }))
    }
}

/// The share of the world's width before a longitude, and of its height before a latitude.
pub(super) fn shares(position: Position) -> (f64, f64) {
    shares_of(MapPoint::of(position))
}

/// The same for a point of the map.
pub(super) fn shares_of(point: MapPoint) -> (f64, f64) {
    let steps = f64::from(1_u32 << 31);
    (f64::from(point.x()) / steps, f64::from(point.y()) / steps)
}

/// The west, the north, the width and the height of an area as shares of the world.
fn sides(area: &MapArea) -> Option<(f64, f64, f64, f64)> {
    let corner = |latitude, longitude| Position::new(latitude, longitude).ok().map(shares);
    let ((west, north), (east, south)) = (corner(area.north, area.west)?, corner(area.south, area.east)?);
    let width = if area.west <= area.east { east - west } else { east + 1.0 - west };
    Some((west, north, width, south - north))
}

/// The longer side of an area as a share of the world.
pub(super) fn extent(area: &MapArea) -> Option<f64> {
    sides(area).map(|(_, _, width, height)| width.max(height))
}

impl View {
    /// The view of the parameters `z`, `lat` and `lon`; `None` if they are absent.
    pub(super) fn parse(query: &Query<'_>) -> Result<Option<Self>, Invalid> {
        let number = |name| query.get(name).map(|text| parse_decimal(name, text)).transpose();
        let zoom = parse_zoom(query)?;
        let position = match (number("lat")?, number("lon")?) {
            (None, None) => return Ok(None),
            (Some(latitude), Some(longitude)) => Position::new(latitude, longitude),
            (None, _) => return Err(Invalid::new("lat", "is missing: lat and lon go together")),
            (_, None) => return Err(Invalid::new("lon", "is missing: lat and lon go together")),
        };
        let parameter = |invalid: Invalid| match invalid.field {
            "latitude" => Invalid::new("lat", invalid.reason),
            _ => Invalid::new("lon", invalid.reason),
        };
        let (x, y) = shares(position.map_err(parameter)?);
        Ok(Some(Self { zoom: zoom.unwrap_or(4.0), x, y }.limited()))
    }

    /// A view of a place and its surroundings.
    pub(super) fn around(position: Position) -> Self {
        let (x, y) = shares(position);
        Self { zoom: AROUND_ZOOM, x, y }.limited()
    }

    /// The smallest view that shows all these points with some room around them; `None` without points.
    pub(super) fn of_points(points: &[(f64, f64)]) -> Option<Self> {
        let mut xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
        xs.sort_unstable_by(f64::total_cmp);
        let (first, last) = (*xs.first()?, *xs.last()?);
        // The view leaves out the widest gap between neighbouring points. If the 180° meridian is not in this gap, the
        // view crosses it.
        let mut widest = (first + 1.0 - last, first, last);
        for pair in xs.windows(2) {
            if let [west, east] = *pair
                && east - west > widest.0
            {
                widest = (east - west, east, west + 1.0);
            }
        }
        let (_, west, east) = widest;
        let north = points.iter().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
        let south = points.iter().map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
        let extent = (east - west).max(south - north).max(1e-9);
        let zoom = (SIDE * 0.7 / 256.0 / extent).log2().floor().clamp(WORLD_ZOOM, MAX_CHOSEN_ZOOM);
        Some(Self { zoom, x: (west + east) / 2.0, y: (north + south) / 2.0 }.limited())
    }

    /// The smallest view that shows all of an area, with some room for the pictures at its edges.
    pub(super) fn of_area(area: &MapArea) -> Option<Self> {
        let (west, north, width, height) = sides(area)?;
        let zoom = (SIDE * 0.8 / 256.0 / width.max(height).max(1e-9)).log2();
        let zoom = (zoom * 100.0).floor() / 100.0;
        let zoom = zoom.clamp(WORLD_ZOOM, MAX_FITTING_ZOOM);
        Some(Self { zoom, x: west + width / 2.0, y: north + height / 2.0 }.limited())
    }

    /// The view, limited to the world and to the range of zooms.
    fn limited(self) -> Self {
        let zoom = self.zoom.clamp(MIN_ZOOM, MAX_ZOOM);
        let margin = (SIDE / 4.0 / (256.0 * zoom.exp2())).min(0.5);
        Self { zoom, x: self.x.rem_euclid(1.0), y: self.y.clamp(margin, 1.0 - margin) }
    }

    /// The view at another zoom.
    pub(super) fn zoomed(self, by: f64) -> Self {
        Self { zoom: (self.zoom + by).max(WORLD_ZOOM), ..self }.limited()
    }

    /// The view after a move by units.
    pub(super) fn moved(self, right: f64, down: f64) -> Self {
        let world = self.world();
        Self { x: self.x + right / world, y: self.y + down / world, ..self }.limited()
    }

    /// The width of the world in units.
    pub(super) fn world(self) -> f64 {
        256.0 * self.zoom.exp2()
    }

    /// The position of a place in units from the centre: that of the nearest of its copies.
    pub(super) fn units(self, (x, y): (f64, f64)) -> (f64, f64) {
        let right = (x - self.x + 0.5).rem_euclid(1.0) - 0.5;
        (right * self.world(), (y - self.y) * self.world())
    }

    /// The area that is visible.
    pub(super) fn area(self, size: Size) -> MapArea {
        let world = self.world();
        let (half_width, half_height) = (size.width / 2.0 / world, size.height / 2.0 / world);
        let longitude = |x: f64| (x.rem_euclid(1.0) - 0.5) * 360.0;
        let latitude = |y: f64| {
            if y <= 0.0 {
                90.0
            } else if y >= 1.0 {
                -90.0
            } else {
                latitude(y)
            }
        };
        let (west, east) = if half_width >= 0.5 {
            (-180.0, 180.0)
        } else {
            (longitude(self.x - half_width), longitude(self.x + half_width))
        };
        let (south, north) = (latitude(self.y + half_height), latitude(self.y - half_height));
        MapArea::new(west, south, east, north).unwrap_or(MapArea::WORLD)
    }

    /// The latitude and the longitude of the centre.
    pub(super) fn centre(self) -> (f64, f64) {
        (latitude(self.y), (self.x - 0.5) * 360.0)
    }

    pub(super) fn parameters(self) -> String {
        let (latitude, longitude) = self.centre();
        format!("z={}&lat={latitude:.5}&lon={longitude:.5}", rounded(self.zoom))
    }

    /// The level of the squares whose photos are one cluster.
    pub(super) fn level(self) -> u8 {
        level(self.zoom)
    }
}

/// A zoom with at most two decimals.
fn rounded(zoom: f64) -> f64 {
    (zoom * 100.0).round() / 100.0
}

/// The level of the squares whose photos are one cluster.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the highest level")]
pub(super) fn level(zoom: f64) -> u8 {
    (zoom.floor() + CLUSTER_ZOOM).clamp(0.0, f64::from(MAX_MAP_LEVEL)) as u8
}

/// A number of units with one decimal.
pub(super) fn units(units: f64) -> f64 {
    (units * 10.0).round() / 10.0
}

/// The parameter `z`: 0 to 18.
pub(super) fn parse_zoom(query: &Query<'_>) -> Result<Option<f64>, Invalid> {
    let Some(text) = query.get("z") else { return Ok(None) };
    let zoom = parse_decimal("z", text)?;
    if (MIN_ZOOM..=MAX_ZOOM).contains(&zoom) {
        Ok(Some(zoom))
    } else {
        Err(Invalid::new("z", "must lie between 0 and 18"))
    }
}

fn latitude(y: f64) -> f64 {
    let latitude = ((0.5 - y) * std::f64::consts::TAU).sinh().atan().to_degrees();
    latitude.clamp(-MAX_MAP_LATITUDE, MAX_MAP_LATITUDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64) -> (f64, f64) {
        shares(Position::new(latitude, longitude).unwrap())
    }

    #[test]
    fn a_view_shows_all_points() {
        for points in [
            vec![at(38.7, -9.1)],
            vec![at(38.7, -9.1), at(48.8, 2.3)],
            vec![at(-17.0, 179.0), at(-16.0, -179.0)],
            vec![at(80.0, -170.0), at(-80.0, 170.0), at(0.0, 0.0)],
        ] {
            let view = View::of_points(&points).unwrap();
            let area = view.area(Size { width: SIDE, height: SIDE });
            for (x, y) in &points {
                let (right, down) = view.units((*x, *y));
                assert!(
                    right.abs() <= SIDE / 2.0 && down.abs() <= SIDE / 2.0,
                    "{view:?} {points:?} {area:?}"
                );
            }
        }
        assert_eq!(View::of_points(&[]), None);
        let fiji = View::of_points(&[at(-17.0, 179.0), at(-16.0, -179.0)]).unwrap();
        assert!(fiji.zoom > 5.0);
    }

    #[test]
    fn parameters_are_checked() {
        let parse = |text: &str| View::parse(&Query::parse(Some(text))).map_err(|invalid| invalid.field);
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse("z=5"), Ok(None));
        assert!(parse("z=5&lat=38.7&lon=-9.1").unwrap().is_some());
        assert_eq!(parse("z=-1&lat=1&lon=1"), Err("z"));
        assert_eq!(parse("z=19&lat=1&lon=1"), Err("z"));
        assert_eq!(parse("lat=91&lon=1"), Err("lat"));
        assert_eq!(parse("lat=1&lon=181"), Err("lon"));
        assert_eq!(parse("lat=1"), Err("lon"));
        assert_eq!(parse("lon=1"), Err("lat"));
    }

    #[test]
    fn a_view_reads_its_own_parameters() {
        let view = View { zoom: 6.25, x: 0.3, y: 0.4 };
        let parameters = view.parameters();
        let again = View::parse(&Query::parse(Some(&parameters))).unwrap().unwrap();
        assert!((again.x - view.x).abs() < 1e-6 && (again.y - view.y).abs() < 1e-6);
        assert_eq!(again.zoom, 6.25);
    }
}
