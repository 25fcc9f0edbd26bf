//! TIFF (6.0, section 2), as a file or inside another: directories of entries with type, count and value.

use super::{Walk, Width};

/// Maximum number of directories; enough for any camera.
const MAX_DIRECTORIES: usize = 32;
/// Maximum number of entries in a directory.
const MAX_ENTRIES: usize = 256;
/// Tags whose value is the offset of another directory: sub-directories, EXIF, GPS.
const POINTERS: [usize; 3] = [0x014A, 0x8769, 0x8825];

/// Walks the structure at `base`. Offsets are relative to `base`.
pub(super) fn walk(walk: &mut Walk<'_>, base: usize) {
    let big_endian = walk.starts_with(base, b"MM");
    let Some(first) = walk.field(base.saturating_add(4), Width::Four, big_endian) else { return };
    let mut waiting = vec![first];
    let mut seen = Vec::new();
    while let Some(offset) = waiting.pop() {
        if offset == 0 || seen.contains(&offset) || seen.len() >= MAX_DIRECTORIES {
            continue;
        }
        seen.push(offset);
        if let Some(at) = base.checked_add(offset) {
            directory(walk, at, big_endian, &mut waiting);
        }
    }
}

fn directory(walk: &mut Walk<'_>, at: usize, big_endian: bool, waiting: &mut Vec<usize>) {
    let Some(count) = walk.field(at, Width::Two, big_endian) else { return };
    walk.block(at);
    for entry in (at + 2..).step_by(12).take(count.min(MAX_ENTRIES)) {
        let Some(tag) = walk.read(entry, Width::Two, big_endian) else { return };
        walk.field(entry + 2, Width::Two, big_endian);
        walk.field(entry + 4, Width::Four, big_endian);
        let value = walk.field(entry + 8, Width::Four, big_endian);
        if POINTERS.contains(&tag) {
            waiting.extend(value);
        }
    }
    waiting.extend(walk.field(at + 2 + count * 12, Width::Four, big_endian));
}
