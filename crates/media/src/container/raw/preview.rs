//! Chooses among the embedded JPEG files.

use domain::PixelSize;

use super::super::{Blocks, Container, Picture, jpeg};

/// A JPEG whose longest side is shorter than this is only a thumbnail.
const THUMBNAIL_PX: u32 = 640;

/// Maximum number of segments before the frame header of a preview.
const MAX_SEGMENTS: usize = 256;

/// Maximum number of JPEG signatures that a search looks at.
const MAX_TRIES: usize = 4096;

/// Maximum number of broken previews that are tried.
const MAX_BROKEN: usize = 4;

/// The largest JPEG by pixels, with its metadata, among the listed ones. If these are only thumbnails and `may_scan` is set, the
/// whole file is searched.
pub(super) fn largest<'a>(
    bytes: &'a [u8],
    listed: impl Iterator<Item = &'a [u8]>,
    may_scan: bool,
) -> Option<(Picture<'a>, Blocks<'a>)> {
    let mut found: Vec<(PixelSize, &[u8])> = listed.filter_map(sized).collect();
    if may_scan && found.iter().all(|(size, _)| size.longest() < THUMBNAIL_PX) {
        found.extend(everywhere(bytes));
    }
    // The sort is stable, so of equal sizes a listed JPEG comes first. Its end is known.
    found.sort_by_key(|(size, _)| std::cmp::Reverse(size.area()));
    found.into_iter().take(MAX_BROKEN).find_map(|(_, jpeg)| {
        let Container { picture, blocks } = jpeg::read(jpeg);
        Some((picture.ok()?, blocks))
    })
}

fn sized(jpeg: &[u8]) -> Option<(PixelSize, &[u8])> {
    Some((frame_size(jpeg)?, jpeg))
}

/// Every JPEG in the file.
fn everywhere(bytes: &[u8]) -> impl Iterator<Item = (PixelSize, &[u8])> {
    let mut rest = bytes;
    let jpegs = std::iter::from_fn(move || {
        loop {
            let from = rest.get(rest.iter().position(|byte| *byte == 0xFF)?..)?;
            rest = from.get(1..)?;
            if from.starts_with(&[0xFF, 0xD8, 0xFF]) {
                return Some(from);
            }
        }
    });
    jpegs.take(MAX_TRIES).filter_map(sized)
}

/// The size of a JPEG that is baseline, extended or progressive, has 8 bits, and is grey or in colour. `None` for lossless JPEG,
/// which is often used for raw data. Unlike a decoder, this accepts no garbage between segments, so that random bytes are rarely
/// mistaken for a JPEG.
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
