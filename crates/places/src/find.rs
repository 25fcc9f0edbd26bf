//! Cities by name.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use domain::{EARTH_RADIUS_M, Position};

use crate::{
    CITIES,
    city::nearest_larger,
    table::{City, Table},
};

/// The most cities that a search returns.
pub const MAX_FOUND_CITIES: usize = 20;

/// A city with its country, in English.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundCity {
    pub name: &'static str,
    pub country: &'static str,
    /// The nearest clearly larger city. Set only if the country has several cities of this name and this one is not by far the
    /// largest of them.
    pub near: Option<&'static str>,
    /// Its centre, to about 10 metres.
    pub position: Position,
    /// Whether the text had its whole name, and not only the beginning. With another name, only if no city has it as its own.
    pub is_whole: bool,
    size: u8,
}

/// Formats a text for which [`find`] finds this city: `Lisbon, Portugal`, or `Bergen, Germany, near Celle`.
impl fmt::Display for FoundCity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.name, self.country)?;
        self.near.map_or(Ok(()), |near| write!(f, ", near {near}"))
    }
}

/// The cities whose names begin with a text, the most populous first, at most [`MAX_FOUND_CITIES`]. Names that equal the text come
/// before longer ones, and names in other languages must equal it. Letter case, accents and separators are ignored. After a comma,
/// the text may name the country, and after another comma a larger city nearby: `porto, br`, `bergen, germany, near celle`.
///
/// No two cities in the result have the same text. If several cities have the same name, country and larger city, only the most
/// populous one is returned.
///
/// Takes about a millisecond.
pub fn find(text: &str) -> Vec<FoundCity> {
    let mut parts = text.splitn(3, ',').map(words::fold);
    let mut part = || parts.next().unwrap_or_default();
    let (name, country, near) = (part(), part(), part());
    let near = near.strip_prefix("near").unwrap_or(&near).trim_start();
    let (Some(first), Some(table)) = (name.chars().next(), Table::read(CITIES)) else { return Vec::new() };
    let others: HashSet<usize> = table.other_names.named(&name).collect();
    let rank_of = |(number, record)| {
        let (city, has_other_name) = (City(record), others.contains(&number));
        Some((rank(&table, city, first, &name, &country, has_other_name)?, city))
    };
    let mut ranked: Vec<(Rank, City<'_>)> = table.cities.iter().enumerate().filter_map(rank_of).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let namesakes = Namesakes::of(&table, ranked.iter().map(|(_, city)| *city));
    let mut found: Vec<FoundCity> = Vec::new();
    let best = ranked.first().map(|((name, ..), _)| *name);
    for ((matched, ..), city) in ranked {
        if found.len() == MAX_FOUND_CITIES || (matched == MatchedName::Beginning && !near.is_empty()) {
            break;
        }
        let is_whole = matched != MatchedName::Beginning && Some(matched) == best;
        let Some(city) = found_city(&table, city, &namesakes, is_whole) else { continue };
        let is_near = near.is_empty() || city.near.is_some_and(|name| words::fold(name).starts_with(near));
        if is_near && found.iter().all(|other| other.to_string() != city.to_string()) {
            found.push(city);
        }
    }
    found
}

/// The city that a text means, among the cities that [`find`] found: the only one with a whole name that matches, else the only one
/// at all. If several whole names match, the first city counts if it is by far the largest.
pub fn unambiguous(cities: &[FoundCity]) -> Option<&FoundCity> {
    let whole: Vec<&FoundCity> = cities.iter().filter(|city| city.is_whole).collect();
    match (whole.as_slice(), cities) {
        ([city], _) => Some(city),
        ([], [city]) => Some(city),
        ([city, second, ..], _) if is_by_far_larger(city.size, second.size) => Some(city),
        _ => None,
    }
}

/// Whether a city has at least about three times the people of another one, by their radii.
fn is_by_far_larger(size: u8, other: u8) -> bool {
    4 * u16::from(size) >= 7 * u16::from(other)
}

/// For each name and country, the sizes of the largest and the second largest city.
struct Namesakes(HashMap<(&'static str, &'static str), (u8, u8)>);

impl Namesakes {
    fn of(table: &Table<'static>, cities: impl Iterator<Item = City<'static>>) -> Self {
        let mut sizes: HashMap<_, (u8, u8)> = HashMap::new();
        for city in cities {
            let (Some(name), Some(country)) = (table.city_name(city), table.country_name(city)) else {
                continue;
            };
            let (largest, second) = sizes.entry((name, country)).or_default();
            match city.size() {
                size if size > *largest => (*largest, *second) = (size, *largest),
                size => *second = size.max(*second),
            }
        }
        Self(sizes)
    }

    /// Whether a city is the only one of its name in its country, or by far the largest.
    fn has_no_rival(&self, key: (&'static str, &'static str), size: u8) -> bool {
        let (largest, second) = self.0.get(&key).copied().unwrap_or_default();
        size == largest && is_by_far_larger(largest, second)
    }
}

/// Which name of a city matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MatchedName {
    Own,
    Other,
    Beginning,
}

/// The order of cities: those whose whole name matches, then large ones, then by name.
type Rank = (MatchedName, u32, &'static str);

/// The rank of a city; `None` if the city does not match.
fn rank(
    table: &Table<'static>,
    city: City<'_>,
    first: char,
    name: &str,
    country: &str,
    has_other_name: bool,
) -> Option<Rank> {
    let own_name = table.city_name(city)?;
    // Most names are rejected by their first letter, without folding them.
    let is_other = own_name.chars().next().is_some_and(|own| {
        own.is_ascii_alphabetic() && first.is_ascii_alphabetic() && own.to_ascii_lowercase() != first
    });
    if is_other && !has_other_name {
        return None;
    }
    let folded = words::fold(own_name);
    let matched = match folded.strip_prefix(name) {
        Some("") => MatchedName::Own,
        _ if has_other_name => MatchedName::Other,
        Some(_) => MatchedName::Beginning,
        None => return None,
    };
    let is_in_country = || Some(words::fold(table.country_name(city)?).starts_with(country));
    if !(country.is_empty() || is_in_country()?) {
        return None;
    }
    Some((matched, u32::MAX - u32::from(city.size()), own_name))
}

fn found_city(
    table: &Table<'static>,
    city: City<'static>,
    namesakes: &Namesakes,
    is_whole: bool,
) -> Option<FoundCity> {
    let [x, y, z] = city.at();
    let rounded = |degrees: f64| (degrees * 10_000.0).round() / 10_000.0;
    let latitude = rounded((z / EARTH_RADIUS_M).clamp(-1.0, 1.0).asin().to_degrees());
    let longitude = rounded(y.atan2(x).to_degrees());
    let (name, country) = (table.city_name(city)?, table.country_name(city)?);
    let needs_near = !namesakes.has_no_rival((name, country), city.size());
    let near = needs_near.then(|| nearest_larger(table, city)).flatten();
    Some(FoundCity {
        name,
        country,
        near: near.and_then(|near| table.city_name(near)),
        position: Position::new(latitude, longitude).ok()?,
        is_whole,
        size: city.size(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
        check("Lisboa", "Lisbon, Portugal");
        check("münchen, germany", "Munich, Germany");
        check("東京", "Tokyo, Japan");
    }

    #[test]
    fn cities_of_one_name_in_a_country_are_told_apart() {
        let bergen: Vec<String> = find("bergen, germany").iter().map(ToString::to_string).collect();
        assert!(bergen.contains(&"Bergen, Germany, near Celle".to_owned()), "{bergen:?}");
        for text in ["bergen", "springfield", "san jose", "paris", "neustadt", "a"] {
            let texts: Vec<String> = find(text).iter().map(ToString::to_string).collect();
            let distinct: HashSet<&String> = texts.iter().collect();
            assert_eq!(distinct.len(), texts.len(), "{texts:?}");
        }
        // The only city of its name, or by far the largest one.
        for text in ["Lisbon, Portugal", "Paris, France", "London, United Kingdom"] {
            assert_eq!(find(text)[0].to_string(), text);
        }
    }

    #[test]
    fn a_text_means_a_city_that_is_by_far_the_largest() {
        let meant = |text: &str| unambiguous(&find(text)).map(ToString::to_string);
        for (text, expect) in [
            ("lisbon", Some("Lisbon, Portugal")),
            ("Paris", Some("Paris, France")),
            ("london", Some("London, United Kingdom")),
            ("rio de jan", Some("Rio de Janeiro, Brazil")),
            ("bergen, germany", None),
            ("springfield", None),
            ("sprin", None),
            ("xqzzy", None),
        ] {
            assert_eq!(meant(text).as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn a_city_is_found_by_its_own_text() {
        for text in ["bergen", "springfield", "san jose", "paris", "neustadt", "lisbon", "york"] {
            for city in find(text) {
                assert_eq!(find(&city.to_string())[0].position, city.position, "{city}");
            }
        }
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
