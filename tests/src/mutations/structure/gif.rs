//! GIF (CompuServe, version 89a): a screen, then extensions and images with sub-blocks.

use super::{Walk, Width};

pub(super) fn walk(walk: &mut Walk<'_>) {
    walk.pairs([6, 8], false);
    let Some(flags) = walk.field(10, Width::One, true) else { return };
    let mut at = 13 + colour_table_bytes(flags);
    loop {
        walk.block(at);
        let next = match walk.read(at, Width::One, true) {
            Some(0x21) => sub_blocks(walk, at + 2),
            Some(0x2C) => image(walk, at),
            _ => None,
        };
        let Some(next) = next else { return };
        at = next;
    }
}

/// Records an image's position, size, colours and code size. Returns its end.
fn image(walk: &mut Walk<'_>, at: usize) -> Option<usize> {
    walk.pairs([at + 1, at + 3, at + 5, at + 7], false);
    let flags = walk.field(at + 9, Width::One, true)?;
    let data = at + 10 + colour_table_bytes(flags);
    walk.field(data, Width::One, true)?;
    sub_blocks(walk, data + 1)
}

fn colour_table_bytes(flags: usize) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// The end of the sub-blocks that start here.
fn sub_blocks(walk: &mut Walk<'_>, mut at: usize) -> Option<usize> {
    loop {
        let length = walk.field(at, Width::One, true)?;
        at += 1 + length;
        if length == 0 {
            return Some(at);
        }
    }
}
