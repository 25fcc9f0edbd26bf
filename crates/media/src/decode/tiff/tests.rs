use std::io::Write as _;

use proptest::prelude::*;

use super::*;
use crate::Format;
use crate::container::{self, Coded};
use crate::pixels::Layout;
use crate::samples::{encode, quarters};
use crate::tiff::Directories;
use crate::tiff::writer::{Value, Writer};

mod broken;
mod colours;
mod packed;

/// Describes a TIFF file to write.
#[derive(Debug, Clone)]
struct TestTiff {
    size: (u32, u32),
    /// The value of a sample, by x, y and sample number.
    value: fn(u32, u32, u32) -> u64,
    bits: u16,
    samples: u32,
    photometric: u16,
    compression: u16,
    predictor: u16,
    planar: bool,
    /// The tile size; `None` for strips.
    tiles: Option<(u32, u32)>,
    rows_per_strip: u32,
    big_endian: bool,
    big: bool,
    more: Vec<(u16, Value)>,
}

impl Default for TestTiff {
    /// 8-bit RGB without compression, in three strips.
    fn default() -> Self {
        Self {
            size: (20, 18),
            value: gradient,
            bits: 8,
            samples: 3,
            photometric: 2,
            compression: 1,
            predictor: 1,
            planar: false,
            tiles: None,
            rows_per_strip: 7,
            big_endian: false,
            big: false,
            more: Vec::new(),
        }
    }
}

/// Varies with position and sample.
fn gradient(x: u32, y: u32, sample: u32) -> u64 {
    u64::from((x * 13 + y * 29 + sample * 71) % 256)
}

/// All samples of a picture as bytes.
fn bytes_of(tiff: &TestTiff, samples: impl Fn(u32, u32) -> Vec<u8>) -> Vec<u8> {
    let (width, height) = tiff.size;
    (0..height)
        .flat_map(|y| (0..width).flat_map(move |x| [(x, y)]))
        .flat_map(|(x, y)| samples(x, y))
        .collect()
}

fn gradient_bytes(tiff: &TestTiff) -> Vec<u8> {
    let samples = tiff.samples;
    bytes_of(tiff, |x, y| (0..samples).map(|sample| u8::try_from(gradient(x, y, sample)).unwrap()).collect())
}

impl TestTiff {
    fn file(&self) -> Vec<u8> {
        let mut writer = Writer::new(self.big_endian, self.big);
        let first = self.write(&mut writer, 0);
        writer.finish(first)
    }

    /// Adds the picture to a file. `next` is the offset of the directory that follows its own.
    fn write(&self, writer: &mut Writer, next: u32) -> u32 {
        let (width, height) = self.size;
        let (chunk_width, chunk_height) = self.tiles.unwrap_or((width, self.rows_per_strip));
        let planes: Vec<Vec<u32>> = if self.planar {
            (0..self.samples).map(|sample| vec![sample]).collect()
        } else {
            vec![(0..self.samples).collect()]
        };
        let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
        for samples in &planes {
            for top in (0..height).step_by(chunk_height as usize) {
                for left in (0..width).step_by(chunk_width as usize) {
                    let bottom = if self.tiles.is_some() {
                        top + chunk_height
                    } else {
                        height.min(top + chunk_height)
                    };
                    let rows: Vec<Vec<u8>> =
                        (top..bottom).map(|y| self.row(y, left..left + chunk_width, samples)).collect();
                    let chunk = compress(self.compression, &rows, chunk_width);
                    offsets.push(writer.data(&chunk));
                    lengths.push(u32::try_from(chunk.len()).unwrap());
                }
            }
        }
        let count = usize::try_from(self.samples).unwrap();
        let mut entries = vec![
            (256, Value::Longs(vec![width])),
            (257, Value::Longs(vec![height])),
            (258, Value::Shorts(vec![self.bits; count])),
            (259, Value::Shorts(vec![self.compression])),
            (262, Value::Shorts(vec![self.photometric])),
            (277, Value::Shorts(vec![u16::try_from(count).unwrap()])),
            (284, Value::Shorts(vec![if self.planar { 2 } else { 1 }])),
            (317, Value::Shorts(vec![self.predictor])),
        ];
        if let Some((width, height)) = self.tiles {
            entries.push((322, Value::Longs(vec![width])));
            entries.push((323, Value::Longs(vec![height])));
            entries.push((324, Value::Longs(offsets)));
            entries.push((325, Value::Longs(lengths)));
        } else {
            entries.push((273, Value::Longs(offsets)));
            entries.push((278, Value::Longs(vec![self.rows_per_strip])));
            entries.push((279, Value::Longs(lengths)));
        }
        // Entries in `more` replace others.
        entries.retain(|(tag, _)| self.more.iter().all(|(added, _)| added != tag));
        entries.extend(self.more.iter().cloned());
        writer.directory(&entries, next)
    }

    /// A row of a chunk, with its prediction.
    fn row(&self, y: u32, columns: std::ops::Range<u32>, samples: &[u32]) -> Vec<u8> {
        let values = columns.flat_map(|x| samples.iter().map(move |sample| (x, *sample)));
        let mut values: Vec<u64> = values.map(|(x, sample)| (self.value)(x, y, sample)).collect();
        let (bits, stride) = (usize::from(self.bits), samples.len());
        match self.predictor {
            2 => {
                let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                for place in (stride..values.len()).rev() {
                    values[place] = values[place].wrapping_sub(values[place - stride]) & mask;
                }
            }
            3 => {
                let length = bits / 8;
                let bytes: Vec<_> =
                    values.iter().map(|value| value.to_be_bytes()[8 - length..].to_vec()).collect();
                let mut row: Vec<u8> =
                    (0..length).flat_map(|weight| bytes.iter().map(move |value| value[weight])).collect();
                for place in (stride..row.len()).rev() {
                    row[place] = row[place].wrapping_sub(row[place - stride]);
                }
                return row;
            }
            _ => {}
        }
        if bits % 8 == 0 {
            return values.iter().flat_map(|value| ordered(*value, bits / 8, self.big_endian)).collect();
        }
        let mut row = vec![0; (values.len() * bits).div_ceil(8)];
        for (place, value) in values.iter().enumerate() {
            for bit in 0..bits {
                let at = place * bits + bit;
                row[at / 8] |= u8::try_from(value >> (bits - 1 - bit) & 1).unwrap() << (7 - at % 8);
            }
        }
        row
    }
}

fn ordered(value: u64, length: usize, big_endian: bool) -> Vec<u8> {
    let mut bytes = value.to_be_bytes()[8 - length..].to_vec();
    if !big_endian {
        bytes.reverse();
    }
    bytes
}

fn compress(compression: u16, rows: &[Vec<u8>], width: u32) -> Vec<u8> {
    let whole = rows.concat();
    match compression {
        2 | 3 => packed::group_3(rows, width, compression == 2),
        4 => packed::group_4(rows, width),
        5 => weezl::encode::Encoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8).encode(&whole).unwrap(),
        8 | 32_946 => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(&whole).unwrap();
            encoder.finish().unwrap()
        }
        32_773 => rows.iter().flat_map(|row| packed::pack_bits(row)).collect(),
        _ => whole,
    }
}

fn unpack_file(file: &[u8]) -> Result<Decoded, MediaError> {
    let found = Directories::read(file);
    match container::tiff::read(file, found.as_ref()).picture?.coded {
        Coded::Tiff(file, image) => decode(file, &image),
        other => panic!("{other:?}"),
    }
}

fn check(tiff: &TestTiff, layout: Layout, expect: &[u8]) {
    let decoded = unpack_file(&tiff.file()).unwrap();
    let what = format!(
        "{:?} {} bits, {} samples, photometric {}, compression {}, predictor {}, planar {}, tiles {:?}, big-endian {}, BigTIFF {}",
        layout,
        tiff.bits,
        tiff.samples,
        tiff.photometric,
        tiff.compression,
        tiff.predictor,
        tiff.planar,
        tiff.tiles,
        tiff.big_endian,
        tiff.big
    );
    assert_eq!(decoded.damaged, None, "{what}");
    assert_eq!(decoded.pixels.layout, layout, "{what}");
    assert!(
        decoded.pixels.bytes == expect,
        "{what}: {:?}… is not {:?}…",
        &decoded.pixels.bytes[..12],
        &expect[..12]
    );
}

#[test]
fn strips_and_tiles_are_read_in_every_byte_order() {
    for (big_endian, big) in [(false, false), (true, false), (false, true), (true, true)] {
        for planar in [false, true] {
            for tiles in [None, Some((16, 16)), Some((32, 32)), Some((16, 4))] {
                for (bits, value) in [
                    (8, gradient as fn(u32, u32, u32) -> u64),
                    (16, |x, y, sample| gradient(x, y, sample) * 257),
                    (32, |x, y, sample| gradient(x, y, sample) << 24),
                ] {
                    let tiff =
                        TestTiff { bits, value, planar, tiles, big_endian, big, ..TestTiff::default() };
                    check(&tiff, Layout::Rgb, &gradient_bytes(&tiff));
                }
            }
        }
    }
}

#[test]
fn full_picture_is_preferred_to_its_thumbnail() {
    let full = TestTiff::default();
    let small = TestTiff { size: (4, 3), more: vec![(254, Value::Longs(vec![1]))], ..TestTiff::default() };
    let expect = gradient_bytes(&full);

    let mut in_chain = Writer::new(false, false);
    let second = full.write(&mut in_chain, 0);
    let first = small.write(&mut in_chain, second);
    let mut in_child = Writer::new(false, false);
    let child = full.write(&mut in_child, 0);
    let more = vec![(254, Value::Longs(vec![1])), (330, Value::Longs(vec![child]))];
    let parent = TestTiff { more, ..small.clone() }.write(&mut in_child, 0);
    for file in [in_chain.finish(first), in_child.finish(parent)] {
        assert_eq!(unpack_file(&file).unwrap().pixels.bytes, expect);
    }

    // The first full picture counts, or a thumbnail if there is none.
    let mut two = Writer::new(false, false);
    let other = TestTiff { size: (4, 3), ..TestTiff::default() };
    let second = other.write(&mut two, 0);
    let first = full.write(&mut two, second);
    assert_eq!(unpack_file(&two.finish(first)).unwrap().pixels.bytes, expect);
    assert_eq!(unpack_file(&small.file()).unwrap().pixels.bytes, gradient_bytes(&small));
}

#[test]
fn tiles_listed_as_strips_are_read() {
    let tiled = TestTiff { tiles: Some((16, 16)), ..TestTiff::default() };
    let file = tiled.file();
    // Replaces the tile tags by strip tags.
    let renamed = [(324, 273), (325, 279)].into_iter().fold(file, |file, (from, to): (u16, u16)| {
        let entry = [&from.to_le_bytes()[..], &[4, 0, 4, 0, 0, 0]].concat();
        let at = file.windows(8).position(|bytes| bytes == entry).unwrap();
        [&file[..at], &to.to_le_bytes()[..], &file[at + 2..]].concat()
    });
    assert_eq!(unpack_file(&renamed).unwrap().pixels.bytes, gradient_bytes(&tiled));
}

#[test]
fn strips_without_lengths_are_read() {
    for compression in [1, 5, 8, 32_773] {
        // A text replaces the list of lengths.
        let tiff = TestTiff { compression, more: vec![(279, Value::Text("none"))], ..TestTiff::default() };
        check(&tiff, Layout::Rgb, &gradient_bytes(&tiff));
    }
}

#[test]
fn rendition_is_made() {
    let picture = quarters(64, 48);
    let file = packed::with_jpeg_strips(&picture, 16);
    let rendered = crate::render(&file, &[domain::Rendition::Thumb], &crate::Limits::default()).unwrap();
    assert_eq!((rendered.full_size.width, rendered.full_size.height, rendered.damaged), (64, 48, None));
}
