//! Nearest-city search in a k-d tree.
//!
//! Distances are straight lines through the Earth, so the poles and the 180° meridian need no special case. They sort
//! like great-circle distances. At 100 km, the line is 1 m shorter than the great circle.

use domain::{EARTH_RADIUS_M, Position};

use crate::table::{City, MAX_EDGE_M, Point, Record, Table};

/// The maximum distance to the edge of the nearest city.
const MAX_DISTANCE_M: f64 = 100_000.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest<'a> {
    pub(crate) city: City<'a>,
    /// The distance to the city's edge; negative within the city.
    distance_m: f64,
}

/// The city whose edge is nearest, within [`MAX_DISTANCE_M`].
pub(crate) fn nearest<'a>(table: &Table<'a>, position: Position) -> Option<Nearest<'a>> {
    nearest_of(table, point(position), |_| true)
}

/// The nearest city that is clearly larger than `city` and has another name.
pub(crate) fn nearest_larger<'a>(table: &Table<'a>, city: City<'a>) -> Option<City<'a>> {
    let size = city.size().saturating_mul(2);
    let name = table.city_name(city);
    let is_larger = |other: City<'a>| other.size() >= size && table.city_name(other) != name;
    nearest_of(table, city.at(), is_larger).map(|nearest| nearest.city)
}

fn nearest_of<'a>(table: &Table<'a>, from: Point, accepts: impl Fn(City<'a>) -> bool) -> Option<Nearest<'a>> {
    let mut search = Search { from, accepts, best: None };
    search.visit(table.cities, Axis::X);
    search.best
}

fn point(position: Position) -> Point {
    let (latitude, longitude) = (position.latitude().to_radians(), position.longitude().to_radians());
    let to_axis_m = latitude.cos() * EARTH_RADIUS_M;
    [to_axis_m * longitude.cos(), to_axis_m * longitude.sin(), latitude.sin() * EARTH_RADIUS_M]
}

#[derive(Clone, Copy)]
enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    fn next(self) -> Self {
        match self {
            Self::X => Self::Y,
            Self::Y => Self::Z,
            Self::Z => Self::X,
        }
    }

    fn of(self, [x, y, z]: Point) -> f64 {
        match self {
            Self::X => x,
            Self::Y => y,
            Self::Z => z,
        }
    }
}

struct Search<'a, F> {
    from: Point,
    accepts: F,
    best: Option<Nearest<'a>>,
}

impl<'a, F: Fn(City<'a>) -> bool> Search<'a, F> {
    /// Searches a branch of the tree, which is split by `axis`. The recursion depth is 18 for 200,000 cities.
    fn visit(&mut self, branch: &'a [Record], axis: Axis) {
        let (before, rest) = branch.split_at(branch.len() / 2);
        let Some((middle, after)) = rest.split_first() else { return };
        let city = City(middle);
        self.check(city);

        let past_middle_m = axis.of(self.from) - axis.of(city.at());
        let (near, far) = if past_middle_m < 0.0 { (before, after) } else { (after, before) };
        self.visit(near, axis.next());
        if past_middle_m.abs() - MAX_EDGE_M <= self.limit_m() {
            self.visit(far, axis.next());
        }
    }

    fn check(&mut self, city: City<'a>) {
        let [x, y, z] = city.at();
        let [from_x, from_y, from_z] = self.from;
        let to_centre_m = ((x - from_x).powi(2) + (y - from_y).powi(2) + (z - from_z).powi(2)).sqrt();
        let distance_m = to_centre_m - city.edge_m();
        if distance_m < self.limit_m() && (self.accepts)(city) {
            self.best = Some(Nearest { city, distance_m });
        }
    }

    fn limit_m(&self) -> f64 {
        self.best.map_or(MAX_DISTANCE_M, |best| best.distance_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prelude::*, test_runner::RngSeed};

    fn table() -> Table<'static> {
        Table::read(crate::CITIES).unwrap()
    }

    /// The distance to the nearest city, without the tree.
    fn nearest_of_all(table: &Table<'static>, position: Position) -> Option<f64> {
        let mut search = Search { from: point(position), accepts: |_| true, best: None };
        table.cities.iter().for_each(|record| search.check(City(record)));
        search.best.map(|best| best.distance_m)
    }

    #[test]
    fn straight_line_is_close_to_the_great_circle() {
        let check = |a: (f64, f64), b: (f64, f64)| {
            let (a, b) = (Position::new(a.0, a.1).unwrap(), Position::new(b.0, b.1).unwrap());
            let ([ax, ay, az], [bx, by, bz]) = (point(a), point(b));
            let line_m = ((ax - bx).powi(2) + (ay - by).powi(2) + (az - bz).powi(2)).sqrt();
            assert!((line_m - a.distance_m(b)).abs() < 1.1, "{a:?} {b:?}");
        };
        check((48.0, 2.0), (48.5, 2.9));
        check((-16.5, 179.6), (-16.9, -179.7));
        check((89.8, 10.0), (89.7, -170.0));
    }

    #[test]
    fn centre_of_a_city_is_in_it_or_in_a_larger_one() {
        let table = table();
        for record in table.cities.iter().step_by(1000) {
            let city = City(record);
            let nearest = nearest_of(&table, city.at(), |_| true);
            assert!(nearest.is_some_and(|nearest| nearest.distance_m <= -city.edge_m()), "{city:?}");
        }
    }

    proptest! {
        // Few cases, because each one checks all cities.
        #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn tree_search_equals_linear_search(
            latitude in prop_oneof![-90.0..=90.0_f64, -60.0..=75.0_f64],
            longitude in prop_oneof![-180.0..=180.0_f64, -180.0..=-179.0_f64, 179.0..=180.0_f64],
        ) {
            let (table, position) = (table(), Position::new(latitude, longitude).unwrap());
            let found = nearest(&table, position).map(|nearest| nearest.distance_m);
            prop_assert_eq!(found, nearest_of_all(&table, position));
        }

        #[test]
        fn tree_search_equals_linear_search_near_cities(index in 0..150_000_usize, north in -0.2..=0.2_f64, east in -0.2..=0.2_f64) {
            let table = table();
            let [x, y, z] = City(&table.cities[index]).at();
            let latitude = (z / EARTH_RADIUS_M).clamp(-1.0, 1.0).asin().to_degrees() + north;
            let longitude = y.atan2(x).to_degrees() + east;
            let position = Position::new(latitude.clamp(-90.0, 90.0), longitude.clamp(-180.0, 180.0)).unwrap();
            let found = nearest(&table, position).map(|nearest| nearest.distance_m);
            prop_assert_eq!(found, nearest_of_all(&table, position));
        }
    }
}
