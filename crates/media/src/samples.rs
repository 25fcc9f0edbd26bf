//! Test files: EXIF blocks built tag by tag, and small pictures in every format.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use crate::Format;
use crate::tiff::{Directory, tag};

/// A number as an EXIF value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Short(u16),
    Long(u32),
}

/// Builds an EXIF block.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExifBlock {
    big_endian: bool,
    /// Directory, tag, type, count, value.
    entries: Vec<(Directory, u16, u16, usize, Vec<u8>)>,
}

impl ExifBlock {
    /// A block in that byte order; the default is little-endian.
    pub(crate) fn in_order(big_endian: bool) -> Self {
        Self { big_endian, ..Self::default() }
    }

    pub(crate) fn bytes(mut self, directory: Directory, tag: u16, kind: u16, value: &[u8]) -> Self {
        self.entries.push((directory, tag, kind, value.len(), value.to_vec()));
        self
    }

    /// Values of any type, in the byte order of the block.
    pub(crate) fn values(
        mut self,
        directory: Directory,
        tag: u16,
        kind: u16,
        count: usize,
        value: &[u8],
    ) -> Self {
        self.entries.push((directory, tag, kind, count, value.to_vec()));
        self
    }

    pub(crate) fn text(self, directory: Directory, tag: u16, text: &str) -> Self {
        self.bytes(directory, tag, 2, format!("{text}\0").as_bytes())
    }

    pub(crate) fn number(mut self, directory: Directory, tag: u16, number: Number) -> Self {
        let (kind, value) = match number {
            Number::Short(number) => (3, self.u16(number).to_vec()),
            Number::Long(number) => (4, self.u32(number).to_vec()),
        };
        self.entries.push((directory, tag, kind, 1, value));
        self
    }

    pub(crate) fn rationals(mut self, directory: Directory, tag: u16, values: &[(u32, u32)]) -> Self {
        let value = values.iter().flat_map(|(n, d)| [self.u32(*n), self.u32(*d)].concat()).collect();
        self.entries.push((directory, tag, 5, values.len(), value));
        self
    }

    pub(crate) fn build(mut self) -> Vec<u8> {
        for (directory, pointer) in
            [(Directory::Exif, tag::EXIF_DIRECTORY), (Directory::Gps, tag::GPS_DIRECTORY)]
        {
            if self.entries.iter().any(|entry| entry.0 == directory) {
                self = self.number(Directory::Primary, pointer, Number::Long(0));
            }
        }
        let mut block = if self.big_endian { b"MM\0*".to_vec() } else { b"II*\0".to_vec() };
        block.extend(self.u32(8));
        for directory in [Directory::Primary, Directory::Exif, Directory::Gps] {
            self.append(directory, &mut block);
        }
        block
    }

    fn append(&self, directory: Directory, block: &mut Vec<u8>) {
        let entries: Vec<_> = self.entries.iter().filter(|entry| entry.0 == directory).collect();
        if entries.is_empty() && directory != Directory::Primary {
            return;
        }
        let start = u32::try_from(block.len()).unwrap();
        let pointer = match directory {
            Directory::Primary => None,
            Directory::Exif => Some(tag::EXIF_DIRECTORY),
            Directory::Gps => Some(tag::GPS_DIRECTORY),
        };
        if let Some(pointer) = pointer {
            let needle = [&self.u16(pointer)[..], &self.u16(4), &self.u32(1), &self.u32(0)].concat();
            let at = block.windows(12).position(|window| window == needle).unwrap();
            block[at + 8..at + 12].copy_from_slice(&self.u32(start));
        }
        let mut values = Vec::new();
        let values_start = block.len() + 2 + entries.len() * 12 + 4;
        block.extend(self.u16(u16::try_from(entries.len()).unwrap()));
        for (_, tag, kind, count, value) in entries {
            block.extend([&self.u16(*tag)[..], &self.u16(*kind)].concat());
            block.extend(self.u32(u32::try_from(*count).unwrap()));
            if value.len() <= 4 {
                let mut inline = value.clone();
                inline.resize(4, 0);
                block.extend(inline);
            } else {
                block.extend(self.u32(u32::try_from(values_start + values.len()).unwrap()));
                values.extend_from_slice(value);
            }
        }
        block.extend([0; 4]);
        block.extend(values);
    }

    fn u16(&self, number: u16) -> [u8; 2] {
        if self.big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn u32(&self, number: u32) -> [u8; 4] {
        if self.big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
    }
}

/// A picture with a red, a green, a blue and a white quarter (left to right, top to bottom).
pub(crate) fn quarters(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| match (x * 2 < width, y * 2 < height) {
        (true, true) => Rgb([220, 20, 20]),
        (false, true) => Rgb([20, 200, 20]),
        (true, false) => Rgb([20, 20, 220]),
        (false, false) => Rgb([240, 240, 240]),
    })
}

pub(crate) fn encode(picture: &DynamicImage, format: Format) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let format = match format {
        Format::Jpeg => ImageFormat::Jpeg,
        Format::Png => ImageFormat::Png,
        Format::WebP => ImageFormat::WebP,
        Format::Gif => ImageFormat::Gif,
        other => panic!("{other:?} cannot be encoded"),
    };
    picture.write_to(&mut file, format).unwrap();
    file.into_inner()
}

pub(crate) fn small_files() -> Vec<(Format, Vec<u8>)> {
    let picture = DynamicImage::from(quarters(48, 32));
    [Format::Jpeg, Format::Png, Format::WebP, Format::Gif]
        .into_iter()
        .map(|format| (format, encode(&picture, format)))
        .collect()
}

/// Puts an EXIF block into a file.
pub(crate) fn with_exif(format: Format, file: &[u8], block: &[u8]) -> Vec<u8> {
    match format {
        Format::Jpeg => {
            let payload = [b"Exif\0\0", block].concat();
            let length = u16::try_from(payload.len() + 2).unwrap().to_be_bytes();
            [&file[..2], &[0xFF, 0xE1], &length, &payload, &file[2..]].concat()
        }
        // After the signature (8 bytes) and the header chunk (25).
        Format::Png => [&file[..33], &png_chunk(b"eXIf", block), &file[33..]].concat(),
        Format::WebP => {
            let size = crate::probe(file, &crate::Limits::default()).unwrap().stored_size;
            let side = |side: u32| (side - 1).to_le_bytes();
            let extended = [&[0x08, 0, 0, 0][..], &side(size.width)[..3], &side(size.height)[..3]].concat();
            let chunks =
                [&riff_chunk(b"VP8X", &extended)[..], &file[12..], &riff_chunk(b"EXIF", block)].concat();
            riff_file(&chunks)
        }
        _ => file.to_vec(),
    }
}

/// A PNG chunk with its checksum.
pub(crate) fn png_chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let checksum = [&kind[..], data].concat().iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 },
        )
    });
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    [&length[..], kind, data, &(!checksum).to_be_bytes()].concat()
}

pub(crate) fn riff_chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_le_bytes();
    let padding = if data.len() % 2 == 1 { &[0][..] } else { &[] };
    [&kind[..], &length, data, padding].concat()
}

pub(crate) fn riff_file(chunks: &[u8]) -> Vec<u8> {
    let length = u32::try_from(chunks.len() + 4).unwrap().to_le_bytes();
    [b"RIFF", &length[..], b"WEBP", chunks].concat()
}

pub(crate) fn photoshop_resource(id: u16, name: &str, data: &[u8]) -> Vec<u8> {
    let padding = |odd: bool| if odd { &[0][..] } else { &[] };
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    let name_length = u8::try_from(name.len()).unwrap();
    let name_padding = padding(name.len().is_multiple_of(2));
    [
        b"8BIM",
        &id.to_be_bytes()[..],
        &[name_length],
        name.as_bytes(),
        name_padding,
        &length,
        data,
        padding(data.len() % 2 == 1),
    ]
    .concat()
}
