//! The time zone, city, region and country at a position, names of places in many languages, and the map of the world, from
//! data that is compiled into the program. The crate needs no network, no files, and no time zone database of the system.
//!
//! All data is read in place from the read-only part of the program. The first look-up of a time zone checks the zone
//! boundaries once, which takes a few milliseconds. All functions can be called from any thread.
//!
//! `docs/data.md` lists sources and licences; `data/README.md` describes the formats of cities and map.
//!
//! ```
//! use domain::Position;
//! use jiff::civil::date;
//!
//! let eiffel_tower = Position::new(48.858_4, 2.294_5)?;
//! assert_eq!(places::place(eiffel_tower).as_deref(), Some("Paris, France"));
//! assert_eq!(places::time_zone(eiffel_tower), Some("Europe/Paris"));
//!
//! let noon_in_july = date(2024, 7, 1).at(12, 0, 0, 0);
//! assert_eq!(places::offset_minutes(eiffel_tower, noon_in_july), Some(120));
//! # Ok::<(), domain::Invalid>(())
//! ```

mod city;
mod find;
mod land;
mod largest;
mod other_names;
mod table;
mod time_zone;

use domain::Position;

use table::Table;

pub use find::{FoundCity, MAX_FOUND_CITIES, find, unambiguous};
pub use land::{Detail, Ground, LAND_WIDTH, Line, ground};
pub use largest::{CityOnMap, CountryOnMap, countries, largest_cities};
pub use table::PlacePath;
pub use time_zone::{
    is_offset_in_use, is_zone, offset_minutes, offset_minutes_at, time_zone, zone_offset_minutes,
};

/// The cities, packed by `cargo xtask places`.
static CITIES: &[u8] = include_bytes!("../data/cities.bin");

/// The nearest city and its country in English, such as `Lisbon, Portugal`.
///
/// A city is a disc with a radius of 2 m × √population (200 m for 10,000 people), at most 2,550 m. Without this, the
/// Eiffel Tower would be in Neuilly-sur-Seine, whose centre is nearer than that of Paris. Parts of a town count as the town.
/// Near a border, the nearest city can be in another country.
///
/// `None` if no city's edge is within 100 km: on the open sea, in a desert, on the ice.
pub fn place(position: Position) -> Option<String> {
    let PlacePath { city, country, .. } = path(position)?;
    Some(format!("{}, {country}", city?))
}

/// The city, region and country of [`place`].
pub fn path(position: Position) -> Option<PlacePath<'static>> {
    let table = Table::read(CITIES)?;
    table.city_path(city::nearest(&table, position)?.city)
}

/// The version of the regions of positions. Increase it when `cities.bin` has other ones: stored regions are then replaced.
pub const REGIONS_VERSION: u32 = 1;

/// The cities, regions and countries that have a name besides their English one: `Lisboa`, `Bayern`, `東京`. Letter case, accents
/// and separators are ignored. A name in several languages can mean several places.
///
/// Takes some microseconds. Of cities, only those with about 40,000 people or more have other names.
pub fn with_other_name(name: &str) -> Vec<PlacePath<'static>> {
    let Some(table) = Table::read(CITIES) else { return Vec::new() };
    table.other_names.named(&words::fold(name)).filter_map(|number| table.path(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_positions_have_the_expected_places() {
        let check = |latitude: f64, longitude: f64, expect: &str| {
            let position = Position::new(latitude, longitude).unwrap();
            assert_eq!(place(position).as_deref(), Some(expect), "{latitude}, {longitude}");
        };
        check(48.8566, 2.3522, "Paris, France");
        check(48.8049, 2.1204, "Versailles, France");
        check(40.7128, -74.0060, "New York City, United States");
        check(40.7440, -74.0324, "Hoboken, United States");
        check(51.5007, -0.1246, "London, United Kingdom");
        check(38.7223, -9.1393, "Lisbon, Portugal");
        check(46.2044, 6.1432, "Geneva, Switzerland");
        check(52.5163, 13.3777, "Berlin, Germany");
        check(52.3676, 4.9041, "Amsterdam, Netherlands");
        check(41.9022, 12.4539, "Vatican City, Vatican");
        check(41.8902, 12.4922, "Rome, Italy");
        check(50.4501, 30.5234, "Kyiv, Ukraine");
        check(51.1282, 71.4307, "Astana, Kazakhstan");
        check(35.6586, 139.7454, "Tokyo, Japan");
        check(28.6139, 77.2090, "New Delhi, India");
        check(1.2834, 103.8607, "Singapore, Singapore");
        check(-33.8568, 151.2153, "Sydney, Australia");
        check(-22.9519, -43.2105, "Rio de Janeiro, Brazil");
        check(47.5576, 10.7498, "Schwangau, Germany");
        check(64.1814, -51.6941, "Nuuk, Greenland");
        check(78.2232, 15.6267, "Longyearbyen, Svalbard and Jan Mayen");
        check(-27.1127, -109.3497, "Hanga Roa, Chile");
    }

    #[test]
    fn known_positions_have_the_expected_regions() {
        let check = |latitude: f64, longitude: f64, region: Option<&str>, country: &str| {
            let path = path(Position::new(latitude, longitude).unwrap()).unwrap();
            assert_eq!((path.region, path.country), (region, country), "{path:?}");
        };
        check(48.137, 11.575, Some("Bavaria"), "Germany");
        check(34.05, -118.24, Some("California"), "United States");
        check(40.7128, -74.0060, Some("New York"), "United States");
        check(38.7223, -9.1393, Some("Lisbon"), "Portugal");
        check(35.6586, 139.7454, Some("Tokyo"), "Japan");
        check(43.77, 11.25, Some("Tuscany"), "Italy");
        check(48.8566, 2.3522, Some("Île-de-France"), "France");
        check(55.95, -3.19, Some("Scotland"), "United Kingdom");
        check(46.48, 30.73, Some("Odessa Oblast"), "Ukraine");
        check(40.84, 111.75, Some("Inner Mongolia"), "China");
        check(1.2834, 103.8607, None, "Singapore");
        check(41.9022, 12.4539, None, "Vatican");
    }

    #[test]
    fn places_have_other_names_in_several_scripts() {
        let check = |name: &str, expect: &str| {
            let found = with_other_name(name);
            let path = |path: &PlacePath<'_>| {
                let parts = [path.city, path.region, Some(path.country)];
                parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
            };
            let found: Vec<String> = found.iter().map(path).collect();
            assert!(found.iter().any(|found| found == expect), "{name}: {found:?}");
        };
        for name in ["Lisboa", "LISSABON", "lisbonne"] {
            check(name, "Lisbon, Lisbon, Portugal");
        }
        check("München", "Munich, Bavaria, Germany");
        check("Muenchen", "Munich, Bavaria, Germany");
        check("Мюнхен", "Munich, Bavaria, Germany");
        check("New York", "New York City, New York, United States");
        check("東京", "Tokyo, Tokyo, Japan");
        check("東京", "Tokyo, Japan");
        check("Москва", "Moscow, Moscow, Russia");
        check("القاهرة", "Cairo, Cairo, Egypt");
        check("서울", "Seoul, Seoul, South Korea");
        check("Αθήνα", "Athens, Attica, Greece");
        check("ירושלים", "Jerusalem, Jerusalem, Israel");
        check("Venezia", "Venice, Veneto, Italy");
        check("Wien", "Vienna, Vienna, Austria");
        check("Bayern", "Bavaria, Germany");
        check("Bavière", "Bavaria, Germany");
        check("Бавария", "Bavaria, Germany");
        check("Kalifornien", "California, United States");
        check("Toscana", "Tuscany, Italy");
        check("Catalunya", "Catalonia, Spain");
        check("北京市", "Beijing, China");
        check("Deutschland", "Germany");
        check("Allemagne", "Germany");
        check("ドイツ", "Germany");
        check("Россия", "Russia");
        check("中国", "China");
        check("مصر", "Egypt");
        check("USA", "United States");
        check("UK", "United Kingdom");
        check("Holland", "Netherlands");
        check("Czech Republic", "Czechia");
    }

    #[test]
    fn names_of_countries_are_not_those_of_their_capitals() {
        for name in ["México", "Mexiko", "Guatemala", "Luxemburg", "Monaco"] {
            let found = with_other_name(name);
            assert!(found.iter().all(|path| path.city.is_none()), "{name}: {found:?}");
        }
        assert_eq!(with_other_name("Nowhere at all"), []);
        assert_eq!(with_other_name(""), []);
    }

    #[test]
    fn cities_are_found_across_the_date_line() {
        let check = |longitude: f64, expect: &str| {
            let position = Position::new(-16.85, longitude).unwrap();
            assert_eq!(place(position).as_deref(), Some(expect), "{longitude}");
        };
        check(179.97, "Savusavu, Fiji");
        check(180.0, "Savusavu, Fiji");
        check(-180.0, "Savusavu, Fiji");
        check(-179.97, "Savusavu, Fiji");
    }

    #[test]
    fn positions_far_from_any_city_have_no_place() {
        for (latitude, longitude) in [
            (90.0, 0.0),
            (-90.0, 180.0),
            (0.0, 0.0),
            (-48.88, -123.39),
            (30.0, -40.0),
            (75.0, -40.0),
            (23.4, 10.0),
        ] {
            let position = Position::new(latitude, longitude).unwrap();
            assert_eq!(place(position), None, "{latitude}, {longitude}");
        }
    }

    proptest! {
        #[test]
        fn every_position_has_a_zone_and_perhaps_a_place(
            latitude in -90.0..=90.0_f64,
            longitude in -180.0..=180.0_f64,
        ) {
            let position = Position::new(latitude, longitude).unwrap();
            prop_assert!(time_zone(position).is_some());
            if let Some(place) = place(position) {
                prop_assert_eq!(place.matches(", ").count(), 1, "{}", place);
            }
        }
    }
}
