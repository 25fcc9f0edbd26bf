//! The tags of an EXIF block (a TIFF structure: TIFF 6.0, section 2; EXIF 2.32, section 4.6).
//!
//! This reader bounds its work: general readers follow every pointer of every directory, so that 64 kB of pointers to one
//! long directory become billions of entries. Here each of the three directories is read once, up to 1024 entries.

mod ifd;
mod join;
#[cfg(test)]
pub(crate) mod writer;

pub(crate) use self::ifd::{Entry, Ifd, Structure};
pub(crate) use self::join::join;

/// Tag numbers.
pub(crate) mod tag {
    pub(crate) const SUB_DIRECTORIES: u16 = 0x014A;
    pub(crate) const IMAGE_DESCRIPTION: u16 = 0x010E;
    pub(crate) const MAKE: u16 = 0x010F;
    pub(crate) const MODEL: u16 = 0x0110;
    pub(crate) const ORIENTATION: u16 = 0x0112;
    pub(crate) const DATE_TIME: u16 = 0x0132;
    pub(crate) const EXIF_DIRECTORY: u16 = 0x8769;
    pub(crate) const GPS_DIRECTORY: u16 = 0x8825;

    pub(crate) const DATE_TIME_ORIGINAL: u16 = 0x9003;
    pub(crate) const DATE_TIME_DIGITIZED: u16 = 0x9004;
    pub(crate) const OFFSET_TIME: u16 = 0x9010;
    pub(crate) const OFFSET_TIME_ORIGINAL: u16 = 0x9011;
    pub(crate) const OFFSET_TIME_DIGITIZED: u16 = 0x9012;
    pub(crate) const USER_COMMENT: u16 = 0x9286;
    pub(crate) const SUB_SEC_TIME: u16 = 0x9290;
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

/// The directories of an EXIF block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directory {
    /// The first directory, about the picture.
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

    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    pub(crate) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// Type numbers of TIFF values.
mod kind {
    pub(super) const RATIONAL: u16 = 5;
    pub(super) const SIGNED_RATIONAL: u16 = 10;
}

/// The readable tags of an EXIF block. Broken entries are left out.
#[derive(Debug)]
pub(crate) struct Tags<'a> {
    order: ByteOrder,
    primary: Vec<Entry<'a>>,
    exif: Vec<Entry<'a>>,
    gps: Vec<Entry<'a>>,
}

impl<'a> Tags<'a> {
    /// Reads a block, with or without the `Exif\0\0` that some containers put before it. `None` if it is not a TIFF
    /// structure.
    pub(crate) fn read(block: &'a [u8]) -> Option<Self> {
        let data = match block {
            [b'E', b'x', b'i', b'f', 0, _, data @ ..] => data,
            _ => block,
        };
        let structure = Structure::read(data)?;
        let primary = structure.first();
        let child = |pointer| {
            primary.number(pointer).map(|offset| structure.directory(offset).entries).unwrap_or_default()
        };
        let (exif, gps) = (child(tag::EXIF_DIRECTORY), child(tag::GPS_DIRECTORY));
        Some(Self { order: structure.order(), primary: primary.entries, exif, gps })
    }

    /// The byte order of the block.
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

    /// The value as stored, of any type.
    pub(crate) fn bytes(&self, directory: Directory, tag: u16) -> Option<&'a [u8]> {
        self.entry(directory, tag).map(|entry| entry.value)
    }

    /// Text up to the first NUL. The standard says ASCII; cameras also write UTF-8 and Latin-1.
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
        u16::try_from(self.entry(directory, tag)?.number(0)?).ok()
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
    fn truncated_block_gives_its_readable_tags() {
        let block = ExifBlock::default()
            .number(Directory::Primary, tag::ORIENTATION, Number::Short(3))
            .text(Directory::Primary, tag::MODEL, "a long name stored after the directory")
            .build();
        let tags = Tags::read(&block[..block.len() - 10]).unwrap();
        assert_eq!(tags.short(Directory::Primary, tag::ORIENTATION), Some(3));
        assert_eq!(tags.text(Directory::Primary, tag::MODEL), None);
    }

    #[test]
    fn pointers_to_one_long_directory_cost_no_more_than_one() {
        // A directory of pointers to itself.
        let mut block = b"II*\0\x08\0\0\0\xFF\xFF".to_vec();
        for _ in 0..5000 {
            block.extend(tag::EXIF_DIRECTORY.to_le_bytes());
            block.extend([4, 0, 1, 0, 0, 0, 8, 0, 0, 0]);
        }
        let tags = Tags::read(&block).unwrap();
        assert_eq!((tags.primary.len(), tags.exif.len()), (ifd::MAX_ENTRIES, ifd::MAX_ENTRIES));
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
