//! The other names of cities, regions and countries, packed so that a binary search finds them.

use std::collections::BTreeSet;

use super::{City, PlacesError, pack::number};

/// The names in a block. Only the first one is stored whole.
const BLOCK: usize = 16;

/// Cities with at least this many people have their names in all scripts.
const EVERY_SCRIPT: u32 = 1_000_000;

/// Cities with at least this many people have their names in Latin letters and in the scripts of their country.
const OWN_SCRIPT: u32 = 40_000;

/// Upper bound on the bytes of a folded name. Longer ones are descriptions.
const MAX_BYTES: usize = 60;

/// Folded names, and the numbers of what they name.
#[derive(Debug, Default)]
pub(super) struct OtherNames(BTreeSet<(String, usize)>);

impl OtherNames {
    /// Adds the names of a city, region or country, but for those that fold to its own name.
    pub(super) fn add<'a>(&mut self, target: usize, own: &str, names: impl Iterator<Item = &'a str>) {
        let own = words::fold(own);
        let folded = names.map(words::fold);
        let others = folded.filter(|name| !name.is_empty() && name.len() <= MAX_BYTES && *name != own);
        self.0.extend(others.map(|name| (name, target)));
    }

    /// The offsets of the blocks, and the names: the length of the beginning shared with the name before, the length of the rest,
    /// the rest, and the number of what is named.
    pub(super) fn pack(&self) -> Result<(Vec<[u8; 3]>, Vec<u8>), PlacesError> {
        let (mut blocks, mut packed, mut before) = (Vec::new(), Vec::new(), "");
        for (index, (name, target)) in self.0.iter().enumerate() {
            if index % BLOCK == 0 {
                blocks.push(number(packed.len(), "length of the other names")?);
                before = "";
            }
            let shared = before.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            let rest = name.as_bytes().get(shared..).unwrap_or_default();
            packed.extend(number::<1>(shared, "length of a name")?);
            packed.extend(number::<1>(rest.len(), "length of a name")?);
            packed.extend(rest);
            packed.extend(number::<3>(*target, "number of a place")?);
            before = name;
        }
        Ok((blocks, packed))
    }
}

/// The names of a city that searches may use. `countries` has the folded names of all countries, which mean these: Mexico is not
/// Mexico City.
pub(super) fn of_city<'a>(city: &'a City, countries: &'a BTreeSet<String>) -> impl Iterator<Item = &'a str> {
    let names = if city.population < OWN_SCRIPT { &[] } else { city.others.as_slice() };
    names.iter().map(String::as_str).filter(|name| {
        is_name(name)
            && (city.population >= EVERY_SCRIPT || is_written_in(name, &city.country))
            && !countries.contains(&words::fold(name))
    })
}

/// Whether it is a name, and not a transliteration, which GeoNames writes with a small letter, or an explanation.
fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_lowercase() || c == '\'') && !name.contains(['(', ','])
}

/// Whether a country uses the scripts of all letters of a name. Latin letters are used everywhere.
fn is_written_in(name: &str, country: &str) -> bool {
    let is_used = |c: char| {
        u32::from(c) < 0x250 || matches!(c, '\u{1E00}'..='\u{206F}') || scripts(c).contains(&country)
    };
    name.chars().all(is_used)
}

/// The countries that use the script of a letter.
fn scripts(c: char) -> &'static [&'static str] {
    match c {
        '\u{370}'..='\u{3FF}' => &["GR", "CY"],
        '\u{400}'..='\u{52F}' => {
            &["RU", "UA", "BY", "BG", "RS", "MK", "KZ", "KG", "MN", "TJ", "ME", "BA", "XK", "UZ"]
        }
        '\u{530}'..='\u{58F}' => &["AM"],
        '\u{590}'..='\u{5FF}' => &["IL", "PS"],
        '\u{600}'..='\u{6FF}' => &[
            "AE", "BH", "DJ", "DZ", "EG", "EH", "IL", "IQ", "IR", "JO", "KM", "KW", "LB", "LY", "MA", "MR",
            "OM", "PK", "PS", "QA", "SA", "SD", "SO", "SY", "TD", "TN", "YE", "AF",
        ],
        '\u{900}'..='\u{97F}' => &["IN", "NP"],
        '\u{980}'..='\u{9FF}' => &["BD", "IN"],
        '\u{A00}'..='\u{D7F}' => &["IN", "LK", "SG"],
        '\u{D80}'..='\u{DFF}' => &["LK"],
        '\u{E00}'..='\u{E7F}' => &["TH"],
        '\u{E80}'..='\u{EFF}' => &["LA"],
        '\u{1000}'..='\u{109F}' => &["MM"],
        '\u{10A0}'..='\u{10FF}' => &["GE"],
        '\u{1200}'..='\u{139F}' => &["ER", "ET"],
        '\u{1780}'..='\u{17FF}' => &["KH"],
        '\u{3040}'..='\u{30FF}' => &["JP"],
        '\u{3400}'..='\u{9FFF}' => &["CN", "HK", "JP", "MO", "SG", "TW"],
        '\u{AC00}'..='\u{D7AF}' => &["KP", "KR"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::super::city;
    use super::*;

    #[test]
    fn names_are_packed_by_what_they_share() {
        let mut names = OtherNames::default();
        names.add(7, "Lisbon", ["Lisboa", "LISBON", "Lissabon", ""].into_iter());
        let (blocks, packed) = names.pack().unwrap();
        assert_eq!(blocks, [[0; 3]]);
        assert_eq!(packed, b"\0\x06lisboa\x07\0\0\x03\x05sabon\x07\0\0");
    }

    #[test]
    fn cities_have_the_names_of_their_size() {
        let check = |population, country: &str, expect: &[&str]| {
            let others = ["Praga", "Прага", "프라하", "bu la ge", "Prague (city)", "Tschechien"];
            let others = others.map(str::to_owned).to_vec();
            let country = country.to_owned();
            let city = City { others, country, ..city(1, "Prague", (50.0, 14.0), population) };
            let countries = BTreeSet::from(["tschechien".to_owned()]);
            assert_eq!(of_city(&city, &countries).collect::<Vec<_>>(), expect);
        };
        check(1_200_000, "CZ", &["Praga", "Прага", "프라하"]);
        check(200_000, "CZ", &["Praga"]);
        check(200_000, "UA", &["Praga", "Прага"]);
        check(20_000, "UA", &[]);
    }
}
