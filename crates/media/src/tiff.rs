//! The tags of an EXIF block (a TIFF structure: TIFF 6.0, section 2; EXIF 2.32, section 4.6).
//!
//! Read by hand because the work has to be bounded: general readers follow every pointer of every directory, and
//! 64 kB of pointers to the same long directory then become billions of entries. Here each of the three
//! directories that matter is read once, up to [`MAX_ENTRIES`].

/// More entries than any camera writes into one directory.
const MAX_ENTRIES: usize = 1024;

/// The tags that are read, by their numbers.
pub(crate) mod tag {
    pub(crate) const IMAGE_DESCRIPTION: u16 = 0x010E;
    pub(crate) const MAKE: u16 = 0x010F;
    pub(crate) const MODEL: u16 = 0x0110;
    pub(crate) const ORIENTATION: u16 = 0x0112;
    pub(crate) const EXIF_DIRECTORY: u16 = 0x8769;
    pub(crate) const GPS_DIRECTORY: u16 = 0x8825;

    pub(crate) const DATE_TIME_ORIGINAL: u16 = 0x9003;
    pub(crate) const DATE_TIME_DIGITIZED: u16 = 0x9004;
    pub(crate) const OFFSET_TIME_ORIGINAL: u16 = 0x9011;
    pub(crate) const OFFSET_TIME_DIGITIZED: u16 = 0x9012;
    pub(crate) const USER_COMMENT: u16 = 0x9286;
    pub(crate) const SUB_SEC_TIME_ORIGINAL: u16 = 0x9291;
    pub(crate) const SUB_SEC_TIME_DIGITIZED: u16 = 0x9292;

    pub(crate) const GPS_LATITUDE_REF: u16 = 0x0001;
    pub(crate) const GPS_LATITUDE: u16 = 0x0002;
    pub(crate) const GPS_LONGITUDE_REF: u16 = 0x0003;
    pub(crate) const GPS_LONGITUDE: u16 = 0x0004;
    pub(crate) const GPS_TIME_STAMP: u16 = 0x0007;
    pub(crate) const GPS_STATUS: u16 = 0x0009;
    pub(crate) const GPS_DATE_STAMP: u16 = 0x001D;
}

/// The directories that tags live in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directory {
    /// The first one, about the picture.
    Primary,
    /// About the shot.
    Exif,
    /// About the place.
    Gps,
}

/// A fraction as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rational {
    pub(crate) numerator: i64,
    pub(crate) denominator: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(crate) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

/// The type numbers of TIFF values that are used here.
mod kind {
    pub(super) const BYTE: u16 = 1;
    pub(super) const SHORT: u16 = 3;
    pub(super) const LONG: u16 = 4;
    pub(super) const RATIONAL: u16 = 5;
    pub(super) const SIGNED_RATIONAL: u16 = 10;
}

#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    tag: u16,
    kind: u16,
    value: &'a [u8],
}

/// The readable tags of one block. Whatever is broken is left out.
#[derive(Debug)]
pub(crate) struct Tags<'a> {
    order: ByteOrder,
    primary: Vec<Entry<'a>>,
    exif: Vec<Entry<'a>>,
    gps: Vec<Entry<'a>>,
}

impl<'a> Tags<'a> {
    /// Reads a block, with or without the `Exif\0\0` that some containers put before it. `None` when it is no TIFF
    /// structure at all.
    pub(crate) fn read(block: &'a [u8]) -> Option<Self> {
        let data = match block {
            [b'E', b'x', b'i', b'f', 0, _, data @ ..] => data,
            _ => block,
        };
        let order = match data {
            [b'I', b'I', 42, 0, ..] => ByteOrder::Little,
            [b'M', b'M', 0, 42, ..] => ByteOrder::Big,
            _ => return None,
        };
        let reader = Reader { data, order };
        let primary = reader.directory(reader.u32_at(4)?);
        let mut tags = Self { order, primary, exif: Vec::new(), gps: Vec::new() };
        let child = |tags: &Self, tag| {
            tags.long(Directory::Primary, tag).map(|offset| reader.directory(offset)).unwrap_or_default()
        };
        tags.exif = child(&tags, tag::EXIF_DIRECTORY);
        tags.gps = child(&tags, tag::GPS_DIRECTORY);
        Some(tags)
    }

    /// The order in which the block keeps its numbers.
    pub(crate) fn byte_order(&self) -> ByteOrder {
        self.order
    }

    fn entry(&self, directory: Directory, tag: u16) -> Option<&Entry<'a>> {
        let entries = match directory {
            Directory::Primary => &self.primary,
            Directory::Exif => &self.exif,
            Directory::Gps => &self.gps,
        };
        entries.iter().find(|entry| entry.tag == tag)
    }

    /// The value as it is stored, whatever its type.
    pub(crate) fn bytes(&self, directory: Directory, tag: u16) -> Option<&'a [u8]> {
        self.entry(directory, tag).map(|entry| entry.value)
    }

    /// Text up to its first NUL. Meant to be ASCII, often UTF-8, sometimes Latin-1.
    pub(crate) fn text(&self, directory: Directory, tag: u16) -> Option<String> {
        let bytes = self.bytes(directory, tag)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or(bytes);
        Some(
            String::from_utf8(text.to_vec())
                .unwrap_or_else(|_| text.iter().copied().map(char::from).collect()),
        )
    }

    /// A number that fits 16 bits.
    pub(crate) fn short(&self, directory: Directory, tag: u16) -> Option<u16> {
        u16::try_from(self.long(directory, tag)?).ok()
    }

    fn long(&self, directory: Directory, tag: u16) -> Option<u32> {
        let entry = self.entry(directory, tag)?;
        match (entry.kind, entry.value) {
            (kind::BYTE, [byte, ..]) => Some(u32::from(*byte)),
            (kind::SHORT, [b0, b1, ..]) => Some(u32::from(self.order.u16([*b0, *b1]))),
            (kind::LONG, [b0, b1, b2, b3, ..]) => Some(self.order.u32([*b0, *b1, *b2, *b3])),
            _ => None,
        }
    }

    /// Three fractions: degrees, minutes and seconds, or hours, minutes and seconds.
    pub(crate) fn three_rationals(&self, directory: Directory, tag: u16) -> Option<[Rational; 3]> {
        let entry = self.entry(directory, tag)?;
        let signed = match entry.kind {
            kind::RATIONAL => false,
            kind::SIGNED_RATIONAL => true,
            _ => return None,
        };
        let number = |bytes: &[u8; 4]| {
            let number = self.order.u32(*bytes);
            if signed { i64::from(number.cast_signed()) } else { i64::from(number) }
        };
        let (words, _) = entry.value.as_chunks::<4>();
        let [a, b, c, d, e, f, ..] = words else { return None };
        let rational = |numerator, denominator| Rational {
            numerator: number(numerator),
            denominator: number(denominator),
        };
        Some([rational(a, b), rational(c, d), rational(e, f)])
    }
}

struct Reader<'a> {
    data: &'a [u8],
    order: ByteOrder,
}

impl<'a> Reader<'a> {
    fn slice(&self, offset: usize, length: usize) -> Option<&'a [u8]> {
        self.data.get(offset..offset.checked_add(length)?)
    }

    fn u32_at(&self, offset: usize) -> Option<u32> {
        self.slice(offset, 4)?.try_into().ok().map(|bytes| self.order.u32(bytes))
    }

    /// The entries of a directory, as many as the block holds.
    fn directory(&self, offset: u32) -> Vec<Entry<'a>> {
        let entries = || {
            let start = usize::try_from(offset).ok()?;
            let count = self.slice(start, 2)?.try_into().ok().map(|bytes| self.order.u16(bytes))?;
            let (records, _) = self.data.get(start + 2..)?.as_chunks::<12>();
            let readable = records.iter().take(usize::from(count).min(MAX_ENTRIES));
            Some(readable.filter_map(|record| self.entry(record)).collect())
        };
        entries().unwrap_or_default()
    }

    fn entry(&self, record: &'a [u8; 12]) -> Option<Entry<'a>> {
        let [t0, t1, k0, k1, c0, c1, c2, c3, v0, v1, v2, v3] = record;
        let kind = self.order.u16([*k0, *k1]);
        let count = usize::try_from(self.order.u32([*c0, *c1, *c2, *c3])).ok()?;
        let length = count.checked_mul(unit_length(kind)?)?;
        let value = if length <= 4 {
            record.get(8..8 + length)?
        } else {
            self.slice(usize::try_from(self.order.u32([*v0, *v1, *v2, *v3])).ok()?, length)?
        };
        Some(Entry { tag: self.order.u16([*t0, *t1]), kind, value })
    }
}

/// Bytes of one value of a TIFF type; 129 is the UTF-8 text of EXIF 3.0.
fn unit_length(kind: u16) -> Option<usize> {
    match kind {
        1 | 2 | 6 | 7 | 129 => Some(1),
        3 | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{ExifBlock, Number};
    use proptest::prelude::*;

    #[test]
    fn tags_are_read_in_both_byte_orders() {
        for big_endian in [false, true] {
            let block = ExifBlock::in_order(big_endian)
                .text(Directory::Primary, tag::MAKE, "Nikon")
                .number(Directory::Primary, tag::ORIENTATION, Number::Short(6))
                .rationals(Directory::Gps, tag::GPS_LATITUDE, &[(48, 1), (51, 1), (2954, 100)])
                .build();
            let tags = Tags::read(&block).unwrap();
            assert_eq!(tags.text(Directory::Primary, tag::MAKE).as_deref(), Some("Nikon"));
            assert_eq!(tags.short(Directory::Primary, tag::ORIENTATION), Some(6));
            let [_, _, seconds] = tags.three_rationals(Directory::Gps, tag::GPS_LATITUDE).unwrap();
            assert_eq!(seconds, Rational { numerator: 2954, denominator: 100 });
            assert_eq!(tags.text(Directory::Primary, tag::MODEL), None);
        }
    }

    #[test]
    fn text_is_cut_at_nul_and_latin_1_is_understood() {
        let block = ExifBlock::default()
            .bytes(Directory::Primary, tag::MAKE, 2, b"Canon\0rest of an older string")
            .bytes(Directory::Primary, tag::MODEL, 2, b"Caf\xE9 camera\0")
            .build();
        let tags = Tags::read(&block).unwrap();
        assert_eq!(tags.text(Directory::Primary, tag::MAKE).as_deref(), Some("Canon"));
        assert_eq!(tags.text(Directory::Primary, tag::MODEL).as_deref(), Some("Café camera"));
    }

    #[test]
    fn a_cut_block_gives_what_it_still_holds() {
        let block = ExifBlock::default()
            .number(Directory::Primary, tag::ORIENTATION, Number::Short(3))
            .text(Directory::Primary, tag::MODEL, "a long name that lies behind the directory")
            .build();
        let tags = Tags::read(&block[..block.len() - 10]).unwrap();
        assert_eq!(tags.short(Directory::Primary, tag::ORIENTATION), Some(3));
        assert_eq!(tags.text(Directory::Primary, tag::MODEL), None);
    }

    #[test]
    fn pointers_to_one_long_directory_cost_no_more_than_one() {
        // A directory of pointers that all lead to itself.
        let mut block = b"II*\0\x08\0\0\0\xFF\xFF".to_vec();
        for _ in 0..5000 {
            block.extend(tag::EXIF_DIRECTORY.to_le_bytes());
            block.extend([4, 0, 1, 0, 0, 0, 8, 0, 0, 0]);
        }
        let tags = Tags::read(&block).unwrap();
        assert_eq!((tags.primary.len(), tags.exif.len()), (MAX_ENTRIES, MAX_ENTRIES));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(head in prop_oneof![Just(b"II*\0"), Just(b"MM\0*")], rest in prop::collection::vec(any::<u8>(), 0..300)) {
            let block = [&head[..], &rest].concat();
            if let Some(tags) = Tags::read(&block) {
                for entry in tags.primary.iter().chain(&tags.exif).chain(&tags.gps) {
                    for directory in [Directory::Primary, Directory::Exif, Directory::Gps] {
                        let _ = tags.text(directory, entry.tag);
                        let _ = tags.short(directory, entry.tag);
                        let _ = tags.three_rationals(directory, entry.tag);
                    }
                }
            }
        }
    }
}
