//! Cities by name.

use domain::{EARTH_RADIUS_M, Position};

use crate::{
    CITIES,
    table::{City, Table},
};

/// The most cities that a search returns.
pub const MAX_FOUND_CITIES: usize = 20;

/// A city with its country, in English.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundCity {
    /// Its name.
    pub name: &'static str,
    /// Its country.
    pub country: &'static str,
    /// Its centre, to about 10 metres.
    pub position: Position,
}

/// The cities whose names begin with a text, the most populous first, at most [`MAX_FOUND_CITIES`]. Names that equal the text
/// come before longer ones. Letter case, accents and separators are ignored. A country may follow after a comma:
/// `porto, br`.
///
/// Takes about a millisecond.
pub fn find(text: &str) -> Vec<FoundCity> {
    let (name, country) = text.split_once(',').unwrap_or((text, ""));
    let (name, country) = (words::fold(name), words::fold(country));
    let (Some(first), Some(table)) = (name.chars().next(), Table::read(CITIES)) else { return Vec::new() };
    let mut found: Vec<(Rank, City<'_>)> = table
        .cities
        .iter()
        .map(City)
        .filter_map(|city| Some((rank(&table, city, first, &name, &country)?, city)))
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.truncate(MAX_FOUND_CITIES);
    found.into_iter().filter_map(|(_, city)| found_city(&table, city)).collect()
}

/// The order of cities: those whose whole name matches, then large ones, then by name.
type Rank = (bool, u32, &'static str);

/// `None` if the city does not match.
fn rank(table: &Table<'static>, city: City<'_>, first: char, name: &str, country: &str) -> Option<Rank> {
    let own_name = table.city_name(city)?;
    // Most names are rejected by their first letter, without folding them.
    let is_other = own_name.chars().next().is_some_and(|own| {
        own.is_ascii_alphabetic() && first.is_ascii_alphabetic() && own.to_ascii_lowercase() != first
    });
    if is_other {
        return None;
    }
    let folded = words::fold(own_name);
    let is_in_country = || Some(words::fold(table.country_name(city)?).starts_with(country));
    if !folded.starts_with(name) || !(country.is_empty() || is_in_country()?) {
        return None;
    }
    Some((folded.len() > name.len(), u32::MAX - u32::from(city.size()), own_name))
}

fn found_city(table: &Table<'static>, city: City<'_>) -> Option<FoundCity> {
    let [x, y, z] = city.at();
    let rounded = |degrees: f64| (degrees * 10_000.0).round() / 10_000.0;
    let latitude = rounded((z / EARTH_RADIUS_M).clamp(-1.0, 1.0).asin().to_degrees());
    let longitude = rounded(y.atan2(x).to_degrees());
    Some(FoundCity {
        name: table.city_name(city)?,
        country: table.country_name(city)?,
        position: Position::new(latitude, longitude).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        find(text).iter().map(|city| format!("{}, {}", city.name, city.country)).collect()
    }

    #[test]
    fn cities_are_found_by_the_beginning_of_their_names() {
        let check = |text: &str, expect: &str| {
            assert_eq!(names(text).first().map(String::as_str), Some(expect), "{text}");
        };
        check("Lisbon", "Lisbon, Portugal");
        check("lisbo", "Lisbon, Portugal");
        check(" PARIS ", "Paris, France");
        check("paris, united", "Paris, United States");
        check("sao paulo", "São Paulo, Brazil");
        check("São Paulo", "São Paulo, Brazil");
        check("new york", "New York City, United States");
        check("rio de jan", "Rio de Janeiro, Brazil");
        check("Zürich", "Zürich, Switzerland");
        check("zurich, switz", "Zürich, Switzerland");
    }

    #[test]
    fn a_found_city_is_the_place_of_its_position() {
        for text in ["Lisbon", "Suva", "Nuuk", "Sydney, Aus", "Reykjavik"] {
            let city = find(text).remove(0);
            assert_eq!(
                crate::place(city.position),
                Some(format!("{}, {}", city.name, city.country)),
                "{text}"
            );
        }
    }

    #[test]
    fn results_are_bounded() {
        assert_eq!(find("a").len(), MAX_FOUND_CITIES);
        for none in ["", " ", ",", ", France", "xqzzy", "Paris, Nowhere"] {
            assert_eq!(names(none), [""; 0], "{none}");
        }
    }
}
