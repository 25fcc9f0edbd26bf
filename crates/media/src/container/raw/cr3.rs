//! Reads Canon's CR3: boxes of ISO/IEC 14496-12, some of them Canon's own in `uuid` boxes.

use super::super::boxes::{Boxes, FourCc};
use super::part;
use crate::tiff::{Directory, Structure, join};

/// In `moov`: metadata as TIFF structures.
const METADATA: [u8; 16] = 0x85C0_B687_820F_11E0_8111_F4CE_462B_6A48_u128.to_be_bytes();
/// At the top level: a preview of medium size.
const PREVIEW: [u8; 16] = 0xEAF4_2B5E_1C98_4B88_B9FB_B7DC_406E_4D16_u128.to_be_bytes();
/// At the top level: an XMP packet.
const XMP: [u8; 16] = 0xBE7A_CFCB_97A9_42E8_9C71_9994_91E3_AFAC_u128.to_be_bytes();

/// Maximum offset of a preview in its box.
const MAX_PREVIEW_HEADER: usize = 64;

/// Maximum number of tracks. Cameras write four.
const MAX_TRACKS: usize = 16;

/// The content of the first box of that type.
fn child<'a>(content: &'a [u8], kind: &FourCc) -> Option<&'a [u8]> {
    Boxes::new(content).find(|found| found.kind == *kind).map(|found| found.body)
}

/// The content of the `uuid` box with that UUID.
fn own<'a>(content: &'a [u8], uuid: &[u8; 16]) -> Option<&'a [u8]> {
    Boxes::new(content).filter(|found| found.kind == *b"uuid").find_map(|found| found.body.strip_prefix(uuid))
}

/// The full picture (a track), the preview and the thumbnail, if they exist. A picture is `None` if the file ends
/// before it.
pub(super) fn previews(bytes: &[u8]) -> Vec<Option<&[u8]>> {
    let movie = child(bytes, b"moov");
    let tracks = movie.into_iter().flat_map(Boxes::new).filter(|found| found.kind == *b"trak");
    let samples = tracks.take(MAX_TRACKS).filter_map(|track| first_sample(track.body));
    let mut found: Vec<_> = samples.map(|(start, length)| part(bytes, start, length)).collect();
    let thumbnail = movie.and_then(|movie| child(own(movie, &METADATA)?, b"THMB"));
    // The number of entries and their size precede the box.
    let preview = own(bytes, &PREVIEW).and_then(|own| child(own.get(8..)?, b"PRVW"));
    found.extend([preview, thumbnail].into_iter().flatten().filter_map(jpeg_after_header).map(Some));
    found
}

/// Offset and length of the first sample of a track (8.7 of the standard).
fn first_sample(track: &[u8]) -> Option<(usize, usize)> {
    let table = child(child(child(track, b"mdia")?, b"minf")?, b"stbl")?;
    let u32_at = |content: &[u8], at: usize| content.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let sizes = child(table, b"stsz")?;
    let length = u32_at(sizes, 4).filter(|same| *same > 0).or_else(|| u32_at(sizes, 12))?;
    let start = match child(table, b"co64") {
        Some(offsets) => u64::from_be_bytes(offsets.get(8..16)?.try_into().ok()?),
        None => u64::from(u32_at(child(table, b"stco")?, 8)?),
    };
    Some((usize::try_from(start).ok()?, usize::try_from(length).ok()?))
}

/// The JPEG in a box, after its header.
fn jpeg_after_header(content: &[u8]) -> Option<&[u8]> {
    let head = content.get(..MAX_PREVIEW_HEADER).unwrap_or(content);
    let at = head.windows(3).position(|window| window == [0xFF, 0xD8, 0xFF])?;
    content.get(at..)
}

/// The metadata of the camera as one EXIF block. The file has its directories in separate structures.
pub(super) fn exif(bytes: &[u8]) -> Option<Vec<u8>> {
    let metadata = own(child(bytes, b"moov")?, &METADATA)?;
    let part = |kind| child(metadata, kind).and_then(Structure::read);
    let primary = part(b"CMT1")?;
    let exif = part(b"CMT2").map(|structure| (Directory::Exif, structure));
    let gps = part(b"CMT4").map(|structure| (Directory::Gps, structure));
    Some(join(&primary, exif.into_iter().chain(gps)))
}

pub(super) fn xmp(bytes: &[u8]) -> Option<&[u8]> {
    own(bytes, &XMP)
}
