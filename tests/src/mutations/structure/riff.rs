//! WebP (RFC 9649): chunks of name, length and data.

use super::{Walk, Width, tiff};

pub(super) fn walk(walk: &mut Walk<'_>) {
    walk.field(4, Width::Four, false);
    let mut at: usize = 12;
    while let Some(length) = walk.field(at + 4, Width::Four, false) {
        walk.block(at);
        let data = at + 8;
        match walk.file.get(at..at + 4) {
            // The frame's tag with the length of the first partition, its start code, then width and height.
            Some(b"VP8 ") => walk.pairs([data, data + 6, data + 8], false),
            Some(b"VP8L") => {
                walk.field(data + 1, Width::Four, false);
            }
            // Flags, then width and height of the canvas in three bytes each.
            Some(b"VP8X") => {
                walk.bytes([data]);
                walk.pairs([data + 4, data + 7], false);
            }
            // The position and size of a frame in three bytes each, then its own chunk.
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
