//! The largest cities of an area, and the countries.

use std::{collections::HashMap, sync::LazyLock};

use domain::{MapArea, MapPoint, Position};

use crate::table::{City, Point, Table};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CityOnMap {
    /// Its name in English, without the country.
    pub name: &'static str,
    pub at: MapPoint,
    /// 2 m × √population, at most 2,550 m.
    pub radius_m: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountryOnMap {
    /// Its name in English.
    pub name: &'static str,
    /// The middle of its cities.
    pub at: MapPoint,
}

/// Up to `max` cities of an area, the largest first. Cities with more than 1.6 million people count as equally large.
///
/// The first call sorts all cities, which takes some hundredths of a second. Further ones take up to a millisecond.
pub fn largest_cities(area: &MapArea, max: usize) -> Vec<CityOnMap> {
    static CITIES: LazyLock<Vec<CityOnMap>> = LazyLock::new(by_size);
    CITIES.iter().filter(|city| area.contains(city.at)).take(max).copied().collect()
}

/// The countries, those with the most and largest cities first. The first call reads all cities.
pub fn countries() -> &'static [CountryOnMap] {
    static COUNTRIES: LazyLock<Vec<CountryOnMap>> = LazyLock::new(by_cities);
    &COUNTRIES
}

fn by_size() -> Vec<CityOnMap> {
    let Some(table) = Table::read(crate::CITIES) else { return Vec::new() };
    let mut cities: Vec<City> = table.cities.iter().map(City).collect();
    cities.sort_by(|a, b| b.edge_m().total_cmp(&a.edge_m()));
    let on_map = |city: City| {
        let at = MapPoint::of(position(city.at())?);
        Some(CityOnMap { name: table.city_name(city)?, at, radius_m: city.edge_m() })
    };
    cities.into_iter().filter_map(on_map).collect()
}

fn by_cities() -> Vec<CountryOnMap> {
    let Some(table) = Table::read(crate::CITIES) else { return Vec::new() };
    // The total size of the cities, and the sum of their centres by size.
    let mut countries: HashMap<&'static str, (f64, Point)> = HashMap::new();
    for city in table.cities.iter().map(City) {
        let Some(name) = table.country_name(city) else { continue };
        let (size, [x, y, z]) = (city.edge_m(), city.at());
        let (total, sum) = countries.entry(name).or_default();
        *total += size;
        *sum = [sum[0] + x * size, sum[1] + y * size, sum[2] + z * size];
    }
    let mut countries: Vec<_> = countries.into_iter().collect();
    countries.sort_by(|(_, (one, _)), (_, (other, _))| other.total_cmp(one));
    let on_map = |(name, (_, sum))| Some(CountryOnMap { name, at: MapPoint::of(position(sum)?) });
    countries.into_iter().filter_map(on_map).collect()
}

/// The position below or above a point.
fn position([x, y, z]: Point) -> Option<Position> {
    let latitude = z.atan2(x.hypot(y)).to_degrees();
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
        let lisbon = largest_cities(&portugal, 1)[0];
        assert!((1_300.0..1_600.0).contains(&lisbon.radius_m));
    }

    #[test]
    fn countries_are_where_their_cities_are() {
        assert!(countries().len() > 200);
        let spain = countries().iter().find(|country| country.name == "Spain").unwrap();
        let position = spain.at.position();
        assert!((37.0..42.0).contains(&position.latitude()) && (-6.0..0.0).contains(&position.longitude()));
    }
}
