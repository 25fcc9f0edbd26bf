//! JPEG (ITU-T T.81, B.1): segments with a marker and a length.

use super::{Walk, Width, tiff};

pub(super) fn walk(walk: &mut Walk<'_>) {
    let mut at = 2;
    while walk.starts_with(at, &[0xFF]) {
        let Some(marker) = walk.read(at + 1, Width::One, true) else { return };
        walk.block(at);
        // Fill bytes, and markers without a segment.
        if marker == 0xFF {
            at += 1;
            continue;
        }
        if matches!(marker, 0x01 | 0xD0..=0xD9) {
            at += 2;
            continue;
        }
        let Some(length) = walk.field(at + 2, Width::Two, true) else { return };
        segment(walk, marker, at + 4);
        at += 2 + length.max(2);
        if marker == 0xDA {
            at = end_of_scan(walk.file, at);
        }
    }
}

fn segment(walk: &mut Walk<'_>, marker: usize, payload: usize) {
    match marker {
        // Tables: number of codes of each length, precision, restart interval.
        0xC4 => walk.bytes(payload..payload + 17),
        0xDB => walk.bytes([payload]),
        0xDD => walk.pairs([payload], true),
        // The frame: precision, height, width, components with their sampling.
        0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
            walk.bytes([payload]);
            walk.pairs([payload + 1, payload + 3], true);
            walk.bytes(payload + 5..payload + 9);
        }
        // The scan: components with their tables, spectral selection.
        0xDA => walk.bytes(payload..payload + 10),
        0xE1 if walk.starts_with(payload, b"Exif\0\0") => tiff::walk(walk, payload + 6),
        0xE2 if walk.starts_with(payload, b"MPF\0") => tiff::walk(walk, payload + 4),
        _ => {}
    }
}

/// The position of the marker after entropy-coded data.
fn end_of_scan(file: &[u8], from: usize) -> usize {
    let rest = file.get(from..).unwrap_or_default();
    let ends = |pair: &[u8]| matches!(pair, [0xFF, marker] if !matches!(marker, 0x00 | 0xD0..=0xD7 | 0xFF));
    rest.windows(2).position(ends).map_or(file.len(), |offset| from + offset)
}
