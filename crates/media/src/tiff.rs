//! The tags of an EXIF block (a TIFF structure: TIFF 6.0, section 2; EXIF 2.32, section 4.6).
//!
//! This reader bounds its work: general readers follow every pointer of every directory, so that 64 kB of pointers to one
//! long directory become billions of entries. Here each of the three directories is read once, up to 1024 entries.

mod ifd;
mod join;
#[cfg(test)]
pub(crate) mod writer;

use crate::text;

pub(crate) use self::ifd::{Directories, Entry, Ifd, Structure};
pub(crate) use self::join::join;

/// Tag numbers.
pub(crate) mod tag {
    /// The rating of Windows, in stars.
    pub(crate) const RATING: u16 = 0x4746;
    pub(crate) const SUB_DIRECTORIES: u16 = 0x014A;
    pub(crate) const IMAGE_DESCRIPTION: u16 = 0x010E;
    pub(crate) const MAKE: u16 = 0x010F;
    pub(crate) const MODEL: u16 = 0x0110;
    pub(crate) const ORIENTATION: u16 = 0x0112;
    pub(crate) const DATE_TIME: u16 = 0x0132;
    /// The tags of Windows, with text in UTF-16.
    pub(crate) const XP_TITLE: u16 = 0x9C9B;
    pub(crate) const XP_COMMENT: u16 = 0x9C9C;
    pub(crate) const XP_KEYWORDS: u16 = 0x9C9E;
    pub(crate) const XP_SUBJECT: u16 = 0x9C9F;
    pub(crate) const EXIF_DIRECTORY: u16 = 0x8769;
    pub(crate) const GPS_DIRECTORY: u16 = 0x8825;

    pub(crate) const EXPOSURE_TIME: u16 = 0x829A;
    pub(crate) const F_NUMBER: u16 = 0x829D;
    pub(crate) const PHOTOGRAPHIC_SENSITIVITY: u16 = 0x8827;
    pub(crate) const RECOMMENDED_EXPOSURE_INDEX: u16 = 0x8832;
    pub(crate) const FOCAL_LENGTH: u16 = 0x920A;
    pub(crate) const FOCAL_LENGTH_IN_35MM_FILM: u16 = 0xA405;
    pub(crate) const LENS_MODEL: u16 = 0xA434;
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

    /// Finds a tag in its directory or, for the first and the EXIF directory, in the other one: programs write tags into the wrong
    /// one.
    fn entry(&self, directory: Directory, tag: u16) -> Option<&Entry<'a>> {
        let (entries, others) = match directory {
            Directory::Primary => (&self.primary, &*self.exif),
            Directory::Exif => (&self.exif, &*self.primary),
            Directory::Gps => (&self.gps, &[][..]),
        };
        entries.iter().chain(others).find(|entry| entry.tag == tag)
    }

    /// The value as stored, of any type.
    pub(crate) fn bytes(&self, directory: Directory, tag: u16) -> Option<&'a [u8]> {
        self.entry(directory, tag).map(|entry| entry.value)
    }

    /// Text up to the first NUL. The standard says ASCII; programs also write UTF-8 and Windows-1252.
    pub(crate) fn text(&self, directory: Directory, tag: u16) -> Option<String> {
        let bytes = self.bytes(directory, tag)?;
        Some(text::decode(bytes.split(|byte| *byte == 0).next().unwrap_or(bytes)))
    }

    /// A number that fits 16 bits.
    pub(crate) fn short(&self, directory: Directory, tag: u16) -> Option<u16> {
        u16::try_from(self.entry(directory, tag)?.number(0)?).ok()
    }

    /// The first numbers of any type, at most three: degrees, minutes and seconds, or hours, minutes and seconds. `None`
    /// if one of them is no number.
    pub(crate) fn reals(&self, directory: Directory, tag: u16) -> Option<Vec<f64>> {
        let entry = self.entry(directory, tag)?;
        let numbers: Option<Vec<f64>> = (0..entry.count().min(3)).map(|place| entry.real(place)).collect();
        numbers.filter(|numbers| !numbers.is_empty())
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
            assert_eq!(tags.reals(Directory::Gps, tag::GPS_LATITUDE).unwrap(), [48.0, 51.0, 29.54]);
            assert_eq!(tags.text(Directory::Primary, tag::MODEL), None);
        }
    }

    #[test]
    fn numbers_of_every_type_are_read() {
        let long = |number: i32| number.to_le_bytes().to_vec();
        let check = |kind, value: &[u8], expect: Option<u16>| {
            let block =
                ExifBlock::default().values(Directory::Primary, tag::ORIENTATION, kind, 1, value).build();
            assert_eq!(
                Tags::read(&block).unwrap().short(Directory::Primary, tag::ORIENTATION),
                expect,
                "{kind}"
            );
        };
        check(1, &[6], Some(6));
        check(3, &[6, 0], Some(6));
        check(4, &long(6), Some(6));
        check(6, &[6], Some(6));
        check(8, &[6, 0], Some(6));
        check(9, &long(6), Some(6));
        check(13, &long(6), Some(6));
        check(16, &6_u64.to_le_bytes(), Some(6));
        check(17, &6_i64.to_le_bytes(), Some(6));
        check(18, &6_u64.to_le_bytes(), Some(6));
        check(5, &[long(6), long(1)].concat(), Some(6));
        check(5, &[long(12), long(2)].concat(), Some(6));
        check(10, &[long(-6), long(-1)].concat(), Some(6));
        check(11, &6_f32.to_le_bytes(), Some(6));
        check(12, &6_f64.to_le_bytes(), Some(6));
        for (kind, value) in [
            (6, vec![0xFA]),
            (8, vec![0xFA, 0xFF]),
            (9, long(-6)),
            (17, (-6_i64).to_le_bytes().to_vec()),
            (5, [long(6), long(0)].concat()),
            (5, [long(13), long(2)].concat()),
            (10, [long(-6), long(1)].concat()),
            (10, [long(i32::MIN), long(-1)].concat()),
            (11, 6.5_f32.to_le_bytes().to_vec()),
            (12, f64::NAN.to_le_bytes().to_vec()),
            (12, 1e300_f64.to_le_bytes().to_vec()),
            (2, vec![b'6']),
            (7, vec![6]),
        ] {
            check(kind, &value, None);
        }
    }

    #[test]
    fn pointers_of_every_type_are_followed() {
        let block = ExifBlock::default().text(Directory::Exif, tag::DATE_TIME_ORIGINAL, "2019").build();
        // The type of the pointer, the only entry of the first directory.
        for kind in [4_u16, 9, 13] {
            let mut changed = block.clone();
            changed[12..14].copy_from_slice(&kind.to_le_bytes());
            let tags = Tags::read(&changed).unwrap();
            assert_eq!(
                tags.text(Directory::Exif, tag::DATE_TIME_ORIGINAL).as_deref(),
                Some("2019"),
                "{kind}"
            );
        }
    }

    #[test]
    fn tags_in_the_other_directory_are_found() {
        let block = ExifBlock::default()
            .text(Directory::Primary, tag::DATE_TIME_ORIGINAL, "2019")
            .text(Directory::Exif, tag::MAKE, "Nikon")
            .text(Directory::Primary, tag::MODEL, "first")
            .text(Directory::Exif, tag::MODEL, "second")
            .build();
        let tags = Tags::read(&block).unwrap();
        assert_eq!(tags.text(Directory::Exif, tag::DATE_TIME_ORIGINAL).as_deref(), Some("2019"));
        assert_eq!(tags.text(Directory::Primary, tag::MAKE).as_deref(), Some("Nikon"));
        assert_eq!(tags.text(Directory::Primary, tag::MODEL).as_deref(), Some("first"));
    }

    #[test]
    fn text_is_cut_at_nul_and_windows_1252_is_understood() {
        let block = ExifBlock::default()
            .bytes(Directory::Primary, tag::MAKE, 2, b"Canon\0rest of an older string")
            .bytes(Directory::Primary, tag::MODEL, 2, b"Caf\xE9 \x96 camera\0")
            .build();
        let tags = Tags::read(&block).unwrap();
        assert_eq!(tags.text(Directory::Primary, tag::MAKE).as_deref(), Some("Canon"));
        assert_eq!(tags.text(Directory::Primary, tag::MODEL).as_deref(), Some("Café – camera"));
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
                        let _ = tags.reals(directory, entry.tag);
                    }
                }
            }
        }
    }
}
