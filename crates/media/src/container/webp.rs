//! Reads WebP headers: RFC 9649, sections 2.3 to 2.7 (container) and 3.4.1 (lossless header); RFC 6386, 9.1 (lossy
//! header).

use domain::PixelSize;

use super::{Blocks, Coded, Colour, Container, Header, Picture, take};
use crate::MediaError;

/// The chunks of a RIFF file or of an animation frame.
struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Chunks<'a> {
    fn of_file(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.get(12..).unwrap_or_default() }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = (&'a [u8], &'a [u8]);

    /// The next chunk's type and data, up to the end of the file.
    fn next(&mut self) -> Option<Self::Item> {
        let kind = take(&mut self.rest, 4)?;
        let length = take(&mut self.rest, 4)?.try_into().ok().map(u32::from_le_bytes)?;
        let length = usize::try_from(length).ok()?;
        let available = length.min(self.rest.len());
        let data = take(&mut self.rest, available)?;
        let _padding = take(&mut self.rest, length % 2);
        Some((kind, data))
    }
}

/// Reads the header and the first block of each kind.
pub(super) fn read(bytes: &[u8]) -> Container<'_> {
    let mut blocks = Blocks::default();
    let (mut first, mut stream) = (None, None);
    for (kind, data) in Chunks::of_file(bytes) {
        if first.is_none() {
            first = Some((kind, data));
        } else if stream.is_none() {
            stream = picture((kind, data));
        }
        match kind {
            b"EXIF" => _ = blocks.exif.get_or_insert(data.into()),
            b"XMP " => _ = blocks.xmp.get_or_insert(data.into()),
            b"ICCP" => _ = blocks.colour.get_or_insert(Colour::Icc(data.into())),
            _ => {}
        }
    }
    let picture = header(first, stream).map(|header| Picture { header, coded: Coded::WebP(bytes) });
    Container { picture, blocks }
}

/// The header of a file. `first` is its first chunk, and `stream` comes from a later chunk.
fn header(
    first: Option<(&[u8], &[u8])>,
    stream: Option<(PixelSize, Option<Placement>)>,
) -> Result<Header, MediaError> {
    let (kind, data) = first.ok_or(MediaError::Truncated)?;
    if kind != b"VP8X" {
        let size = stream_size(kind, data).ok_or_else(|| unreadable(data))?;
        return Ok(Header::plain(size, stream_bytes_per_pixel(kind)));
    }
    let canvas = canvas_size(data).ok_or_else(|| unreadable(data))?;
    // Compared here because the decoders unpack a stream before they compare its size with the canvas.
    let (stream, placed) = stream.ok_or(MediaError::Truncated)?;
    let header = Header { decoded_size: stream, ..Header::plain(canvas, 12) };
    match placed {
        None if stream == canvas => Ok(header),
        Some(frame) if stream == frame.size && frame.is_within(canvas) => {
            // The canvas has four channels and is unpacked besides the frame.
            Ok(Header { decode_bytes: header.decode_bytes.saturating_add(canvas.area() * 4), ..header })
        }
        _ => Err(MediaError::Corrupt("the WebP frame does not fit its canvas".into())),
    }
}

fn unreadable(data: &[u8]) -> MediaError {
    if data.len() < 10 {
        MediaError::Truncated
    } else {
        MediaError::Corrupt("the WebP header is unreadable".into())
    }
}

/// The position and size of an animation frame on its canvas.
struct Placement {
    left: u64,
    top: u64,
    size: PixelSize,
}

impl Placement {
    fn read(data: &[u8]) -> Option<Self> {
        let [x0, x1, x2, y0, y1, y2, size @ ..] = data else { return None };
        let offset = |bytes: [u8; 3]| 2 * u64::from(le24(bytes));
        Some(Self {
            left: offset([*x0, *x1, *x2]),
            top: offset([*y0, *y1, *y2]),
            size: size_minus_one(size)?,
        })
    }

    fn is_within(&self, canvas: PixelSize) -> bool {
        self.left + u64::from(self.size.width) <= u64::from(canvas.width)
            && self.top + u64::from(self.size.height) <= u64::from(canvas.height)
    }
}

/// The size of the stream in an image or animation frame chunk, and the placement of an animation frame.
fn picture((kind, data): (&[u8], &[u8])) -> Option<(PixelSize, Option<Placement>)> {
    if kind != b"ANMF" {
        return Some((stream_size(kind, data)?, None));
    }
    let placement = Placement::read(data)?;
    let stream = Chunks { rest: data.get(16..)? }.find_map(|(kind, data)| stream_size(kind, data))?;
    Some((stream, Some(placement)))
}

fn stream_size(kind: &[u8], data: &[u8]) -> Option<PixelSize> {
    match (kind, data) {
        (b"VP8 ", [_, _, _, 0x9D, 0x01, 0x2A, w0, w1, h0, h1, ..]) => Some(PixelSize {
            width: u32::from(u16::from_le_bytes([*w0, *w1]) & 0x3FFF),
            height: u32::from(u16::from_le_bytes([*h0, *h1]) & 0x3FFF),
        }),
        (b"VP8L", [0x2F, b0, b1, b2, b3, ..]) => {
            let bits = u32::from_le_bytes([*b0, *b1, *b2, *b3]);
            Some(PixelSize { width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1 })
        }
        _ => None,
    }
}

/// Lossy: planes and pixels. Lossless: transform buffers and pixels.
fn stream_bytes_per_pixel(kind: &[u8]) -> u64 {
    if kind == b"VP8L" { 12 } else { 6 }
}

fn canvas_size(data: &[u8]) -> Option<PixelSize> {
    size_minus_one(data.get(4..)?)
}

/// Two 24-bit numbers, each one less than a side.
fn size_minus_one(data: &[u8]) -> Option<PixelSize> {
    let [w0, w1, w2, h0, h1, h2, ..] = data else { return None };
    Some(PixelSize { width: le24([*w0, *w1, *w2]) + 1, height: le24([*h0, *h1, *h2]) + 1 })
}

fn le24([b0, b1, b2]: [u8; 3]) -> u32 {
    u32::from_le_bytes([b0, b1, b2, 0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{riff_chunk, riff_file};
    use proptest::prelude::*;

    #[test]
    fn first_block_of_a_kind_counts() {
        let file = riff_file(
            &[
                riff_chunk(b"ICCP", b"profile"),
                riff_chunk(b"VP8 ", &[0; 11]),
                riff_chunk(b"EXIF", b"II*\0"),
                riff_chunk(b"XMP ", b"<first/>"),
                riff_chunk(b"XMP ", b"<second/>"),
            ]
            .concat(),
        );
        let found = read(&file).blocks;
        assert_eq!(found.exif.as_deref(), Some(&b"II*\0"[..]));
        assert_eq!(found.xmp.as_deref(), Some(&b"<first/>"[..]));
        assert_eq!(found.colour, Some(Colour::Icc(b"profile"[..].into())));
        assert_eq!(found.iptc, None);
    }

    proptest! {
        #[test]
        fn arbitrary_chunks_never_panic(
            chunks in prop::collection::vec(
                (
                    prop::sample::select(vec![b"EXIF", b"XMP ", b"ICCP", b"VP8X", b"ANMF"]),
                    any::<u32>(),
                    prop::collection::vec(any::<u8>(), 0..30),
                ),
                0..8,
            ),
        ) {
            let chunks: Vec<_> =
                chunks.iter().map(|(kind, length, data)| [&kind[..], &length.to_le_bytes(), data].concat()).collect();
            let _ = read(&riff_file(&chunks.concat()));
        }
    }
}
