//! Chooses among the embedded JPEG files.

use domain::PixelSize;

use super::super::{Blocks, ByteRange, Container, Picture, jpeg};

/// A JPEG whose longest side is shorter than this is only a thumbnail.
const THUMBNAIL_PX: u32 = 640;

/// Maximum number of segments before the frame header of a preview.
const MAX_SEGMENTS: usize = 256;

/// Maximum number of JPEG signatures that a search looks at.
const MAX_TRIES: usize = 4096;

/// Maximum number of broken previews that are tried.
const MAX_BROKEN: usize = 4;

/// The largest JPEG by pixels, with its metadata: among the listed ones, or in the whole file if those are only thumbnails.
pub(super) fn largest(
    bytes: &[u8],
    listed: Vec<ByteRange>,
    may_scan: bool,
) -> Option<(Picture<'_>, Blocks<'_>)> {
    let mut found: Vec<(PixelSize, ByteRange)> =
        listed.into_iter().filter_map(|range| candidate(bytes, range)).collect();
    if may_scan && found.iter().all(|(size, _)| size.longest() < THUMBNAIL_PX) {
        found.extend(everywhere(bytes));
    }
    // Of equal sizes a listed one comes first; its end is known.
    found.sort_by_key(|(size, _)| std::cmp::Reverse(size.area()));
    found.into_iter().take(MAX_BROKEN).find_map(|(_, range)| {
        let Container { picture, blocks } = jpeg::read(range.of(bytes)?);
        Some((picture.ok()?, blocks))
    })
}

/// Cuts the range at the end of the file.
fn candidate(bytes: &[u8], range: ByteRange) -> Option<(PixelSize, ByteRange)> {
    let length = bytes.len().checked_sub(range.start)?.min(range.length);
    let range = ByteRange { length, ..range };
    Some((frame_size(range.of(bytes)?)?, range))
}

/// Every JPEG in the file.
fn everywhere(bytes: &[u8]) -> impl Iterator<Item = (PixelSize, ByteRange)> {
    let mut at = 0;
    let starts = std::iter::from_fn(move || {
        loop {
            at += bytes.get(at..)?.iter().position(|byte| *byte == 0xFF)?;
            let start = at;
            at += 1;
            if bytes.get(start..)?.starts_with(&[0xFF, 0xD8, 0xFF]) {
                return Some(start);
            }
        }
    });
    starts
        .take(MAX_TRIES)
        .filter_map(|start| candidate(bytes, ByteRange { start, length: bytes.len().saturating_sub(start) }))
}

/// The size of a JPEG that is baseline, extended or progressive, with 8 bits, grey or in colour. Raw data are often
/// lossless JPEG, which does not count. Unlike a decoder, this accepts no garbage between segments, so that random bytes
/// are rarely mistaken for a JPEG.
fn frame_size(jpeg: &[u8]) -> Option<PixelSize> {
    let mut rest = jpeg.strip_prefix(&[0xFF, 0xD8])?;
    for _ in 0..MAX_SEGMENTS {
        let [0xFF, marker, l1, l0, tail @ ..] = rest else { return None };
        match marker {
            0xC0..=0xC2 => {
                let [8, h1, h0, w1, w0, 1 | 3, ..] = *tail else { return None };
                let size = PixelSize {
                    width: u32::from(u16::from_be_bytes([w1, w0])),
                    height: u32::from(u16::from_be_bytes([h1, h0])),
                };
                return (size.width > 0 && size.height > 0).then_some(size);
            }
            // Tables, restart interval, application data, comments.
            0xC4 | 0xDB | 0xDD | 0xE0..=0xEF | 0xFE => {
                let length = usize::from(u16::from_be_bytes([*l1, *l0]));
                rest = tail.get(length.checked_sub(2)?..)?;
            }
            _ => return None,
        }
    }
    None
}
