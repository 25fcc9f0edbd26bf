//! WebP (RFC 9649): chunks with name, length and data.

use super::{Walk, Width, tiff};

pub(super) fn walk(walk: &mut Walk<'_>) {
    walk.field(4, Width::Four, false);
    let mut at: usize = 12;
    while let Some(length) = walk.field(at + 4, Width::Four, false) {
        walk.block(at);
        let data = at + 8;
        match walk.file.get(at..at + 4) {
            // The frame tag with the length of the first partition, then after the start code width and height.
            Some(b"VP8 ") => walk.pairs([data, data + 6, data + 8], false),
            Some(b"VP8L") => {
                walk.field(data + 1, Width::Four, false);
            }
            // Flags, then canvas width and height of three bytes each.
            Some(b"VP8X") => {
                walk.bytes([data]);
                walk.pairs([data + 4, data + 7], false);
            }
            // Position and size of a frame, three bytes each, then a nested chunk.
            Some(b"ANMF") => {
                walk.pairs([data, data + 3, data + 6, data + 9], false);
                walk.field(data + 20, Width::Four, false);
            }
            Some(b"EXIF") => tiff::walk(walk, data),
            _ => {}
        }
        let padded = length.saturating_add(length % 2);
        let Some(next) = data.checked_add(padded) else { return };
        at = next.min(walk.file.len());
    }
}
