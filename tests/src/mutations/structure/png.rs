//! PNG (ISO/IEC 15948, 5.3): chunks with length, name, data and checksum.

use super::{Walk, Width, tiff};

pub(super) fn walk(walk: &mut Walk<'_>) {
    let mut at = 8;
    while let Some(length) = walk.field(at, Width::Four, true) {
        walk.block(at);
        let data = at + 8;
        if walk.starts_with(at + 4, b"IHDR") {
            walk.field(data, Width::Four, true);
            walk.field(data + 4, Width::Four, true);
            walk.bytes(data + 8..data + 13);
        } else if walk.starts_with(at + 4, b"eXIf") {
            tiff::walk(walk, data);
        }
        at = data.saturating_add(length).saturating_add(4);
    }
}
