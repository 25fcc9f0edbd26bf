//! Reads Canon's CR3: boxes of ISO/IEC 14496-12, some of them Canon's own in `uuid` boxes.

use super::super::{ByteRange, take};
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

/// A box with the offset of its content in the file.
#[derive(Clone, Copy)]
struct Box<'a> {
    kind: [u8; 4],
    start: usize,
    content: &'a [u8],
}

impl<'a> Box<'a> {
    /// The whole file as a box.
    fn file(bytes: &'a [u8]) -> Self {
        Self { kind: *b"file", start: 0, content: bytes }
    }

    /// The boxes in it. The last one may be cut off.
    fn children(self) -> impl Iterator<Item = Self> + use<'a> {
        let mut rest = self.content;
        std::iter::from_fn(move || {
            let whole = rest;
            let size = take(&mut rest, 4)?.try_into().ok().map(u32::from_be_bytes)?;
            let kind = take(&mut rest, 4)?.try_into().ok()?;
            let size = match size {
                0 => whole.len(),
                1 => usize::try_from(take(&mut rest, 8)?.try_into().ok().map(u64::from_be_bytes)?).ok()?,
                size => usize::try_from(size).ok()?,
            };
            let head = whole.len() - rest.len();
            let length = size.checked_sub(head)?.min(rest.len());
            let content = take(&mut rest, length)?;
            let start = self.start + (self.content.len() - whole.len()) + head;
            Some(Self { kind, start, content })
        })
    }

    fn child(self, kind: &[u8; 4]) -> Option<Self> {
        self.children().find(|child| child.kind == *kind)
    }

    /// The content of the `uuid` box with that UUID.
    fn own(self, uuid: &[u8; 16]) -> Option<Self> {
        self.children().filter(|child| child.kind == *b"uuid").find_map(|child| child.after(uuid))
    }

    fn after(self, head: &[u8]) -> Option<Self> {
        let content = self.content.strip_prefix(head)?;
        Some(Self { start: self.start + head.len(), content, ..self })
    }

    /// A 32-bit number in the content.
    fn u32_at(self, at: usize) -> Option<u32> {
        self.content.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
    }
}

/// The full picture (a track), the preview and the thumbnail, if they exist.
pub(super) fn previews(bytes: &[u8]) -> Vec<ByteRange> {
    let file = Box::file(bytes);
    let movie = file.child(b"moov");
    let tracks = movie.into_iter().flat_map(Box::children).filter(|child| child.kind == *b"trak");
    let mut found: Vec<_> = tracks.take(MAX_TRACKS).filter_map(first_sample).collect();
    let thumbnail = movie.and_then(|movie| movie.own(&METADATA)?.child(b"THMB"));
    // The number of entries and their size precede the box.
    let preview = file.own(&PREVIEW).and_then(|own| {
        let skipped = Box { start: own.start + 8, content: own.content.get(8..)?, ..own };
        skipped.child(b"PRVW")
    });
    found.extend([preview, thumbnail].into_iter().flatten().filter_map(jpeg_after_header));
    found
}

/// The location of the first sample of a track (8.7 of the standard).
fn first_sample(track: Box<'_>) -> Option<ByteRange> {
    let table = track.child(b"mdia")?.child(b"minf")?.child(b"stbl")?;
    let sizes = table.child(b"stsz")?;
    let length = sizes.u32_at(4).filter(|same| *same > 0).or_else(|| sizes.u32_at(12))?;
    let start = match table.child(b"co64") {
        Some(offsets) => u64::from_be_bytes(offsets.content.get(8..16)?.try_into().ok()?),
        None => u64::from(table.child(b"stco")?.u32_at(8)?),
    };
    Some(ByteRange { start: usize::try_from(start).ok()?, length: usize::try_from(length).ok()? })
}

/// The JPEG in a box, after its header.
fn jpeg_after_header(of: Box<'_>) -> Option<ByteRange> {
    let head = of.content.get(..MAX_PREVIEW_HEADER).unwrap_or(of.content);
    let at = head.windows(3).position(|window| window == [0xFF, 0xD8, 0xFF])?;
    Some(ByteRange { start: of.start + at, length: of.content.len() - at })
}

/// The metadata of the camera as one EXIF block. The file has its directories in separate structures.
pub(super) fn exif(bytes: &[u8]) -> Option<Vec<u8>> {
    let metadata = Box::file(bytes).child(b"moov")?.own(&METADATA)?;
    let part = |kind| metadata.child(kind).and_then(|part| Structure::read(part.content));
    let primary = part(b"CMT1")?;
    let exif = part(b"CMT2").map(|structure| (Directory::Exif, structure));
    let gps = part(b"CMT4").map(|structure| (Directory::Gps, structure));
    Some(join(&primary, exif.into_iter().chain(gps)))
}

pub(super) fn xmp(bytes: &[u8]) -> Option<&[u8]> {
    Box::file(bytes).own(&XMP).map(|found| found.content)
}
