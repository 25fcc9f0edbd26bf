//! Choosing among embedded JPEG files.

use domain::PixelSize;

use super::super::{Extent, Header, jpeg};

/// Where the longer side is below this, a file has only shown its thumbnail yet.
const THUMBNAIL_PX: u32 = 640;

/// More segments than there are before the frame header of a preview.
const MAX_SEGMENTS: usize = 256;

/// How many beginnings of a JPEG are looked at when a file is searched.
const MAX_TRIES: usize = 4096;

/// How many previews are tried that turn out not to be whole.
const MAX_BROKEN: usize = 4;

/// The largest JPEG by pixels: of those that are listed, or of all in the file when those are only thumbnails.
pub(super) fn largest(bytes: &[u8], listed: Vec<Extent>, may_scan: bool) -> Option<(Extent, Header)> {
    let mut found: Vec<(PixelSize, Extent)> =
        listed.into_iter().filter_map(|extent| candidate(bytes, extent)).collect();
    if may_scan && found.iter().all(|(size, _)| size.longest() < THUMBNAIL_PX) {
        found.extend(everywhere(bytes));
    }
    // The first of equals is listed, so its end is known.
    found.sort_by_key(|(size, _)| std::cmp::Reverse(size.area()));
    found.into_iter().take(MAX_BROKEN).find_map(|(_, extent)| {
        let header = jpeg::header(extent.of(bytes)?).ok()?;
        Some((extent, header))
    })
}

/// Cuts the extent to what the file has of it.
fn candidate(bytes: &[u8], extent: Extent) -> Option<(PixelSize, Extent)> {
    let length = bytes.len().checked_sub(extent.start)?.min(extent.length);
    let extent = Extent { length, ..extent };
    Some((frame_size(extent.of(bytes)?)?, extent))
}

/// Every JPEG that begins somewhere in the file.
fn everywhere(bytes: &[u8]) -> impl Iterator<Item = (PixelSize, Extent)> {
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
        .filter_map(|start| candidate(bytes, Extent { start, length: bytes.len().saturating_sub(start) }))
}

/// The size of a JPEG that browsers show: baseline, extended or progressive, of 8 bits, grey or in colour. What raw
/// data are packed as, lossless JPEG, is none. Unlike a decoder this takes nothing between the segments, so that
/// little else is taken for a JPEG.
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
