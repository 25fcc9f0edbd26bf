//! Checks that rendition files contain no metadata.

use std::{fs, io, path::Path};

/// The WebP chunks that make up the picture (RFC 9649).
const CHUNKS: [&[u8]; 4] = [b"VP8 ", b"VP8L", b"VP8X", b"ALPH"];
/// The WebP chunks with metadata, a colour profile or an animation. Four bytes occur by chance once in some gigabytes of
/// compressed data, so a name counts only if a length that fits into the file follows.
const METADATA_CHUNKS: [&[u8]; 4] = [b"EXIF", b"XMP ", b"ICCP", b"ANIM"];
/// VP8X bits that announce such chunks: animation, XMP, EXIF, ICC.
const METADATA_FLAGS: u8 = 0x02 | 0x04 | 0x08 | 0x20;
/// Signatures and names of metadata in any container.
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

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) faults: Vec<String>,
}

/// Scans every file in a folder of renditions and its sub-folders.
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

/// Checks that a file is a WebP with nothing but a picture. The error says what else it contains.
pub(crate) fn clean(file: &[u8]) -> Result<(), String> {
    let mut rest = match file.split_at_checked(12) {
        Some((head, rest)) if head.starts_with(b"RIFF") && head.ends_with(b"WEBP") => {
            if length(&head[4..8]) != file.len() - 8 {
                return Err("its length differs from the one in its header".into());
            }
            rest
        }
        _ => return Err("is not a WebP file".into()),
    };
    while !rest.is_empty() {
        let (head, after) = rest.split_at_checked(8).ok_or("ends within a chunk header")?;
        let (name, size) = head.split_at(4);
        if !CHUNKS.contains(&name) {
            return Err(format!("contains a chunk {}", name.escape_ascii()));
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
            return Err(format!("contains what looks like a chunk {} at {at}", name.escape_ascii()));
        }
    }
    match MARKS.into_iter().find(|mark| contains(file, mark)) {
        Some(mark) => Err(format!("contains the bytes {}", mark.escape_ascii())),
        None => Ok(()),
    }
}

/// Whether the file contains the bytes.
pub(crate) fn contains(file: &[u8], needle: &[u8]) -> bool {
    let Some((first, others)) = needle.split_first() else { return true };
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
            // A name by chance: the length after it does not fit.
            webp(&[chunk(b"VP8 ", b"aEXIF\xff\xff\xff\xffb")]),
        ] {
            assert_eq!(clean(&file), Ok(()), "{}", file.escape_ascii());
        }
    }

    #[test]
    fn other_content_is_found() {
        let mut wrong_length = webp(&[picture()]);
        wrong_length.push(0);
        let flagged = chunk(b"VP8X", &[0x08, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
        for (file, reason) in [
            (b"\xff\xd8\xff".to_vec(), "not a WebP"),
            (wrong_length, "its length"),
            (webp(&[picture(), chunk(b"EXIF", b"II*\0")]), "contains a chunk EXIF"),
            (webp(&[picture(), chunk(b"XMP ", b"<x")]), "contains a chunk XMP"),
            (webp(&[picture(), chunk(b"abcd", b"")]), "contains a chunk abcd"),
            (webp(&[flagged, picture()]), "announces"),
            (webp(&[chunk(b"VP8 ", &chunk(b"ICCP", b"profile"))]), "looks like a chunk ICCP"),
            (webp(&[chunk(b"VP8 ", b"...Exif\0\0MM")]), "Exif"),
            (webp(&[chunk(b"VP8L", b"..<x:xmpmeta xmlns")]), "xmpmeta"),
            (webp(&[chunk(b"ALPH", b"http://ns.adobe.com/xap/1.0/")]), "ns.adobe.com"),
            (webp(&[chunk(b"VP8 ", b"GPSLatitudeRef")]), "GPSLatitude"),
        ] {
            let fault = clean(&file).unwrap_err();
            assert!(fault.contains(reason), "{reason}: {fault}");
        }
    }

    #[test]
    fn bytes_are_found_at_any_position() {
        for (file, needle, expect) in [
            ("abc", "abc", true),
            ("aabc", "abc", true),
            ("ab", "abc", false),
            ("", "a", false),
            ("a", "", true),
        ] {
            assert_eq!(contains(file.as_bytes(), needle.as_bytes()), expect, "{needle} in {file}");
        }
    }
}
