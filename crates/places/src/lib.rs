//! The time zone, city and country at a position, and the outlines of the world, from data that is compiled into the program. The
//! crate needs no network, no files, and no time zone database of the system.
//!
//! All data is read in place from the read-only part of the program. The first look-up of a time zone checks the zone
//! boundaries once, which takes a few milliseconds. All functions can be called from any thread.
//!
//! `docs/data.md` lists sources and licences; `data/README.md` describes the formats of cities and outlines.
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
mod table;
mod time_zone;

use domain::Position;

use table::Table;

pub use find::{FoundCity, MAX_FOUND_CITIES, find, unambiguous};
pub use land::{LAND_WIDTH, Outline, World, world};
pub use largest::{CityOnMap, largest_cities};
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
    let table = Table::read(CITIES)?;
    let city = city::nearest(&table, position)?.city;
    Some(format!("{}, {}", table.city_name(city)?, table.country_name(city)?))
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
