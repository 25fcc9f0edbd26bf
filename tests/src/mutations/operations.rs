//! Damages a file.

use super::{
    Damage,
    random::Random,
    structure::{self, Field, Width},
};

/// Assumed length of the headers, where damage matters most.
const HEADER_BYTES: usize = 4096;
const MAX_BLOCK: usize = 65_536;

/// Damages a file in place. `other` provides bytes for splicing.
pub(super) fn apply(damage: Damage, file: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if file.is_empty() {
        return insert(file, random);
    }
    match damage {
        Damage::FewFlips => {
            for _ in 0..=random.index(8) {
                flip(file, random);
            }
        }
        Damage::ManyFlips => {
            for _ in 0..=file.len() / 128 {
                flip(file, random);
            }
        }
        Damage::Truncated => file.truncate(random.index(file.len())),
        Damage::TruncatedAtBlock => {
            let block = block_start(file, random);
            let beside = block.saturating_add(random.index(9)).saturating_sub(4);
            file.truncate(beside.min(file.len() - 1));
        }
        Damage::Spliced => {
            file.truncate(block_start(file, random));
            file.extend(other.get(block_start(other, random)..).unwrap_or_default());
        }
        Damage::WrongNumber => corrupt_anywhere(file, random),
        Damage::WrongField => match structure::of(file).fields {
            fields if fields.is_empty() => corrupt_anywhere(file, random),
            fields => corrupt(file, random.one_of(&fields), random),
        },
        Damage::Duplicated => {
            let (from, to) = block(file, random);
            let copy = file[from..to].to_vec();
            file.splice(to..to, copy);
        }
        Damage::Removed => {
            let (from, to) = block(file, random);
            file.drain(from..to);
        }
        Damage::Zeroed => {
            let (from, to) = block(file, random);
            file[from..to].fill(0);
        }
        Damage::Inserted => insert(file, random),
    }
}

fn flip(file: &mut [u8], random: &mut Random) {
    // Headers are short but matter most.
    let end = if random.one_in(3) { file.len().min(HEADER_BYTES) } else { file.len() };
    let at = random.index(end);
    if let Some(byte) = file.get_mut(at) {
        *byte ^= 1 << random.index(8);
    }
}

fn insert(file: &mut Vec<u8>, random: &mut Random) {
    let at = random.index(file.len() + 1);
    let bytes: Vec<u8> = (0..random.length(256)).map(|_| random.byte()).collect();
    file.splice(at..at, bytes);
}

/// The start of a block, or any position in a file without known blocks.
fn block_start(file: &[u8], random: &mut Random) -> usize {
    let blocks = structure::of(file).blocks;
    if blocks.is_empty() || random.one_in(4) { random.index(file.len()) } else { random.one_of(&blocks) }
}

/// The range of a block, or of any bytes.
fn block(file: &[u8], random: &mut Random) -> (usize, usize) {
    let mut blocks = structure::of(file).blocks;
    if blocks.is_empty() || random.one_in(2) {
        let from = random.index(file.len());
        return (from, from + random.length((file.len() - from).min(MAX_BLOCK)));
    }
    let from = random.one_of(&blocks);
    blocks.retain(|block| *block > from);
    let to = blocks.into_iter().min().unwrap_or(file.len());
    (from, to.max(from))
}

fn corrupt_anywhere(file: &mut [u8], random: &mut Random) {
    let width = random.one_of(&[Width::Two, Width::Four]);
    let end = file.len().min(HEADER_BYTES).saturating_sub(width.bytes()) + 1;
    let field = Field { at: random.index(end), width, big_endian: random.one_in(2) };
    corrupt(file, field, random);
}

/// Replaces the value of an integer.
fn corrupt(file: &mut [u8], field: Field, random: &mut Random) {
    let length = file.len() as u64;
    let Some(bytes) = file.get_mut(field.at..field.at + field.width.bytes()) else { return };
    let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    let old = if field.big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) };
    let max = u64::MAX >> (64 - 8 * field.width.bytes());
    let values = [
        0,
        1,
        max,
        max / 2,
        max / 2 + 1,
        max - random.number() % 32,
        old.wrapping_add(1),
        old.wrapping_sub(1),
        old.wrapping_mul(2),
        old / 2,
        old.wrapping_add(random.number() % 4096),
        length,
        random.number(),
        random.number() >> random.index(64),
    ];
    let value = random.one_of(&values).to_be_bytes();
    let value = &value[8 - bytes.len()..];
    if field.big_endian {
        bytes.copy_from_slice(value);
    } else {
        bytes.iter_mut().zip(value.iter().rev()).for_each(|(to, from)| *to = *from);
    }
}

/// Corrects the checksum of every PNG chunk, up to the first wrong length.
pub(super) fn repair_png_checksums(file: &mut [u8]) {
    if structure::Kind::of(file) != structure::Kind::Png {
        return;
    }
    let mut at = 8;
    while let Some(length) = file.get(at..at + 4) {
        let length = length.iter().fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
        let end = at + 8 + length;
        let Some(covered) = file.get(at + 4..end) else { return };
        let checksum = crc32(covered);
        let Some(slot) = file.get_mut(end..end + 4) else { return };
        slot.copy_from_slice(&checksum.to_be_bytes());
        at = end + 4;
    }
}

/// The checksum of PNG chunks (ISO 3309), bit by bit.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| {
                if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn repair_changes_only_checksums() {
        assert_eq!(crc32(b"IEND"), 0xAE42_6082);
        let whole = std::fs::read(crate::fixture("media/palette.png")).unwrap();
        let mut broken = whole.clone();
        broken[19] ^= 1;
        repair_png_checksums(&mut broken);
        assert_ne!(broken[29..33], whole[29..33], "the checksum matches the new width");
        assert_eq!(broken[33..], whole[33..]);
        broken[19] ^= 1;
        repair_png_checksums(&mut broken);
        assert_eq!(broken, whole);
    }

    #[test]
    fn only_the_bytes_of_the_integer_change() {
        for width in [Width::One, Width::Two, Width::Four, Width::Eight] {
            for big_endian in [true, false] {
                for number in 0..100 {
                    let mut file = [0xA5; 32];
                    let field = Field { at: 10, width, big_endian };
                    corrupt(&mut file, field, &mut Random::new(5, number));
                    assert!(file[..10].iter().chain(&file[10 + width.bytes()..]).all(|byte| *byte == 0xA5));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_damaged_in_any_way(
            bytes in proptest::collection::vec(any::<u8>(), 0..600),
            head in 0..7_usize,
            number: u64,
        ) {
            let heads: [&[u8]; 7] =
                [b"", b"\xff\xd8\xff\xe1\x00\x40Exif\0\0II*\0\x08\0\0\0", b"\x89PNG\r\n\x1a\n", b"GIF89a",
                 b"RIFF\x10\x01\0\0WEBPVP8X", b"MM\0*\0\0\0\x08", b"\0\0\0\x10ftypheic\0\0\0\0"];
            let file = [heads[head], &bytes].concat();
            let mut random = Random::new(number, 0);
            for damage in Damage::ALL {
                let mut broken = file.clone();
                apply(damage, &mut broken, &bytes, &mut random);
                repair_png_checksums(&mut broken);
                prop_assert!(broken.len() <= 2 * file.len() + bytes.len() + 256);
            }
        }
    }
}
