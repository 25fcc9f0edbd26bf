//! Every compression.

use ::fax::maps::{black, white};
use ::fax::{BitWriter as _, Color, VecWriter};
use image::{DynamicImage, RgbImage};

use super::*;

/// Alternates literals and repeats.
pub(super) fn pack_bits(row: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    for piece in row.chunk_by(|a, b| a == b) {
        for piece in piece.chunks(128) {
            match piece {
                // No operation, then a literal of one byte.
                [byte] => packed.extend([128, 0, *byte]),
                piece => packed.extend([u8::try_from(257 - piece.len()).unwrap(), piece[0]]),
            }
        }
    }
    packed
}

/// Whether the bits of a row are black (1).
fn bits(row: &[u8], width: u32) -> impl Iterator<Item = bool> {
    (0..width as usize).map(|at| row[at / 8] >> (7 - at % 8) & 1 == 1)
}

pub(super) fn group_4(rows: &[Vec<u8>], width: u32) -> Vec<u8> {
    let mut encoder = ::fax::encoder::Encoder::new(VecWriter::new());
    for row in rows {
        let pixels = bits(row, width).map(|is_black| if is_black { Color::Black } else { Color::White });
        encoder.encode_line(pixels, width).unwrap();
    }
    encoder.finish().unwrap().finish()
}

pub(super) fn group_3(rows: &[Vec<u8>], width: u32, byte_aligned: bool) -> Vec<u8> {
    let mut chunk = Vec::new();
    let mut writer = VecWriter::new();
    for row in rows {
        if !byte_aligned {
            writer.write(::fax::maps::EOL).unwrap();
        }
        let (mut is_black, mut run) = (false, 0_u16);
        let mut write = |is_black: bool, run: u16| {
            let code = |run| (if is_black { black::encode(run) } else { white::encode(run) }).unwrap();
            if run >= 64 {
                writer.write(code(run / 64 * 64)).unwrap();
            }
            writer.write(code(run % 64)).unwrap();
        };
        for bit in bits(row, width) {
            if bit != is_black {
                write(is_black, run);
                (is_black, run) = (bit, 0);
            }
            run += 1;
        }
        write(is_black, run);
        if byte_aligned {
            chunk.extend(std::mem::replace(&mut writer, VecWriter::new()).finish());
        }
    }
    chunk.extend(writer.finish());
    chunk
}

#[test]
fn every_compression_of_bytes_is_read() {
    for compression in [1, 5, 8, 32_946, 32_773] {
        for predictor in [1, 2] {
            // Only these two have a predictor.
            let predictor = if matches!(compression, 5 | 8 | 32_946) { predictor } else { 1 };
            for (big_endian, planar, tiles) in [
                (false, false, None),
                (true, false, Some((16, 16))),
                (false, true, None),
                (true, true, Some((16, 16))),
            ] {
                for (bits, value) in [
                    (8, gradient as fn(u32, u32, u32) -> u64),
                    (16, |x, y, s| gradient(x, y, s) * 257),
                    (32, |x, y, s| gradient(x, y, s) * 0x0101_0101),
                    (64, |x, y, s| gradient(x, y, s) * 0x0101_0101_0101_0101),
                ] {
                    let tiff = TestTiff {
                        bits,
                        value,
                        compression,
                        predictor,
                        big_endian,
                        planar,
                        tiles,
                        ..TestTiff::default()
                    };
                    check(&tiff, Layout::Rgb, &gradient_bytes(&tiff));
                }
            }
        }
    }
}

#[test]
fn predictor_of_other_compressions_is_ignored() {
    let tiff = TestTiff { more: vec![(317, Value::Shorts(vec![2]))], ..TestTiff::default() };
    check(&tiff, Layout::Rgb, &gradient_bytes(&tiff));
}

#[test]
fn every_kind_of_fax_is_read() {
    /// Discs, a white row, a black row, and rows that start with black.
    fn discs(x: u32, y: u32, _: u32) -> u64 {
        let (dx, dy) = (i64::from(x % 150) - 75, i64::from(y) - 9);
        u64::from(y == 3 || (y != 0 && y != 17 && dx * dx + dy * dy * 60 < 4800) || (x < 2 && y % 4 == 1))
    }
    for compression in [2, 3, 4] {
        for (size, rows_per_strip) in [((700, 18), 18), ((701, 18), 7), ((2, 18), 18)] {
            let tiff = TestTiff {
                size,
                value: discs,
                bits: 1,
                samples: 1,
                photometric: 0,
                compression,
                rows_per_strip,
                ..TestTiff::default()
            };
            let expect = bytes_of(&tiff, |x, y| vec![if discs(x, y, 0) == 1 { 0 } else { 255 }]);
            check(&tiff, Layout::Gray, &expect);
        }
    }
}

#[test]
fn reversed_bit_order_is_read() {
    for compression in [1, 5, 8, 32_773] {
        let straight = TestTiff { compression, rows_per_strip: 18, ..TestTiff::default() };
        let mut writer = Writer::new(false, false);
        let rows: Vec<_> = (0..18).map(|y| straight.row(y, 0..20, &[0, 1, 2])).collect();
        let turned: Vec<u8> =
            compress(compression, &rows, 20).iter().map(|byte| byte.reverse_bits()).collect();
        let data = writer.data(&turned);
        let more = vec![
            (266, Value::Shorts(vec![2])),
            (273, Value::Longs(vec![data])),
            (279, Value::Longs(vec![u32::try_from(turned.len()).unwrap()])),
        ];
        let first = TestTiff { more, ..straight.clone() }.write(&mut writer, 0);
        assert_eq!(unpack_file(&writer.finish(first)).unwrap().pixels.bytes, gradient_bytes(&straight));
    }
}

#[test]
fn old_lzw_is_read() {
    let tiff = TestTiff { rows_per_strip: 18, ..TestTiff::default() };
    let rows: Vec<_> = (0..18).map(|y| tiff.row(y, 0..20, &[0, 1, 2])).collect();
    let packed = weezl::encode::Encoder::new(weezl::BitOrder::Lsb, 8).encode(&rows.concat()).unwrap();
    let mut writer = Writer::new(false, false);
    let data = writer.data(&packed);
    let length = u32::try_from(packed.len()).unwrap();
    let more = vec![
        (259, Value::Shorts(vec![5])),
        (273, Value::Longs(vec![data])),
        (279, Value::Longs(vec![length])),
    ];
    let first = TestTiff { more, ..tiff.clone() }.write(&mut writer, 0);
    assert_eq!(unpack_file(&writer.finish(first)).unwrap().pixels.bytes, gradient_bytes(&tiff));
}

/// Splits a JPEG into its tables and the rest, each a JPEG stream.
fn split(jpeg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut tables, mut rest) = (vec![0xFF, 0xD8], vec![0xFF, 0xD8]);
    let mut at = 2;
    while jpeg[at + 1] != 0xDA {
        let length = 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
        let segment = &jpeg[at..at + length];
        match jpeg[at + 1] {
            0xC4 | 0xDB => tables.extend(segment),
            // These segments are left out: the TIFF declares the colour space, not the JPEG.
            0xE0..=0xEF => {}
            _ => rest.extend(segment),
        }
        at += length;
    }
    rest.extend(&jpeg[at..]);
    tables.extend([0xFF, 0xD9]);
    (tables, rest)
}

/// A TIFF of JPEG strips with shared tables.
pub(super) fn with_jpeg_strips(picture: &RgbImage, rows_per_strip: u32) -> Vec<u8> {
    let mut writer = Writer::new(false, false);
    let (mut offsets, mut lengths, mut shared) = (Vec::new(), Vec::new(), Vec::new());
    for top in (0..picture.height()).step_by(rows_per_strip as usize) {
        let height = rows_per_strip.min(picture.height() - top);
        let strip = image::imageops::crop_imm(picture, 0, top, picture.width(), height).to_image();
        let (tables, strip) = split(&encode(&DynamicImage::from(strip), Format::Jpeg));
        shared = tables;
        offsets.push(writer.data(&strip));
        lengths.push(u32::try_from(strip.len()).unwrap());
    }
    let entries = [
        (256, Value::Longs(vec![picture.width()])),
        (257, Value::Longs(vec![picture.height()])),
        (258, Value::Shorts(vec![8, 8, 8])),
        (259, Value::Shorts(vec![7])),
        (262, Value::Shorts(vec![6])),
        (273, Value::Longs(offsets)),
        (277, Value::Shorts(vec![3])),
        (278, Value::Longs(vec![rows_per_strip])),
        (279, Value::Longs(lengths)),
        (347, Value::Undefined(shared)),
        (530, Value::Shorts(vec![1, 1])),
    ];
    let first = writer.directory(&entries, 0);
    writer.finish(first)
}

fn looks_like(decoded: &Decoded, expect: &[u8]) {
    assert_eq!(decoded.damaged, None);
    assert_eq!(decoded.pixels.bytes.len(), expect.len());
    let sum: u64 = decoded.pixels.bytes.iter().zip(expect).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    assert!(sum < expect.len() as u64 * 6, "{sum}");
}

#[test]
fn jpeg_strips_with_shared_tables_are_read() {
    let picture = quarters(64, 48);
    looks_like(&unpack_file(&with_jpeg_strips(&picture, 16)).unwrap(), picture.as_raw());
    looks_like(&unpack_file(&with_jpeg_strips(&picture, 48)).unwrap(), picture.as_raw());
    // The last strip is shorter.
    looks_like(&unpack_file(&with_jpeg_strips(&picture, 40)).unwrap(), picture.as_raw());
}

#[test]
fn old_style_jpeg_is_read() {
    let picture = quarters(64, 48);
    let mut writer = Writer::new(true, false);
    let jpeg = writer.data(&encode(&DynamicImage::from(picture.clone()), Format::Jpeg));
    let entries = [
        (256, Value::Longs(vec![64])),
        (257, Value::Longs(vec![48])),
        (258, Value::Shorts(vec![8, 8, 8])),
        (259, Value::Shorts(vec![6])),
        (262, Value::Shorts(vec![6])),
        (277, Value::Shorts(vec![3])),
        (513, Value::Longs(vec![jpeg])),
    ];
    let first = writer.directory(&entries, 0);
    looks_like(&unpack_file(&writer.finish(first)).unwrap(), picture.as_raw());
}

#[test]
fn old_style_jpeg_strips_without_segments_are_read() {
    let picture = quarters(64, 48);
    for rows_per_strip in [16, 40, 48] {
        let mut writer = Writer::new(true, false);
        let (mut offsets, mut lengths, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for top in (0..48).step_by(rows_per_strip as usize) {
            let height = rows_per_strip.min(48 - top);
            let strip = image::imageops::crop_imm(&picture, 0, top, 64, height).to_image();
            let jpeg = encode(&DynamicImage::from(strip), Format::Jpeg);
            let (data, tables, sampling) = entropy_coded(&jpeg);
            offsets.push(writer.data(data));
            lengths.push(u32::try_from(data.len()).unwrap());
            fields = tables
                .into_iter()
                .map(|(tag, tables)| {
                    (tag, Value::Longs(tables.iter().map(|table| writer.data(table)).collect()))
                })
                .collect();
            fields.push((530, Value::Shorts(vec![u16::from(sampling >> 4), u16::from(sampling & 15)])));
        }
        fields.extend([
            (256, Value::Longs(vec![64])),
            (257, Value::Longs(vec![48])),
            (258, Value::Shorts(vec![8, 8, 8])),
            (259, Value::Shorts(vec![6])),
            (262, Value::Shorts(vec![6])),
            (273, Value::Longs(offsets)),
            (277, Value::Shorts(vec![3])),
            (278, Value::Longs(vec![rows_per_strip])),
            (279, Value::Longs(lengths)),
            (512, Value::Shorts(vec![1])),
        ]);
        let first = writer.directory(&fields, 0);
        looks_like(&unpack_file(&writer.finish(first)).unwrap(), picture.as_raw());
    }
}

/// Tags, each with one table for each component.
type TableFields = Vec<(u16, Vec<Vec<u8>>)>;

/// The data of the only scan in a JPEG, its tables for each component, and the sampling of the first component.
fn entropy_coded(jpeg: &[u8]) -> (&[u8], TableFields, u8) {
    let (mut quantisation, mut huffman) = (vec![Vec::new(); 4], vec![Vec::new(); 32]);
    let (mut frame, mut at) = (&jpeg[..0], 2);
    loop {
        let end = at + 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
        let mut payload = &jpeg[at + 4..end];
        match jpeg[at + 1] {
            0xDB => {
                for table in payload.chunks(65) {
                    quantisation[usize::from(table[0])] = table[1..].to_vec();
                }
            }
            0xC4 => {
                while !payload.is_empty() {
                    let length = 17 + payload[1..17].iter().map(|count| usize::from(*count)).sum::<usize>();
                    huffman[usize::from(payload[0])] = payload[1..length].to_vec();
                    payload = &payload[length..];
                }
            }
            0xC0 => frame = payload,
            0xDA => {
                let components = frame[6..].chunks(3).zip(payload[1..].chunks(2));
                let (mut q, mut dc, mut ac) = (Vec::new(), Vec::new(), Vec::new());
                for (frame, scan) in components.take(3) {
                    q.push(quantisation[usize::from(frame[2])].clone());
                    dc.push(huffman[usize::from(scan[1] >> 4)].clone());
                    ac.push(huffman[usize::from(0x10 | scan[1] & 15)].clone());
                }
                return (&jpeg[end..jpeg.len() - 2], vec![(519, q), (520, dc), (521, ac)], frame[7]);
            }
            _ => {}
        }
        at = end;
    }
}

#[test]
fn old_style_jpeg_file_with_only_tables_is_read() {
    let picture = quarters(64, 48);
    let mut writer = Writer::new(true, false);
    let jpeg = encode(&DynamicImage::from(picture.clone()), Format::Jpeg);
    let tables = writer.data(&jpeg[..jpeg.len() / 2]);
    let strip = writer.data(&jpeg[jpeg.len() / 2..]);
    let entries = [
        (256, Value::Longs(vec![64])),
        (257, Value::Longs(vec![48])),
        (258, Value::Shorts(vec![8, 8, 8])),
        (259, Value::Shorts(vec![6])),
        (262, Value::Shorts(vec![6])),
        (273, Value::Longs(vec![strip])),
        (277, Value::Shorts(vec![3])),
        (513, Value::Longs(vec![tables])),
        (514, Value::Longs(vec![u32::try_from(jpeg.len() / 2).unwrap()])),
    ];
    let first = writer.directory(&entries, 0);
    looks_like(&unpack_file(&writer.finish(first)).unwrap(), picture.as_raw());
}

#[test]
fn rows_missing_before_the_end_mark_are_white() {
    // The width varies the number of bits before the end mark.
    for width in 100..140 {
        let rows: Vec<Vec<u8>> = (0..5_u8)
            .map(|y| (0..18_u8).map(|x| x.wrapping_mul(37) ^ y.wrapping_mul(11)).collect())
            .collect();
        let (unpacked, damaged) = fax::group_4(&group_4(&rows, width), width, 9);
        assert_eq!(damaged, None, "{width}");
        let row_bytes = usize::try_from(width.div_ceil(8)).unwrap();
        assert_eq!(unpacked.len(), 9 * row_bytes);
        assert_eq!(unpacked[..row_bytes - 1], rows[0][..row_bytes - 1]);
        assert!(unpacked[5 * row_bytes..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn truncated_fax_is_filled_with_white() {
    let tiff = TestTiff {
        size: (200, 40),
        value: |x, y, _| u64::from((x + y) % 50 < 20),
        bits: 1,
        samples: 1,
        photometric: 0,
        compression: 4,
        rows_per_strip: 40,
        ..TestTiff::default()
    };
    let file = tiff.file();
    let whole = unpack_file(&file).unwrap().pixels.bytes;
    let more = vec![(279, Value::Shorts(vec![20]))];
    let decoded = unpack_file(&TestTiff { more, ..tiff }.file()).unwrap();
    assert_eq!(decoded.damaged.as_deref(), Some("the file is cut off"));
    assert_eq!(decoded.pixels.bytes[..200], whole[..200]);
    assert!(decoded.pixels.bytes[39 * 200..].iter().all(|byte| *byte == 255));
}
