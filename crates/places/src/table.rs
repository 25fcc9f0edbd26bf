//! Reads the packed cities in place. `data/README.md` describes the format.

use domain::EARTH_RADIUS_M;

const MAGIC: &[u8; 8] = b"places01";
/// The unit of a coordinate: coordinates are signed 24-bit fractions of the Earth's radius.
const STEP_M: f64 = EARTH_RADIUS_M / 8_388_607.0;
const EDGE_STEP_M: f64 = 10.0;
/// The largest radius of a city.
pub(crate) const MAX_EDGE_M: f64 = 255.0 * EDGE_STEP_M;

/// A point in metres from the Earth's centre: towards 0° E on the equator, 90° E on the equator, the North Pole.
pub(crate) type Point = [f64; 3];

/// The bytes of one city: centre, radius, country, name.
pub(crate) type Record = [u8; 15];

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
        let [.., edge, _, _, _, _, _] = *self.0;
        edge
    }

    fn country(self) -> usize {
        let [.., country, _, _, _, _] = *self.0;
        usize::from(country)
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
    countries: &'a [NameRef],
    names: &'a [u8],
}

impl<'a> Table<'a> {
    /// Splits the file into its parts in constant time. `None` for another format or a truncated file.
    pub(crate) fn read(file: &'a [u8]) -> Option<Self> {
        let (magic, rest) = file.split_first_chunk()?;
        let (cities, rest) = rest.split_first_chunk()?;
        let (countries, rest) = rest.split_first_chunk()?;
        let (cities, rest) = records(rest, *cities)?;
        let (countries, names) = records(rest, *countries)?;
        (magic == MAGIC).then_some(Self { cities, countries, names })
    }

    pub(crate) fn city_name(&self, city: City) -> Option<&'a str> {
        self.text(city.name())
    }

    pub(crate) fn country_name(&self, city: City) -> Option<&'a str> {
        self.text(*self.countries.get(city.country())?)
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

    const FILE: &[u8] = b"places01\x02\0\0\0\x01\0\0\0\
        \0\0\0\xff\xff\x7f\0\0\0\xc8\0\0\0\0\x05\
        \0\0\0\0\0\0\x01\0\x80\x01\0\0\0\0\x05\
        \x05\0\0\x06\
        ParisFrance";

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
    }

    #[test]
    fn truncated_file_is_refused() {
        for length in 0..FILE.len() - "ParisFrance".len() {
            assert!(Table::read(&FILE[..length]).is_none(), "{length} bytes");
        }
        let mut other = FILE.to_vec();
        other[7] = b'2';
        assert!(Table::read(&other).is_none());
    }

    #[test]
    fn every_bundled_city_is_readable() {
        let table = Table::read(crate::CITIES).unwrap();
        assert!(table.cities.len() > 150_000);
        for city in table.cities.iter().map(City) {
            let (name, country) = (table.city_name(city), table.country_name(city));
            assert!(name.is_some_and(|name| !name.is_empty() && !name.contains(',')), "{city:?}: {name:?}");
            assert!(country.is_some_and(|name| !name.is_empty()), "{name:?}: {country:?}");
            let from_earths_centre_m = city.at().iter().map(|m| m * m).sum::<f64>().sqrt();
            assert!((from_earths_centre_m - EARTH_RADIUS_M).abs() < 1.0, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            counts in (0..40_u32, 0..40_u32),
            rest in prop::collection::vec(any::<u8>(), 0..600),
        ) {
            let head = [&MAGIC[..], &counts.0.to_le_bytes(), &counts.1.to_le_bytes()];
            let file = [&head.concat()[..], &rest].concat();
            if let Some(table) = Table::read(&file) {
                for city in table.cities.iter().map(City) {
                    let _ = (city.at(), table.city_name(city), table.country_name(city));
                }
            }
        }
    }
}
