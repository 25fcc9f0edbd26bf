//! Packs the data file of the crate `places`. `crates/places/data/README.md` describes the format.

use std::collections::{BTreeMap, BTreeSet};

use super::{City, PlacesError};

const MAGIC: &[u8; 8] = b"places01";
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

/// The whole file. `countries` maps codes to names.
pub(super) fn pack(cities: &[City], countries: &BTreeMap<String, String>) -> Result<Vec<u8>, PlacesError> {
    let used: BTreeSet<&str> = cities.iter().map(|city| city.country.as_str()).collect();
    let country_names = used
        .iter()
        .map(|code| countries.get(*code).map(String::as_str).ok_or_else(|| misfit("country", code)))
        .collect::<Result<Vec<&str>, PlacesError>>()?;
    let country_index: BTreeMap<&str, usize> = used.iter().copied().zip(0..).collect();

    let mut names = Names::default();
    let mut packed: Vec<Packed> = cities.iter().map(|city| Packed { at: at(city), city }).collect();
    arrange(&mut packed, 0);

    let mut file = MAGIC.to_vec();
    file.extend(number::<4>(packed.len(), "number of cities")?);
    file.extend(number::<4>(country_names.len(), "number of countries")?);
    for Packed { at, city } in packed {
        for coordinate in at {
            let [low, middle, high, _] = coordinate.to_le_bytes();
            file.extend([low, middle, high]);
        }
        file.push(edge(city.population));
        let country = country_index.get(city.country.as_str()).copied().unwrap_or_default();
        file.extend(number::<1>(country, "number of a country")?);
        file.extend(names.place(&city.name)?);
    }
    for name in country_names {
        file.extend(names.place(name)?);
    }
    file.extend(names.text.as_bytes());
    Ok(file)
}

fn misfit(what: &str, value: impl std::fmt::Display) -> PlacesError {
    PlacesError::Format { what: format!("{what} {value}") }
}

/// A little-endian number of `N` bytes.
fn number<const N: usize>(value: usize, what: &str) -> Result<[u8; N], PlacesError> {
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

    fn france() -> BTreeMap<String, String> {
        BTreeMap::from([("FR".to_owned(), "France".to_owned()), ("GB".to_owned(), "Unused".to_owned())])
    }

    #[test]
    fn the_packed_file_has_the_documented_bytes() {
        let cities = [city(7, "Paris", (0.0, 90.0), 1_000_000), city(8, "Paris", (-90.0, 0.0), 50)];
        let expect = [
            &b"places01\x02\0\0\0\x01\0\0\0"[..],
            b"\0\0\0\xff\xff\x7f\0\0\0\xc8\0\0\0\0\x05",
            b"\0\0\0\0\0\0\x01\0\x80\x01\0\0\0\0\x05",
            b"\x05\0\0\x06",
            b"ParisFrance",
        ];
        assert_eq!(pack(&cities, &france()).unwrap(), expect.concat());
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
        let packed = pack(&cities, &france()).unwrap();
        cities.reverse();
        assert_eq!(pack(&cities, &france()).unwrap(), packed);
    }

    #[test]
    fn values_too_large_for_the_format_are_refused() {
        let check = |city: City, expect: &str| {
            let error = pack(&[city], &france()).unwrap_err();
            assert_eq!(error.to_string(), expect);
        };
        check(
            City { country: "QQ".to_owned(), ..city(1, "A", (0.0, 0.0), 1) },
            "country QQ does not fit the format",
        );
        check(city(1, &"A".repeat(256), (0.0, 0.0), 1), "length of a name 256 does not fit the format");
    }
}
