//! The largest cities of an area.

use std::sync::LazyLock;

use domain::{EARTH_RADIUS_M, MapArea, MapPoint, Position};

use crate::table::{City, Table};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CityOnMap {
    /// Its name in English, without the country.
    pub name: &'static str,
    pub at: MapPoint,
}

/// Up to `max` cities of an area, the largest first. Cities with more than 1.6 million people count as equally large.
///
/// The first call sorts all cities, which takes some hundredths of a second. Further ones take up to a millisecond.
pub fn largest_cities(area: &MapArea, max: usize) -> Vec<CityOnMap> {
    static CITIES: LazyLock<Vec<CityOnMap>> = LazyLock::new(by_size);
    CITIES.iter().filter(|city| area.contains(city.at)).take(max).copied().collect()
}

fn by_size() -> Vec<CityOnMap> {
    let Some(table) = Table::read(crate::CITIES) else { return Vec::new() };
    let mut cities: Vec<City> = table.cities.iter().map(City).collect();
    cities.sort_by(|a, b| b.edge_m().total_cmp(&a.edge_m()));
    let on_map = |city| Some(CityOnMap { name: table.city_name(city)?, at: MapPoint::of(position(city)?) });
    cities.into_iter().filter_map(on_map).collect()
}

fn position(city: City) -> Option<Position> {
    let [x, y, z] = city.at();
    let latitude = (z / EARTH_RADIUS_M).clamp(-1.0, 1.0).asin().to_degrees();
    Position::new(latitude, y.atan2(x).to_degrees()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_cities_come_first() {
        let names = |area: MapArea, max| {
            largest_cities(&area, max).into_iter().map(|city| city.name).collect::<Vec<_>>()
        };
        let portugal = MapArea::new(-9.6, 37.0, -7.5, 42.0).unwrap();
        assert_eq!(names(portugal, 2), ["Lisbon", "Porto"]);
        let fiji = MapArea::new(177.0, -19.0, -179.0, -16.0).unwrap();
        assert!(names(fiji, 3).contains(&"Suva"));
        assert_eq!(names(MapArea::new(-40.0, 29.0, -39.0, 30.0).unwrap(), 5), [""; 0]);
        assert_eq!(names(MapArea::WORLD, 40).len(), 40);
    }
}
