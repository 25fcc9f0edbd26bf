//! Joins directories from separate TIFF structures into one EXIF block.

use super::{ByteOrder, Directory, Entry, Structure, tag};

/// Maximum size of all values; real blocks have a few thousand bytes.
const MAX_VALUE_BYTES: usize = 1 << 20;

/// Length of an entry in bytes, and of a directory without its entries.
const ENTRY: usize = 12;
const FRAME: usize = 6;

/// Builds a block from the first directory of each structure. Structures with another byte order than the primary one are
/// left out, and so are values beyond the maximum size.
pub(crate) fn join<'a>(
    primary: &Structure<'a>,
    others: impl IntoIterator<Item = (Directory, Structure<'a>)>,
) -> Vec<u8> {
    let order = primary.order();
    let is_pointer = |entry: &Entry<'_>| {
        matches!(entry.tag, tag::EXIF_DIRECTORY | tag::GPS_DIRECTORY | tag::SUB_DIRECTORIES)
    };
    let mut left = MAX_VALUE_BYTES;
    let mut entries = |structure: &Structure<'a>| -> Vec<Entry<'a>> {
        let entries = structure.first().entries.into_iter().filter(|entry| !is_pointer(entry));
        let fits = |entry: &Entry<'_>| {
            let rest = left.checked_sub(entry.value.len());
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        entries.filter(fits).collect()
    };
    let first = entries(primary);
    let others = others.into_iter().filter(|(_, structure)| structure.order() == order);
    let others: Vec<_> = others.map(|(directory, structure)| (directory, entries(&structure))).collect();

    let mut values_at = 8 + FRAME + (first.len() + others.len()) * ENTRY;
    let mut pointers = Vec::new();
    for (directory, entries) in &others {
        let pointer = match directory {
            Directory::Primary => continue,
            Directory::Exif => tag::EXIF_DIRECTORY,
            Directory::Gps => tag::GPS_DIRECTORY,
        };
        pointers.push((pointer, values_at));
        values_at += FRAME + entries.len() * ENTRY;
    }
    let mut block = Block { order, bytes: Vec::new(), values: Vec::new(), values_at };
    block.bytes.extend(match order {
        ByteOrder::Little => *b"II*\0",
        ByteOrder::Big => *b"MM\0*",
    });
    block.number(8);
    block.directory(&first, &pointers);
    for (_, entries) in &others {
        block.directory(entries, &[]);
    }
    block.bytes.extend(block.values);
    block.bytes
}

/// A block that is being written: directories, then the values.
struct Block {
    order: ByteOrder,
    bytes: Vec<u8>,
    values: Vec<u8>,
    values_at: usize,
}

impl Block {
    fn short(&mut self, number: usize) {
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        self.bytes.extend(match self.order {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        });
    }

    fn number(&mut self, number: usize) {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.bytes.extend(match self.order {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        });
    }

    fn directory(&mut self, entries: &[Entry<'_>], pointers: &[(u16, usize)]) {
        const LONG: usize = 4;

        self.short(entries.len() + pointers.len());
        for entry in entries {
            self.short(usize::from(entry.tag));
            self.short(usize::from(entry.kind));
            self.number(entry.count());
            if entry.value.len() <= 4 {
                let padding = [0; 4];
                self.bytes.extend(entry.value.iter().chain(&padding).take(4));
            } else {
                self.number(self.values_at + self.values.len());
                self.values.extend(entry.value);
            }
        }
        for (pointer, at) in pointers {
            self.short(usize::from(*pointer));
            self.short(LONG);
            self.number(1);
            self.number(*at);
        }
        self.number(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{ExifBlock, Number};
    use crate::tiff::Tags;

    #[test]
    fn directories_are_joined() {
        for big_endian in [false, true] {
            let block = || ExifBlock::in_order(big_endian);
            let primary = block()
                .text(Directory::Primary, tag::MAKE, "Canon")
                .number(Directory::Primary, tag::ORIENTATION, Number::Short(6))
                // An invalid pointer in the new block.
                .number(Directory::Primary, tag::EXIF_DIRECTORY, Number::Long(7))
                .build();
            let exif =
                block().text(Directory::Primary, tag::DATE_TIME_ORIGINAL, "2019:07:04 18:03:22").build();
            let gps = block()
                .rationals(Directory::Primary, tag::GPS_LATITUDE, &[(48, 1), (51, 1), (29, 1)])
                .build();
            let structure = |block| Structure::read(block).unwrap();
            let joined = join(
                &structure(&primary),
                [(Directory::Exif, structure(&exif)), (Directory::Gps, structure(&gps))],
            );
            let tags = Tags::read(&joined).unwrap();
            assert_eq!(tags.text(Directory::Primary, tag::MAKE).as_deref(), Some("Canon"));
            assert_eq!(tags.short(Directory::Primary, tag::ORIENTATION), Some(6));
            let time = tags.text(Directory::Exif, tag::DATE_TIME_ORIGINAL);
            assert_eq!(time.as_deref(), Some("2019:07:04 18:03:22"));
            assert_eq!(tags.reals(Directory::Gps, tag::GPS_LATITUDE).unwrap()[1], 51.0);
        }
    }

    #[test]
    fn overlapping_values_are_bounded() {
        // A thousand values, each the whole block.
        let mut block = b"II*\0\x08\0\0\0\x00\x04".to_vec();
        let length = u32::try_from(10 + 1024 * 12 + 100_000).unwrap();
        for number in 0..1024_u16 {
            block.extend(number.to_le_bytes());
            block.extend([7, 0]);
            block.extend(length.to_le_bytes());
            block.extend([0; 4]);
        }
        block.resize(usize::try_from(length).unwrap(), 0);
        let structure = Structure::read(&block).unwrap();
        assert!(join(&structure, [(Directory::Exif, structure)]).len() < 2 * MAX_VALUE_BYTES);
    }
}
