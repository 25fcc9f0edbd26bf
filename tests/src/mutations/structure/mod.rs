//! Finds the lengths, counts, offsets and sizes in a file, and the starts of its blocks.
//!
//! The walkers also read broken files, because some files are damaged twice. They use every value unchecked and stop
//! where it points outside the file.

mod bmff;
mod gif;
mod jpeg;
mod png;
mod riff;
mod tiff;

/// Maximum number of fields. With more, the first ones would be chosen rarely.
const MAX_FIELDS: usize = 4096;

/// The container format of a file, detected by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Jpeg,
    Png,
    Gif,
    Riff,
    /// Also most RAW formats.
    Tiff,
    /// HEIC and AVIF.
    Bmff,
    Unknown,
}

impl Kind {
    pub(super) fn of(file: &[u8]) -> Self {
        if file.starts_with(b"\xff\xd8") {
            Self::Jpeg
        } else if file.starts_with(b"\x89PNG\r\n\x1a\n") {
            Self::Png
        } else if file.starts_with(b"GIF8") {
            Self::Gif
        } else if file.starts_with(b"RIFF") {
            Self::Riff
        } else if file.starts_with(b"II") || file.starts_with(b"MM") {
            Self::Tiff
        } else if file.get(4..8) == Some(b"ftyp") {
            Self::Bmff
        } else {
            Self::Unknown
        }
    }
}

/// The size of an integer in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    One,
    Two,
    Four,
    Eight,
}

impl Width {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// The position of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) at: usize,
    pub(super) width: Width,
    pub(super) big_endian: bool,
}

/// The fields and blocks of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Structure {
    pub(super) fields: Vec<Field>,
    /// The starts of blocks, all inside the file.
    pub(super) blocks: Vec<usize>,
}

/// Finds the fields and blocks of a file.
pub(super) fn of(file: &[u8]) -> Structure {
    let mut walk = Walk { file, found: Structure::default() };
    match Kind::of(file) {
        Kind::Jpeg => jpeg::walk(&mut walk),
        Kind::Png => png::walk(&mut walk),
        Kind::Gif => gif::walk(&mut walk),
        Kind::Riff => riff::walk(&mut walk),
        Kind::Tiff => tiff::walk(&mut walk, 0),
        Kind::Bmff => bmff::walk(&mut walk),
        Kind::Unknown => {}
    }
    walk.found
}

/// A file, with the fields and blocks found so far.
struct Walk<'f> {
    file: &'f [u8],
    found: Structure,
}

impl Walk<'_> {
    /// Reads an integer; `None` outside the file.
    fn read(&self, at: usize, width: Width, big_endian: bool) -> Option<usize> {
        let bytes = self.file.get(at..at.checked_add(width.bytes())?)?;
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        let value = if big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) };
        usize::try_from(value).ok()
    }

    /// Records an integer and reads it.
    fn field(&mut self, at: usize, width: Width, big_endian: bool) -> Option<usize> {
        let value = self.read(at, width, big_endian)?;
        if self.found.fields.len() < MAX_FIELDS {
            self.found.fields.push(Field { at, width, big_endian });
        }
        Some(value)
    }

    /// Records integers of two bytes.
    fn pairs<const N: usize>(&mut self, places: [usize; N], big_endian: bool) {
        for at in places {
            self.field(at, Width::Two, big_endian);
        }
    }

    /// Records single bytes.
    fn bytes(&mut self, places: impl IntoIterator<Item = usize>) {
        for at in places {
            self.field(at, Width::One, true);
        }
    }

    fn block(&mut self, at: usize) {
        if at < self.file.len() {
            self.found.blocks.push(at);
        }
    }

    fn starts_with(&self, at: usize, bytes: &[u8]) -> bool {
        self.file.get(at..).is_some_and(|rest| rest.starts_with(bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The values of all fields of a fixture.
    fn values(name: &str) -> Vec<usize> {
        let file = std::fs::read(crate::fixture(name)).unwrap();
        let walk = Walk { file: &file, found: Structure::default() };
        let found = of(&file);
        assert!(!found.blocks.is_empty(), "{name}");
        found.fields.iter().map(|field| walk.read(field.at, field.width, field.big_endian).unwrap()).collect()
    }

    #[test]
    fn width_and_height_are_among_the_fields() {
        for (name, width, height) in [
            ("media/grey.jpg", 512, 848),
            ("media/progressive.jpg", 512, 848),
            ("media/palette.png", 32, 32),
            ("media/animated.gif", 32, 32),
        ] {
            let values = values(name);
            assert!(values.contains(&width) && values.contains(&height), "{name}: {values:?}");
        }
    }

    #[test]
    fn exif_inside_a_photo_is_found() {
        // The GPS directory is found through its pointer.
        let few = values("media/grey.jpg").len();
        let many = values("media/date-and-position.jpg").len();
        assert!(many > 30, "{many}");
        assert!(few > 10, "{few}");
        assert!(values("samples/orange-lossless.webp").len() > 3);
    }

    #[test]
    fn boxes_inside_boxes_are_found() {
        let boxed = |name: &[u8; 4], payload: &[u8]| {
            let size = u32::try_from(payload.len() + 8).unwrap().to_be_bytes();
            [size.as_slice(), name, payload].concat()
        };
        let ispe = boxed(b"ispe", &[0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0x0C, 0]);
        let iprp = boxed(b"iprp", &boxed(b"ipco", &ispe));
        let meta = boxed(b"meta", &[&[0; 4], iprp.as_slice()].concat());
        let file = [boxed(b"ftyp", b"heic\0\0\0\0"), meta, boxed(b"mdat", &[1; 20])].concat();
        let found = of(&file);
        assert_eq!(found.blocks.len(), 6, "{found:?}");
        let walk = Walk { file: &file, found: Structure::default() };
        let values: Vec<_> =
            found.fields.iter().filter_map(|field| walk.read(field.at, field.width, true)).collect();
        assert!(values.contains(&0x1000) && values.contains(&0x0C00), "{values:?}");
    }

    #[test]
    fn circular_directory_is_walked_once() {
        let mut file = b"II*\0\x08\0\0\0\x01\0".to_vec();
        file.extend(*b"\x69\x87\x04\0\x01\0\0\0\x08\0\0\0\x08\0\0\0");
        assert_eq!(of(&file).fields.len(), 6);
    }

    proptest! {
        #[test]
        fn fields_and_blocks_are_inside_the_file(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
            head in 0..6_usize,
        ) {
            let heads: [&[u8]; 6] = [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF\0\0\0\0WEBP", b"II*\0",
                b"\0\0\0\x08ftyp"];
            let file = [heads[head], &bytes].concat();
            let found = of(&file);
            prop_assert!(found.fields.iter().all(|field| field.at + field.width.bytes() <= file.len()));
            prop_assert!(found.blocks.iter().all(|block| *block < file.len()));
        }
    }
}
