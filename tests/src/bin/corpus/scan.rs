//! What a rendition's file may hold, byte by byte.

use std::{fs, io, path::Path};

/// The chunks of a WebP file that are picture (RFC 9649).
const CHUNKS: [&[u8]; 4] = [b"VP8 ", b"VP8L", b"VP8X", b"ALPH"];
/// The chunks that say something about it. A name alone is too short to be looked for in compressed bytes: once in some
/// gigabytes chance makes it; so it counts with a length behind it that fits into the file.
const METADATA_CHUNKS: [&[u8]; 4] = [b"EXIF", b"XMP ", b"ICCP", b"ANIM"];
/// Bits of VP8X that announce such chunks: animation, XMP, EXIF, ICC.
const METADATA_FLAGS: u8 = 0x02 | 0x04 | 0x08 | 0x20;
/// How metadata begin or call themselves, in any container.
const MARKS: [&[u8]; 14] = [
    b"Exif\0\0",
    b"II*\0\x08\0\0\0",
    b"MM\0*\0\0\0\x08",
    b"<x:xmpmeta",
    b"<?xpacket",
    b"<rdf:RDF",
    b"http://ns.adobe.com",
    b"http://ns.google.com",
    b"http://iptc.org",
    b"Photoshop 3.0",
    b"ICC_PROFILE\0",
    b"GPSLatitude",
    b"GPSLongitude",
    b"exif:GPS",
];

/// What was read and what was found.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) faults: Vec<String>,
}

/// Reads every file in a folder of renditions, wherever in it.
pub(crate) fn renditions(folder: &Path) -> io::Result<Scanned> {
    let mut scanned = Scanned::default();
    scan_folder(folder, &mut scanned)?;
    Ok(scanned)
}

fn scan_folder(folder: &Path, scanned: &mut Scanned) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            scan_folder(&path, scanned)?;
            continue;
        }
        let bytes = fs::read(&path)?;
        scanned.files += 1;
        scanned.bytes += bytes.len() as u64;
        if let Err(fault) = clean(&bytes) {
            scanned.faults.push(format!("{}: {fault}", path.display()));
        }
    }
    Ok(())
}

/// Whether a file is a WebP of nothing but picture; the error says what else it is.
pub(crate) fn clean(file: &[u8]) -> Result<(), String> {
    let mut rest = match file.split_at_checked(12) {
        Some((head, rest)) if head.starts_with(b"RIFF") && head.ends_with(b"WEBP") => {
            if length(&head[4..8]) != file.len() - 8 {
                return Err("its length is not the one that it states".into());
            }
            rest
        }
        _ => return Err("is no WebP file".into()),
    };
    while !rest.is_empty() {
        let (head, after) = rest.split_at_checked(8).ok_or("ends within the head of a chunk")?;
        let (name, size) = head.split_at(4);
        if !CHUNKS.contains(&name) {
            return Err(format!("carries a chunk {}", name.escape_ascii()));
        }
        let size = length(size);
        if name == b"VP8X" && after.first().is_some_and(|flags| flags & METADATA_FLAGS != 0) {
            return Err("announces metadata, a profile or an animation".into());
        }
        rest = after.get(size + size % 2..).ok_or("ends within a chunk")?;
    }
    for (at, window) in file.windows(8).enumerate().skip(12) {
        let (name, size) = window.split_at(4);
        if METADATA_CHUNKS.contains(&name) && length(size) <= file.len() - at - 8 {
            return Err(format!("holds what looks like a chunk {} at {at}", name.escape_ascii()));
        }
    }
    match MARKS.into_iter().find(|mark| holds(file, mark)) {
        Some(mark) => Err(format!("holds the bytes {}", mark.escape_ascii())),
        None => Ok(()),
    }
}

/// Whether bytes stand somewhere in others.
pub(crate) fn holds(file: &[u8], wanted: &[u8]) -> bool {
    let Some((first, others)) = wanted.split_first() else { return true };
    let mut rest = file;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        rest = rest.get(at + 1..).unwrap_or_default();
        if rest.starts_with(others) {
            return true;
        }
    }
    false
}

fn length(little_endian: &[u8]) -> usize {
    little_endian.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let length = u32::try_from(data.len()).unwrap().to_le_bytes();
        let padding: &[u8] = if data.len() % 2 == 1 { &[0] } else { &[] };
        [name.as_slice(), &length, data, padding].concat()
    }

    fn webp(chunks: &[Vec<u8>]) -> Vec<u8> {
        chunk(b"RIFF", &[b"WEBP".as_slice(), &chunks.concat()].concat())
    }

    fn picture() -> Vec<u8> {
        chunk(b"VP8 ", &[7; 33])
    }

    #[test]
    fn picture_alone_is_clean() {
        let extended = chunk(b"VP8X", &[0x10, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
        for file in [
            webp(&[picture()]),
            webp(&[chunk(b"VP8L", &[1, 2])]),
            webp(&[extended, chunk(b"ALPH", &[9; 5]), picture()]),
            // A name by chance, with no length that could be one.
            webp(&[chunk(b"VP8 ", b"aEXIF\xff\xff\xff\xffb")]),
        ] {
            assert_eq!(clean(&file), Ok(()), "{}", file.escape_ascii());
        }
    }

    #[test]
    fn anything_else_is_found() {
        let mut lying = webp(&[picture()]);
        lying.push(0);
        let flagged = chunk(b"VP8X", &[0x08, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
        for (file, said) in [
            (b"\xff\xd8\xff".to_vec(), "no WebP"),
            (lying, "its length"),
            (webp(&[picture(), chunk(b"EXIF", b"II*\0")]), "carries a chunk EXIF"),
            (webp(&[picture(), chunk(b"XMP ", b"<x")]), "carries a chunk XMP"),
            (webp(&[picture(), chunk(b"abcd", b"")]), "carries a chunk abcd"),
            (webp(&[flagged, picture()]), "announces"),
            (webp(&[chunk(b"VP8 ", &chunk(b"ICCP", b"profile"))]), "looks like a chunk ICCP"),
            (webp(&[chunk(b"VP8 ", b"...Exif\0\0MM")]), "Exif"),
            (webp(&[chunk(b"VP8L", b"..<x:xmpmeta xmlns")]), "xmpmeta"),
            (webp(&[chunk(b"ALPH", b"http://ns.adobe.com/xap/1.0/")]), "ns.adobe.com"),
            (webp(&[chunk(b"VP8 ", b"GPSLatitudeRef")]), "GPSLatitude"),
        ] {
            let fault = clean(&file).unwrap_err();
            assert!(fault.contains(said), "{said}: {fault}");
        }
    }

    #[test]
    fn bytes_are_found_wherever_they_stand() {
        for (file, wanted, expect) in [
            ("abc", "abc", true),
            ("aabc", "abc", true),
            ("ab", "abc", false),
            ("", "a", false),
            ("a", "", true),
        ] {
            assert_eq!(holds(file.as_bytes(), wanted.as_bytes()), expect, "{wanted} in {file}");
        }
    }
}
