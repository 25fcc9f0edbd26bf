//! Selects the GeoNames places that count as cities, and their names.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use super::City;

/// Parts of towns, and places that no longer exist: historical, abandoned, destroyed, former capitals.
const LEFT_OUT: [&str; 5] = ["PPLX", "PPLH", "PPLQ", "PPLW", "PPLCH"];

/// A place without a code counts as a part of a bigger place that contains it. The bigger place is assumed to be a disc
/// with this population density, typical of a spread-out city.
const PEOPLE_PER_KM2: f64 = 2000.0;
const MAX_REACH_KM: f64 = 25.0;
const KM_PER_DEGREE: f64 = 111.2;

/// Usual English names of countries, where GeoNames has none or another.
const COUNTRY_NAMES: [(&str, &str); 8] = [
    ("AX", "Åland"),
    ("BL", "Saint Barthélemy"),
    ("BQ", "Caribbean Netherlands"),
    ("CW", "Curaçao"),
    ("NL", "Netherlands"),
    ("RE", "Réunion"),
    ("ST", "São Tomé and Príncipe"),
    ("TL", "Timor-Leste"),
];

pub(super) fn country_name(code: &str, in_geonames: &str) -> String {
    let ours = COUNTRY_NAMES.iter().find(|(other, _)| *other == code);
    ours.map_or(in_geonames.trim(), |(_, name)| name).to_owned()
}

/// The places that count as cities, in any order.
pub(super) fn cities(places: Vec<City>, codes: &BTreeMap<u32, String>) -> Vec<City> {
    let mut places: Vec<City> = places
        .into_iter()
        .filter(|place| codes.get(&place.id).is_none_or(|code| !LEFT_OUT.contains(&code.as_str())))
        .filter_map(|place| Some(City { name: plain_name(&place.name)?, ..place }))
        .collect();
    places.sort_by(|a, b| a.latitude.total_cmp(&b.latitude));
    places
        .iter()
        .filter(|place| codes.contains_key(&place.id) || !is_part_of_another(place, &places))
        .cloned()
        .collect()
}

/// The name up to a comma, which may precede a region or a second name. `None` if it is not in Latin letters.
fn plain_name(name: &str) -> Option<String> {
    let name = name.split(',').next()?.trim();
    let latin = |c| matches!(c, 'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}');
    name.contains(latin).then(|| name.to_owned())
}

/// Whether a bigger place contains this one. `places` is sorted by latitude.
fn is_part_of_another(place: &City, places: &[City]) -> bool {
    let band = MAX_REACH_KM / KM_PER_DEGREE;
    let first = places.partition_point(|other| other.latitude < place.latitude - band);
    places
        .iter()
        .skip(first)
        .take_while(|other| other.latitude <= place.latitude + band)
        .filter(|other| other.population > place.population)
        .any(|other| distance_km(place, other) < reach_km(other.population))
}

fn reach_km(population: u32) -> f64 {
    (f64::from(population) / PEOPLE_PER_KM2 / PI).sqrt().min(MAX_REACH_KM)
}

/// Approximation for places near each other and far from the poles.
fn distance_km(a: &City, b: &City) -> f64 {
    let east = (a.longitude - b.longitude) * a.latitude.to_radians().cos();
    (a.latitude - b.latitude).hypot(east) * KM_PER_DEGREE
}

#[cfg(test)]
mod tests {
    use super::super::city;
    use super::*;

    #[test]
    fn parts_of_towns_are_left_out() {
        let places = vec![
            city(1, "Paris", (48.853_41, 2.348_8), 2_138_551),
            city(2, "Paris 04 Hôtel-de-Ville", (48.853_6, 2.357_3), 27_332),
            city(3, "Neuilly-sur-Seine", (48.884_6, 2.269_65), 61_300),
            city(4, "Charonne", (48.856, 2.39), 3000),
            city(5, "Barbizon", (48.445, 2.604), 1200),
        ];
        let codes = [(1, "PPLC"), (3, "PPL"), (4, "PPLX")].map(|(id, code)| (id, code.to_owned()));
        let kept = cities(places, &BTreeMap::from(codes));
        let mut names: Vec<&str> = kept.iter().map(|city| city.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["Barbizon", "Neuilly-sur-Seine", "Paris"]);
    }

    #[test]
    fn names_are_latin_and_end_at_a_comma() {
        let check = |name: &str, expect: Option<&str>| assert_eq!(plain_name(name).as_deref(), expect);
        check("Washington, D.C.", Some("Washington"));
        check(" Łódź ", Some("Łódź"));
        check("Å", Some("Å"));
        check("Слупчане", None);
        check("", None);
    }

    #[test]
    fn countries_have_their_usual_names() {
        let check = |code, name, expect: &str| assert_eq!(country_name(code, name), expect);
        check("NL", "The Netherlands", "Netherlands");
        check("BQ", "Bonaire, Saint Eustatius and Saba ", "Caribbean Netherlands");
        check("FR", "France", "France");
    }
}
