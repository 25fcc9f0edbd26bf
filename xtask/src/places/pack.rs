//! Packs the data file of the crate `places`. `crates/places/data/README.md` describes the format.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{self, OtherNames};
use super::regions::{Named, folded_names};
use super::{City, PlacesError};

const MAGIC: &[u8; 8] = b"places02";
/// The Earth's radius in the units of the file: the largest signed 24-bit number.
const RADIUS: f64 = 8_388_607.0;
/// A city's radius is this times the square root of its population, stored in steps of [`EDGE_STEP_M`].
const EDGE_M: f64 = 2.0;
const EDGE_STEP_M: f64 = 10.0;

struct Packed<'a> {
    /// Coordinates from the Earth's centre. The axes point to 0° E and 90° E on the equator, and to the North Pole.
    at: [i32; 3],
    city: &'a City,
}

/// The whole file. `regions` maps GeoNames' codes to names, `countries` codes of countries.
pub(super) fn pack(
    cities: &[City],
    regions: &BTreeMap<String, Named>,
    countries: &BTreeMap<String, Named>,
) -> Result<Vec<u8>, PlacesError> {
    let used: BTreeSet<&str> = cities.iter().map(|city| city.country.as_str()).collect();
    let countries = used
        .iter()
        .map(|code| Ok((*code, countries.get(*code).ok_or_else(|| misfit("country", code))?)))
        .collect::<Result<BTreeMap<&str, &Named>, PlacesError>>()?;
    let country_index: BTreeMap<&str, usize> = countries.keys().copied().zip(0..).collect();
    let country_of = |code: &str| country_index.get(code).copied().unwrap_or_default();

    // The regions of a country are consecutive, in the order of the countries.
    let used: BTreeSet<String> = cities.iter().map(City::region_code).collect();
    let regions: BTreeMap<(&str, &str), &Named> = regions
        .iter()
        .filter(|(code, _)| used.contains(*code))
        .filter_map(|(code, region)| Some((code.split_once('.')?, region)))
        .collect();
    let first_of = |code: &str| regions.range(..(code, "")).count();
    let number_of = |city: &City| {
        let key = (city.country.as_str(), city.region.as_str());
        regions.contains_key(&key).then(|| regions.range(..key).count() - first_of(key.0) + 1)
    };

    let mut texts = Names::default();
    let mut others = OtherNames::default();
    let mut packed: Vec<Packed> = cities.iter().map(|city| Packed { at: at(city), city }).collect();
    arrange(&mut packed, 0);
    let of_countries = folded_names(countries.values().copied());

    let mut records = Vec::new();
    for (index, Packed { at, city }) in packed.iter().enumerate() {
        for coordinate in at {
            let [low, middle, high, _] = coordinate.to_le_bytes();
            records.extend([low, middle, high]);
        }
        records.push(edge(city.population));
        records.extend(number::<1>(country_of(&city.country), "number of a country")?);
        records.extend(number::<1>(number_of(city).unwrap_or_default(), "number of a region")?);
        records.extend(texts.place(&city.name)?);
        others.add(index, &city.name, names::of_city(city, &of_countries));
    }
    for (index, ((country, _), region)) in regions.iter().enumerate() {
        records.extend(number::<1>(country_of(country), "number of a country")?);
        records.extend(texts.place(&region.name)?);
        let names = region.others.iter().map(String::as_str);
        let names = names.filter(|name| !of_countries.contains(&words::fold(name)));
        others.add(packed.len() + index, &region.name, names);
    }
    for (index, (code, country)) in countries.iter().enumerate() {
        records.extend(number::<2>(first_of(code), "number of regions")?);
        records.extend(texts.place(&country.name)?);
        let target = packed.len() + regions.len() + index;
        others.add(target, &country.name, country.others.iter().map(String::as_str));
    }
    let (blocks, other_names) = others.pack()?;

    let mut file = MAGIC.to_vec();
    file.extend(number::<4>(packed.len(), "number of cities")?);
    file.extend(number::<4>(regions.len(), "number of regions")?);
    file.extend(number::<4>(countries.len(), "number of countries")?);
    file.extend(number::<4>(blocks.len(), "number of blocks")?);
    file.extend(number::<4>(other_names.len(), "length of the other names")?);
    file.extend(records);
    file.extend(blocks.as_flattened());
    file.extend(other_names);
    file.extend(texts.text.as_bytes());
    Ok(file)
}

fn misfit(what: &str, value: impl std::fmt::Display) -> PlacesError {
    PlacesError::Format { what: format!("{what} {value}") }
}

/// A little-endian number of `N` bytes.
pub(super) fn number<const N: usize>(value: usize, what: &str) -> Result<[u8; N], PlacesError> {
    let bytes = value.to_le_bytes();
    match bytes.split_first_chunk() {
        Some((low, high)) if high.iter().all(|byte| *byte == 0) => Ok(*low),
        _ => Err(misfit(what, value)),
    }
}

fn at(city: &City) -> [i32; 3] {
    let (latitude, longitude) = (city.latitude.to_radians(), city.longitude.to_radians());
    let unit = [latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()];
    unit.map(|share| {
        #[expect(clippy::cast_possible_truncation, reason = "at most RADIUS, which has 24 bits")]
        let units = (share * RADIUS).round() as i32;
        units
    })
}

fn edge(population: u32) -> u8 {
    let steps = (f64::from(population).sqrt() * EDGE_M / EDGE_STEP_M).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
    let steps = steps.min(255.0) as u8;
    steps
}

/// Sorts into an implicit k-d tree: the median city by one coordinate splits the others in two halves, and each half is
/// split by the next coordinate.
fn arrange(cities: &mut [Packed], axis: usize) {
    if cities.is_empty() {
        return;
    }
    let middle = cities.len() / 2;
    let (before, _, after) =
        cities.select_nth_unstable_by_key(middle, |packed| (packed.at.get(axis).copied(), packed.city.id));
    arrange(before, (axis + 1) % 3);
    arrange(after, (axis + 1) % 3);
}

/// All names in one string, each once.
#[derive(Default)]
struct Names<'a> {
    text: String,
    places: BTreeMap<&'a str, [u8; 4]>,
}

impl<'a> Names<'a> {
    /// The place of a name in the string: three bytes for the offset, one for the length.
    fn place(&mut self, name: &'a str) -> Result<[u8; 4], PlacesError> {
        if let Some(place) = self.places.get(name) {
            return Ok(*place);
        }
        let [low, middle, high] = number(self.text.len(), "length of all names")?;
        let [length] = number(name.len(), "length of a name")?;
        self.text.push_str(name);
        let place = [low, middle, high, length];
        self.places.insert(name, place);
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::city;
    use super::*;

    fn named(name: &str, others: &[&str]) -> Named {
        Named { name: name.to_owned(), others: others.iter().copied().map(str::to_owned).collect() }
    }

    fn countries() -> BTreeMap<String, Named> {
        let unused = named("Unused", &["Nobody"]);
        BTreeMap::from([
            ("FR".to_owned(), named("France", &["Francia", "FRANCE"])),
            ("GB".to_owned(), unused),
        ])
    }

    fn packed(cities: &[City]) -> Result<Vec<u8>, PlacesError> {
        let regions = [("FR.11", named("Isle.", &["Francilie"])), ("FR.12", named("Unused", &["Nothing"]))];
        pack(cities, &regions.map(|(code, region)| (code.to_owned(), region)).into(), &countries())
    }

    #[test]
    fn the_packed_file_has_the_documented_bytes() {
        let paris = City { region: "11".to_owned(), ..city(7, "Paris", (0.0, 90.0), 1_000_000) };
        let cities = [paris, city(8, "Paris", (-90.0, 0.0), 50)];
        let expect = [
            &b"places02\x02\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x14\0\0\0"[..],
            b"\0\0\0\xff\xff\x7f\0\0\0\xc8\0\x01\0\0\0\x05",
            b"\0\0\0\0\0\0\x01\0\x80\x01\0\0\0\0\0\x05",
            b"\0\x05\0\0\x05",
            b"\0\0\x0a\0\0\x06",
            b"\0\0\0",
            b"\0\x07francia\x03\0\0\x06\x03lie\x02\0\0",
            b"ParisIsle.France",
        ];
        assert_eq!(
            packed(&cities).unwrap().escape_ascii().to_string(),
            expect.concat().escape_ascii().to_string()
        );
    }

    #[test]
    fn the_packed_file_does_not_depend_on_the_order_of_cities() {
        let mut cities: Vec<City> = (0..100_u32)
            .map(|id| {
                let turn = f64::from(id * 37 % 100);
                city(id, &format!("town {id}"), (turn.sin() * 80.0, turn.cos() * 170.0), id * 1000)
            })
            .collect();
        cities.push(City { id: 100, ..cities.first().unwrap().clone() });
        let before = packed(&cities).unwrap();
        cities.reverse();
        assert_eq!(packed(&cities).unwrap(), before);
    }

    #[test]
    fn values_too_large_for_the_format_are_refused() {
        let check = |city: City, expect: &str| {
            let error = packed(&[city]).unwrap_err();
            assert_eq!(error.to_string(), expect);
        };
        check(
            City { country: "QQ".to_owned(), ..city(1, "A", (0.0, 0.0), 1) },
            "country QQ does not fit the format",
        );
        check(city(1, &"A".repeat(256), (0.0, 0.0), 1), "length of a name 256 does not fit the format");
    }
}
