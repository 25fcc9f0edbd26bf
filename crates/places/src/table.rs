//! Reads the packed cities in place. `data/README.md` describes the format.

use domain::EARTH_RADIUS_M;

use crate::other_names::OtherNames;

const MAGIC: &[u8; 8] = b"places02";
/// The unit of a coordinate: coordinates are signed 24-bit fractions of the Earth's radius.
const STEP_M: f64 = EARTH_RADIUS_M / 8_388_607.0;
const EDGE_STEP_M: f64 = 10.0;
/// The largest radius of a city.
pub(crate) const MAX_EDGE_M: f64 = 255.0 * EDGE_STEP_M;

/// A point in metres from the Earth's centre: towards 0° E on the equator, 90° E on the equator, the North Pole.
pub(crate) type Point = [f64; 3];

/// The bytes of one city: centre, radius, country, region, name.
pub(crate) type Record = [u8; 16];

/// A reference to a name: offset (3 bytes, little-endian) and length.
type NameRef = [u8; 4];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct City<'a>(pub(crate) &'a Record);

impl City<'_> {
    pub(crate) fn at(self) -> Point {
        let [x0, x1, x2, y0, y1, y2, z0, z1, z2, ..] = *self.0;
        [[x0, x1, x2], [y0, y1, y2], [z0, z1, z2]].map(coordinate_m)
    }

    /// The radius in metres.
    pub(crate) fn edge_m(self) -> f64 {
        f64::from(self.size()) * EDGE_STEP_M
    }

    /// The radius in steps, which grows with the population.
    pub(crate) fn size(self) -> u8 {
        let [.., edge, _, _, _, _, _, _] = *self.0;
        edge
    }

    fn country(self) -> usize {
        let [.., country, _, _, _, _, _] = *self.0;
        usize::from(country)
    }

    /// The number of its region among those of its country, from 1; `None` if unknown.
    fn region(self) -> Option<usize> {
        let [.., region, _, _, _, _] = *self.0;
        usize::from(region).checked_sub(1)
    }

    fn name(self) -> NameRef {
        let [.., offset_0, offset_1, offset_2, length] = *self.0;
        [offset_0, offset_1, offset_2, length]
    }
}

fn coordinate_m([low, middle, high]: [u8; 3]) -> f64 {
    // The bytes are placed at the top, so that the shift extends the sign.
    f64::from(i32::from_le_bytes([0, low, middle, high]) >> 8) * STEP_M
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    /// An implicit k-d tree: the middle record splits the other records by one coordinate, and each half is split by
    /// the next coordinate.
    pub(crate) cities: &'a [Record],
    regions: &'a [Region],
    countries: &'a [Country],
    pub(crate) other_names: OtherNames<'a>,
    names: &'a [u8],
}

/// The number of the country, and the name.
type Region = [u8; 5];

/// The number of the first region, and the name.
type Country = [u8; 6];

/// A city, region or country by its English name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlacePath<'a> {
    /// `None` for a region or country.
    pub city: Option<&'a str>,
    /// The first-order division of the country, such as a state. `None` for a country, and for cities without a known region.
    pub region: Option<&'a str>,
    pub country: &'a str,
}

impl<'a> Table<'a> {
    /// Splits the file into its parts in constant time. `None` for another format or a truncated file.
    pub(crate) fn read(file: &'a [u8]) -> Option<Self> {
        let (magic, rest) = file.split_first_chunk()?;
        let (counts, rest) = rest.split_first_chunk::<20>()?;
        let [cities, regions, countries, blocks, others] = *counts.as_chunks().0 else { return None };
        let (cities, rest) = records(rest, cities)?;
        let (regions, rest) = records(rest, regions)?;
        let (countries, rest) = records(rest, countries)?;
        let (blocks, rest) = records(rest, blocks)?;
        let (entries, names) = records::<1>(rest, others)?;
        let other_names = OtherNames { blocks, entries: entries.as_flattened() };
        (magic == MAGIC).then_some(Self { cities, regions, countries, other_names, names })
    }

    pub(crate) fn city_name(&self, city: City) -> Option<&'a str> {
        self.text(city.name())
    }

    pub(crate) fn country_name(&self, city: City) -> Option<&'a str> {
        let [_, _, name @ ..] = *self.countries.get(city.country())?;
        self.text(name)
    }

    pub(crate) fn city_path(&self, city: City) -> Option<PlacePath<'a>> {
        let [first_0, first_1, ..] = *self.countries.get(city.country())?;
        let first = usize::from(u16::from_le_bytes([first_0, first_1]));
        let region = city.region().and_then(|number| self.regions.get(first + number));
        Some(PlacePath {
            city: Some(self.city_name(city)?),
            region: region.and_then(|[_, name @ ..]| self.text(*name)),
            country: self.country_name(city)?,
        })
    }

    /// The place with this number in [`OtherNames`]. Cities have the lowest numbers, then regions, then countries.
    pub(crate) fn path(&self, number: usize) -> Option<PlacePath<'a>> {
        if let Some(city) = self.cities.get(number) {
            return self.city_path(City(city));
        }
        let number = number.checked_sub(self.cities.len())?;
        let (region, country) = match self.regions.get(number) {
            Some([country, name @ ..]) => (Some(self.text(*name)?), usize::from(*country)),
            None => (None, number.checked_sub(self.regions.len())?),
        };
        let [_, _, name @ ..] = *self.countries.get(country)?;
        Some(PlacePath { city: None, region, country: self.text(name)? })
    }

    fn text(&self, [offset_0, offset_1, offset_2, length]: NameRef) -> Option<&'a str> {
        let offset = usize::try_from(u32::from_le_bytes([offset_0, offset_1, offset_2, 0])).ok()?;
        let name = self.names.get(offset..)?.get(..usize::from(length))?;
        str::from_utf8(name).ok()
    }
}

/// The first `count` records of `N` bytes, and the rest.
fn records<const N: usize>(bytes: &[u8], count: [u8; 4]) -> Option<(&[[u8; N]], &[u8])> {
    let count = usize::try_from(u32::from_le_bytes(count)).ok()?;
    let (records, rest) = bytes.split_at_checked(count.checked_mul(N)?)?;
    Some((records.as_chunks().0, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &[u8] = b"places02\x02\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x16\0\0\0\
        \0\0\0\xff\xff\x7f\0\0\0\xc8\0\x01\0\0\0\x05\
        \0\0\0\0\0\0\x01\0\x80\x01\0\0\0\0\0\x05\
        \0\x05\0\0\x05\
        \0\0\x0a\0\0\x06\
        \0\0\0\
        \0\x09francilie\x02\0\0\x02\x03kia\x03\0\0\
        ParisIsle.France";

    #[test]
    fn file_is_read_as_documented() {
        let table = Table::read(FILE).unwrap();
        let [equator, south_pole] = table.cities else { panic!("not two cities") };
        assert_eq!(City(south_pole).at(), [0.0, 0.0, -EARTH_RADIUS_M]);
        assert_eq!(City(south_pole).edge_m(), 10.0);
        assert_eq!(City(equator).at(), [0.0, EARTH_RADIUS_M, 0.0]);
        assert_eq!(City(equator).edge_m(), 2000.0);
        assert_eq!(table.city_name(City(equator)), Some("Paris"));
        assert_eq!(table.country_name(City(equator)), Some("France"));
        let path = |city, region| Some(PlacePath { city, region, country: "France" });
        assert_eq!(table.city_path(City(equator)), path(Some("Paris"), Some("Isle.")));
        assert_eq!(table.city_path(City(south_pole)), path(Some("Paris"), None));
        assert_eq!(table.path(0), path(Some("Paris"), Some("Isle.")));
        assert_eq!(table.path(2), path(None, Some("Isle.")));
        assert_eq!(table.path(3), path(None, None));
        assert_eq!(table.path(4), None);
        let named = |name| table.other_names.named(name).collect::<Vec<_>>();
        assert_eq!(named("francilie"), [2]);
        assert_eq!(named("frkia"), [3]);
        assert_eq!(named("fr"), [0_usize; 0]);
    }

    #[test]
    fn truncated_file_is_refused() {
        for length in 0..FILE.len() - "ParisIsle.France".len() {
            assert!(Table::read(&FILE[..length]).is_none(), "{length} bytes");
        }
        let mut other = FILE.to_vec();
        other[7] = b'3';
        assert!(Table::read(&other).is_none());
    }

    #[test]
    fn every_bundled_city_is_readable() {
        let table = Table::read(crate::CITIES).unwrap();
        assert!(table.cities.len() > 150_000);
        let mut with_region = 0;
        for city in table.cities.iter().map(City) {
            let (name, country) = (table.city_name(city), table.country_name(city));
            assert!(name.is_some_and(|name| !name.is_empty() && !name.contains(',')), "{city:?}: {name:?}");
            assert!(
                country.is_some_and(|name| !name.is_empty() && !name.contains(',')),
                "{name:?}: {country:?}"
            );
            let from_earths_centre_m = city.at().iter().map(|m| m * m).sum::<f64>().sqrt();
            assert!((from_earths_centre_m - EARTH_RADIUS_M).abs() < 1.0, "{name:?}");
            let region = table.city_path(city).unwrap().region;
            assert_eq!(region.is_some(), city.region().is_some(), "{name:?}");
            assert!(
                region.is_none_or(|name| !name.is_empty() && !name.contains(',')),
                "{name:?}: {region:?}"
            );
            with_region += u32::from(region.is_some());
        }
        assert!(with_region > 150_000, "{with_region}");
    }

    #[test]
    fn every_bundled_region_is_of_its_country() {
        let table = Table::read(crate::CITIES).unwrap();
        for (index, [country, ..]) in table.regions.iter().enumerate() {
            let first = |country: usize| {
                table
                    .countries
                    .get(country)
                    .map(|[low, high, ..]| usize::from(u16::from_le_bytes([*low, *high])))
            };
            let country = usize::from(*country);
            assert!(first(country).is_some_and(|first| first <= index), "{index}");
            assert!(first(country + 1).is_none_or(|next| index < next), "{index}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            counts in prop::array::uniform5(0..40_u32),
            rest in prop::collection::vec(any::<u8>(), 0..1500),
            name in prop::collection::vec(any::<u8>(), 0..4),
        ) {
            let head = [MAGIC.to_vec(), counts.map(u32::to_le_bytes).concat()];
            let file = [&head.concat()[..], &rest].concat();
            if let Some(table) = Table::read(&file) {
                for city in table.cities.iter().map(City) {
                    let _ = (city.at(), table.city_name(city), table.country_name(city), table.city_path(city));
                }
                for number in table.other_names.named(&String::from_utf8_lossy(&name)).chain(0..120) {
                    let _ = table.path(number);
                }
            }
        }
    }
}
