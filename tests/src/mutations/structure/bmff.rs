//! HEIF and AVIF (ISO/IEC 14496-12): boxes with size, name and payload, some of which contain boxes.

use super::{Walk, Width};

/// Maximum nesting. Real files have five levels.
const MAX_DEPTH: usize = 8;
/// Bytes at the start of a box without boxes that are recorded as integers.
const PAYLOAD_BYTES: usize = 48;

pub(super) fn walk(walk: &mut Walk<'_>) {
    boxes(walk, 0, walk.file.len(), 0);
}

fn boxes(walk: &mut Walk<'_>, mut at: usize, end: usize, depth: usize) {
    while at + 8 <= end {
        let Some(size) = walk.field(at, Width::Four, true) else { return };
        walk.block(at);
        let (header, size) = match size {
            0 => (8, end - at),
            1 => match walk.field(at + 8, Width::Eight, true) {
                Some(size) => (16, size),
                None => return,
            },
            size => (8, size),
        };
        let Some(next) = at.checked_add(size).filter(|next| size >= header && *next <= end) else { return };
        let payload = at + header;
        match inner(walk.file.get(at + 4..at + 8)) {
            Some(skip) if depth < MAX_DEPTH => boxes(walk, payload + skip, next, depth + 1),
            _ => integers(walk, payload, next),
        }
        at = next;
    }
}

/// The offset of the inner boxes in the payload; `None` if the box has none.
fn inner(name: Option<&[u8]>) -> Option<usize> {
    match name? {
        b"moov" | b"trak" | b"mdia" | b"minf" | b"stbl" | b"dinf" | b"iprp" | b"ipco" | b"grpl" => Some(0),
        b"meta" | b"iref" => Some(4),
        b"iinf" => Some(6),
        b"stsd" | b"dref" => Some(8),
        _ => None,
    }
}

/// Picture sizes, counts and item locations are integers of two or four bytes.
fn integers(walk: &mut Walk<'_>, payload: usize, end: usize) {
    let end = end.min(payload + PAYLOAD_BYTES);
    for at in (payload..end).step_by(2) {
        walk.field(at, Width::Two, true);
    }
    for at in (payload..end).step_by(4) {
        walk.field(at, Width::Four, true);
    }
}
