//! Decodes PNG with the png crate. It can skip text and colour profiles, which may be decompression bombs, and converts 16
//! bits to 8 without a second copy.

mod repair;

use std::io::{BufRead, BufReader, Cursor, Seek};

use domain::PixelSize;
use png::{BitDepth, ColorType, Decoder, Limits, Transformations};

use self::repair::{RepairedPng, has_early_transparency};
use super::{Decoded, salvage};
use crate::MediaError;
use crate::container::Header;
use crate::pixels::{Layout, Pixels, zeroed};

/// Memory limit for other chunks and unfinished rows.
const MAX_AUXILIARY_BYTES: usize = 64 << 20;

/// The reason for a file with a wrong checksum.
const WRONG_CHECKSUM: &str = "a checksum is wrong";

/// The reason for transparent colours before the palette.
const EARLY_TRANSPARENCY: &str = "the transparent colours come before the palette";

/// Whether the decoder stops at a wrong checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checksums {
    Verified,
    Ignored,
}

/// Decodes a PNG. If the decoder finds an error or ignores transparency, a repaired file with all data that inflate is decoded.
pub(super) fn decode(bytes: &[u8], header: &Header) -> Result<Decoded, MediaError> {
    let reason = match read(Cursor::new(bytes), header, Checksums::Verified) {
        Ok(Decoded { damaged: Some(reason), .. }) | Err(MediaError::Corrupt(reason)) => reason,
        Ok(_) if has_early_transparency(bytes) => EARLY_TRANSPARENCY.to_owned(),
        decoded => return decoded,
    };
    let corrupt = || MediaError::Corrupt(reason.clone());
    let mut repaired = RepairedPng::new(bytes).ok_or_else(corrupt)?;
    let mut decoded = read(BufReader::new(&mut repaired), header, Checksums::Ignored)?;
    if repaired.is_incomplete {
        repaired.fill_gaps(&mut decoded.pixels);
        return salvage(decoded.pixels, reason);
    }
    let is_harmless = repaired.had_long_palette
        && !repaired.had_unknown_filter
        && ![WRONG_CHECKSUM, EARLY_TRANSPARENCY].contains(&reason.as_str());
    Ok(Decoded { damaged: (!is_harmless).then_some(reason), ..decoded })
}

/// Decodes the rows before the first error. [`Decoded::damaged`] holds that error.
fn read(file: impl BufRead + Seek, header: &Header, checksums: Checksums) -> Result<Decoded, MediaError> {
    let corrupt = |error: png::DecodingError| MediaError::Corrupt(reason(&error));
    let mut decoder = Decoder::new_with_limits(file, Limits { bytes: MAX_AUXILIARY_BYTES });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    if checksums == Checksums::Ignored {
        decoder.ignore_checksums(true);
    }
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(corrupt)?;

    let (width, height) = reader.info().size();
    let size = PixelSize { width, height };
    let layout = match reader.output_color_type() {
        (ColorType::Grayscale, BitDepth::Eight) => Layout::Gray,
        (ColorType::GrayscaleAlpha, BitDepth::Eight) => Layout::GrayAlpha,
        (ColorType::Rgb, BitDepth::Eight) => Layout::Rgb,
        (ColorType::Rgba, BitDepth::Eight) => Layout::Rgba,
        (color, depth) => {
            return Err(MediaError::Corrupt(format!("{color:?} pixels of {depth:?} bits are not supported")));
        }
    };
    let mut pixels = zeroed(size, layout.channels())?;
    if size != header.size || reader.output_buffer_size() != Some(pixels.len()) {
        return Err(MediaError::size_mismatch());
    }
    let damaged = reader.next_frame(&mut pixels).err().map(|error| reason(&error));
    Ok(Decoded { pixels: Pixels { size, layout, bytes: pixels }, damaged })
}

/// The reason for the photo's owner. Some messages of the decoder name Rust types.
fn reason(error: &png::DecodingError) -> String {
    let text = error.to_string();
    if text.starts_with("CRC error") {
        WRONG_CHECKSUM.into()
    } else if text.contains("ChunkType") {
        "a chunk is malformed".into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use flate2::Compression;
    use flate2::read::ZlibDecoder;
    use flate2::write::ZlibEncoder;

    use super::*;
    use crate::container;
    use crate::samples::png_chunk;

    const GRAY: u8 = 0;
    const RGB: u8 = 2;
    const PALETTE: u8 = 3;
    const RGBA: u8 = 6;

    /// A picture whose rows all differ.
    #[derive(Debug, Clone, Copy)]
    struct TestPicture {
        color: u8,
        depth: u8,
        interlaced: bool,
    }

    const SIDE: u32 = 150;

    /// The colour types with 8 and 16 bits, each with and without interlacing.
    fn pictures() -> impl Iterator<Item = TestPicture> {
        let kinds = [(GRAY, 8), (GRAY, 16), (RGB, 8), (RGB, 16), (PALETTE, 8), (RGBA, 8), (RGBA, 16)];
        kinds.into_iter().flat_map(|(color, depth)| {
            [false, true].map(|interlaced| TestPicture { color, depth, interlaced })
        })
    }

    impl TestPicture {
        fn bytes_per_pixel(self) -> usize {
            let channels = match self.color {
                RGB => 3,
                RGBA => 4,
                _ => 1,
            };
            channels * usize::from(self.depth / 8)
        }

        /// The rows of all passes, each with its filter type.
        fn rows(self) -> Vec<Vec<u8>> {
            let passes: &[[u32; 4]] = if self.interlaced {
                &[
                    [0, 0, 8, 8],
                    [4, 0, 8, 8],
                    [0, 4, 4, 8],
                    [2, 0, 4, 4],
                    [0, 2, 2, 4],
                    [1, 0, 2, 2],
                    [0, 1, 1, 2],
                ]
            } else {
                &[[0, 0, 1, 1]]
            };
            let mut rows = Vec::new();
            for [left, top, across, down] in passes {
                for y in (*top..SIDE).step_by(usize::try_from(*down).unwrap()) {
                    let mut row = vec![0];
                    for x in (*left..SIDE).step_by(usize::try_from(*across).unwrap()) {
                        let mut state = u64::from(x) << 32 | u64::from(y);
                        row.extend((0..self.bytes_per_pixel()).map(|_| {
                            state = (state ^ state >> 29)
                                .wrapping_mul(0xBF58_476D_1CE4_E5B9)
                                .wrapping_add(0x9E37);
                            state ^= state >> 32;
                            state.to_le_bytes()[1]
                        }));
                    }
                    rows.push(row);
                }
            }
            rows
        }

        fn packed(self) -> Vec<u8> {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&self.rows().concat()).unwrap();
            encoder.finish().unwrap()
        }

        /// The chunks of a file with these picture data, 1,500 bytes in each `IDAT`.
        fn chunks(self, packed: &[u8]) -> Vec<Vec<u8>> {
            let side = SIDE.to_be_bytes();
            let rest = [self.depth, self.color, 0, 0, u8::from(self.interlaced)];
            let palette: Vec<u8> = (0..=u8::MAX).flat_map(|at| [at, at / 2, u8::MAX - at]).collect();
            let mut chunks = vec![png_chunk(b"IHDR", &[&side[..], &side, &rest].concat())];
            chunks.extend((self.color == PALETTE).then(|| png_chunk(b"PLTE", &palette)));
            chunks.extend(packed.chunks(1500).map(|part| png_chunk(b"IDAT", part)));
            chunks.push(png_chunk(b"IEND", b""));
            chunks
        }

        fn decoded(self, chunks: &[Vec<u8>]) -> Decoded {
            decoded(&file(chunks)).unwrap_or_else(|error| panic!("{self:?}: {error}"))
        }
    }

    fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
        [b"\x89PNG\r\n\x1A\n", chunks.concat().as_slice()].concat()
    }

    fn decoded(file: &[u8]) -> Result<Decoded, MediaError> {
        decode(file, &container::read(file).unwrap().1.picture?.header)
    }

    fn corrupt_checksum(chunk: &mut [u8]) {
        *chunk.last_mut().unwrap() ^= 1;
    }

    #[test]
    fn wrong_checksum_loses_no_row() {
        for made in pictures() {
            let packed = made.packed();
            let chunks = made.chunks(&packed);
            let whole = made.decoded(&chunks);
            assert_eq!(whole.damaged, None, "{made:?}");
            let data: Vec<usize> =
                (0..chunks.len()).filter(|place| chunks[*place][4..8] == *b"IDAT").collect();
            assert!(data.len() > 4, "{made:?}");
            let header = (0..data[0]).collect::<Vec<_>>();
            let (first, middle, last) = (data[0], data[data.len() / 2], data[data.len() - 1]);
            for wrong in [vec![first], vec![middle], vec![last], data, header] {
                let mut chunks = chunks.clone();
                wrong.iter().for_each(|place| corrupt_checksum(&mut chunks[*place]));
                let read = made.decoded(&chunks);
                assert_eq!(read.damaged.as_deref(), Some("a checksum is wrong"), "{made:?} {wrong:?}");
                assert_eq!(read.pixels.bytes, whole.pixels.bytes, "{made:?} {wrong:?}");
            }
            // The checksum of the inflated data is its last four bytes.
            let mut corrupted = packed.clone();
            corrupt_checksum(&mut corrupted);
            assert_eq!(made.decoded(&made.chunks(&corrupted)).pixels.bytes, whole.pixels.bytes, "{made:?}");
        }
    }

    #[test]
    fn uniform_picture_with_a_wrong_checksum_is_kept() {
        let made = TestPicture { color: GRAY, depth: 8, interlaced: false };
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let white = [&[0][..], &[255; 150]].concat().repeat(150);
        encoder.write_all(&white).unwrap();
        let mut chunks = made.chunks(&encoder.finish().unwrap());
        corrupt_checksum(&mut chunks[1]);
        let read = made.decoded(&chunks);
        assert!(read.damaged.is_some());
        assert!(read.pixels.bytes.iter().all(|level| *level == 255));
    }

    #[test]
    fn truncated_file_keeps_all_rows_that_inflate() {
        for made in pictures().filter(|made| !made.interlaced) {
            let packed = made.packed();
            let whole = made.decoded(&made.chunks(&packed));
            let row_bytes = whole.pixels.bytes.len() / usize::try_from(SIDE).unwrap();
            for percent in [10, 50, 90] {
                let kept = packed.len() * percent / 100;
                let mut inflated = Vec::new();
                let _cut_off = ZlibDecoder::new(&packed[..kept]).read_to_end(&mut inflated);
                let rows = inflated.len() / (1 + usize::try_from(SIDE).unwrap() * made.bytes_per_pixel());
                assert!(rows > 5, "{made:?} {percent}");
                let mut chunks = made.chunks(&packed[..kept]);
                chunks.pop();
                for wrong_checksum in [false, true] {
                    if wrong_checksum {
                        let first = usize::from(made.color == PALETTE) + 1;
                        corrupt_checksum(&mut chunks[first]);
                    }
                    let read = made.decoded(&chunks);
                    assert!(read.damaged.is_some(), "{made:?} {percent}");
                    let same = read.pixels.bytes.chunks(row_bytes).zip(whole.pixels.bytes.chunks(row_bytes));
                    let same = same.take_while(|(read, true_row)| read == true_row).count();
                    assert!(same >= rows, "{made:?} {percent} %: {same} of {rows} rows");
                }
            }
        }
    }

    #[test]
    fn truncated_interlaced_file_keeps_all_pixels_that_inflate() {
        for made in pictures().filter(|made| made.interlaced) {
            let packed = made.packed();
            let whole = made.decoded(&made.chunks(&packed));
            let kept = packed.len() / 2;
            let mut inflated = Vec::new();
            let _cut_off = ZlibDecoder::new(&packed[..kept]).read_to_end(&mut inflated);
            let read = made.decoded(&made.chunks(&packed[..kept]));
            assert!(read.damaged.is_some(), "{made:?}");
            let channels = whole.pixels.layout.channels();
            let pairs = read.pixels.bytes.chunks(channels).zip(whole.pixels.bytes.chunks(channels));
            let same = pairs.filter(|(read, true_pixel)| read == true_pixel).count();
            // Each row has a filter type besides its pixels.
            let pixels = (inflated.len() - made.rows().len()) / made.bytes_per_pixel();
            assert!(same >= pixels, "{made:?}: {same} of {pixels}");
        }
    }

    #[test]
    fn missing_rows_of_later_passes_get_the_pixels_of_earlier_ones() {
        let side = usize::try_from(SIDE).unwrap();
        for made in pictures().filter(|made| made.interlaced) {
            let whole = made.decoded(&made.chunks(&made.packed())).pixels.bytes;
            let rows = made.rows();
            // Rows of passes 1 to 4, and the distances of the pixels that they have.
            for (kept, across, down) in [(19, 8, 8), (38, 4, 8), (57, 4, 4), (95, 2, 4)] {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&rows[..kept].concat()).unwrap();
                let packed = encoder.finish().unwrap();
                let read = made.decoded(&made.chunks(&packed[..packed.len() - 4]));
                assert!(read.damaged.is_some(), "{made:?} {kept}");
                let channels = read.pixels.layout.channels();
                for (place, pixel) in read.pixels.bytes.chunks(channels).enumerate() {
                    let (x, y) = (place % side, place / side);
                    let source = (y / down * down * side + x / across * across) * channels;
                    assert_eq!(*pixel, whole[source..source + channels], "{made:?} {kept}: {x}, {y}");
                }
            }
        }
    }

    #[test]
    fn palette_and_transparency_are_read_in_any_order_and_number() {
        let made = TestPicture { color: PALETTE, depth: 8, interlaced: false };
        let plain = made.chunks(&made.packed());
        let transparency = png_chunk(b"tRNS", &[9; 100]);
        let other_palette = png_chunk(b"PLTE", &[77; 768]);
        let other_transparency = png_chunk(b"tRNS", &[200; 300]);
        let with = |before: &[&Vec<u8>], after: &[&Vec<u8>]| {
            let mut chunks = plain.clone();
            chunks.splice(2..2, after.iter().map(|chunk| (*chunk).clone()));
            chunks.splice(1..1, before.iter().map(|chunk| (*chunk).clone()));
            made.decoded(&chunks)
        };
        let expect = with(&[], &[&transparency]);
        assert_eq!((expect.damaged, expect.pixels.layout), (None, Layout::Rgba));
        for (before, after) in [
            (&[][..], &[&transparency, &other_palette][..]),
            (&[], &[&other_palette, &transparency]),
            (&[], &[&other_palette, &transparency, &other_transparency]),
            (&[&transparency], &[]),
            (&[&transparency], &[&other_transparency]),
            (&[&transparency], &[&other_palette]),
        ] {
            let read = with(before, after);
            assert!(read.damaged.is_some(), "{} {}", before.len(), after.len());
            assert!(read.pixels == expect.pixels, "{} {}", before.len(), after.len());
        }
    }

    #[test]
    fn broken_data_keep_all_rows_that_inflate() {
        for made in pictures().filter(|made| !made.interlaced) {
            let mut packed = made.packed();
            let whole = made.decoded(&made.chunks(&packed));
            let middle = packed.len() / 2;
            let mut inflated = Vec::new();
            let _cut_off = ZlibDecoder::new(&packed[..middle]).read_to_end(&mut inflated);
            let rows = inflated.len() / (1 + usize::try_from(SIDE).unwrap() * made.bytes_per_pixel());
            packed[middle..].fill(0xFF);
            let read = made.decoded(&made.chunks(&packed));
            assert!(read.damaged.is_some(), "{made:?}");
            let row_bytes = whole.pixels.bytes.len() / usize::try_from(SIDE).unwrap();
            assert!(
                rows > 40 && read.pixels.bytes[..rows * row_bytes] == whole.pixels.bytes[..rows * row_bytes],
                "{made:?}"
            );
        }
    }

    #[test]
    fn unknown_filter_types_lose_no_row() {
        for made in pictures() {
            let whole = made.decoded(&made.chunks(&made.packed()));
            let mut rows = made.rows();
            rows[20][0] = 9;
            rows[90][0] = 255;
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&rows.concat()).unwrap();
            let read = made.decoded(&made.chunks(&encoder.finish().unwrap()));
            assert!(read.damaged.is_some(), "{made:?}");
            assert!(read.pixels.bytes == whole.pixels.bytes, "{made:?}");
        }
    }

    #[test]
    fn lists_of_colours_that_are_too_long_are_no_damage() {
        for made in pictures().filter(|made| matches!(made.color, PALETTE | RGB | RGBA)) {
            let mut chunks = made.chunks(&made.packed());
            let whole = made.decoded(&chunks);
            let long =
                [(0..=u8::MAX).flat_map(|at| [at, at / 2, u8::MAX - at]).collect(), vec![7; 30]].concat();
            chunks.retain(|chunk| chunk[4..8] != *b"PLTE");
            chunks.insert(1, png_chunk(b"PLTE", &long));
            let read = made.decoded(&chunks);
            assert_eq!((read.damaged, read.pixels == whole.pixels), (None, true), "{made:?}");
            if made.color == PALETTE {
                chunks.insert(2, png_chunk(b"tRNS", &[&[9; 256][..], &[1; 20]].concat()));
                let read = made.decoded(&chunks);
                assert_eq!((read.damaged, read.pixels.layout), (None, Layout::Rgba), "{made:?}");
                assert!(read.pixels.bytes.iter().skip(3).step_by(4).all(|alpha| *alpha == 9), "{made:?}");
            }
        }
    }

    #[test]
    fn file_without_its_end_is_read() {
        for made in pictures() {
            let mut chunks = made.chunks(&made.packed());
            let whole = made.decoded(&chunks);
            chunks.pop();
            assert!(made.decoded(&chunks).pixels == whole.pixels, "{made:?}");
            // The checksum of the last chunk is missing, too.
            let file = file(&chunks);
            assert!(decoded(&file[..file.len() - 4]).unwrap().pixels == whole.pixels, "{made:?}");
        }
    }

    #[test]
    fn wrong_checksum_does_not_hide_other_damage() {
        let made = TestPicture { color: RGB, depth: 8, interlaced: false };
        let packed = made.packed();
        let mut chunks = made.chunks(&packed[..packed.len() / 2]);
        corrupt_checksum(&mut chunks[1]);
        let mut header = chunks.clone();
        header[0] = png_chunk(b"IHDR", &[&[0, 0, 0, 150, 0, 0, 0, 150][..], &[8, 7, 0, 0, 0]].concat());
        corrupt_checksum(&mut header[0]);
        assert!(decoded(&file(&header)).is_err(), "a color type that does not exist");
        assert!(decoded(&file(&chunks[..1])).is_err(), "no picture data");
    }
}
