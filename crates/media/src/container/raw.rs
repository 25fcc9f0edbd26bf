//! Finds the embedded preview of RAW files. Sensor data are not developed.

mod cr3;
mod preview;

use super::tiff::{self, ColourSpace, TiffImage};
use super::{Blocks, ByteRange, Header, Preview, jpeg};
use crate::MediaError;
use crate::tiff::{Structure, tag};

/// The structure of the file.
enum Kind<'a> {
    /// TIFF directories, with any signature.
    Tiff(Structure<'a>),
    /// MP4 boxes (Canon's CR3).
    Boxes,
    /// A header with the position of the preview (Fujifilm's RAF).
    Fujifilm,
    /// Only the signature is known. The whole file is searched for a preview.
    Other,
}

/// Tag numbers of RAW files.
mod raw_tag {
    pub(super) const COMPRESSION: u16 = 259;
    pub(super) const PHOTOMETRIC: u16 = 262;
    pub(super) const STRIP_OFFSETS: u16 = 273;
    pub(super) const STRIP_BYTE_COUNTS: u16 = 279;
    pub(super) const JPEG_START: u16 = 0x0201;
    pub(super) const JPEG_LENGTH: u16 = 0x0202;
    /// Panasonic's preview.
    pub(super) const JPG_FROM_RAW: u16 = 0x002E;
    pub(super) const XMP: u16 = 700;
    pub(super) const IPTC: u16 = 33_723;
    pub(super) const DNG_VERSION: u16 = 0xC612;
    /// Sony writes it as well.
    pub(super) const DNG_PRIVATE_DATA: u16 = 0xC634;
}

/// Whether a file that starts like a TIFF contains sensor data.
pub(super) fn is_raw_tiff(bytes: &[u8]) -> bool {
    let Some(structure) = Structure::read(bytes) else { return false };
    let first = structure.first();
    if first.entry(raw_tag::DNG_VERSION).is_some() || first.entry(raw_tag::DNG_PRIVATE_DATA).is_some() {
        return true;
    }
    structure.directories().iter().any(|ifd| {
        // A colour filter array or linear raw; the compression of Sony, Epson, Samsung, Nikon, Kodak, Pentax.
        matches!(ifd.number(raw_tag::PHOTOMETRIC), Some(32_803 | 34_892))
            || matches!(
                ifd.number(raw_tag::COMPRESSION),
                Some(32_767 | 32_769 | 32_770 | 34_713 | 65_000 | 65_535)
            )
    })
}

fn kind(bytes: &[u8]) -> Kind<'_> {
    match bytes {
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Kind::Boxes,
        [b'F', b'U', b'J', b'I', ..] => Kind::Fujifilm,
        _ => Structure::read(bytes).map_or(Kind::Other, Kind::Tiff),
    }
}

pub(super) fn header(bytes: &[u8]) -> Result<Header, MediaError> {
    find_preview(bytes, &kind(bytes))
}

pub(super) fn blocks(bytes: &[u8]) -> Blocks<'_> {
    let kind = kind(bytes);
    let preview = find_preview(bytes, &kind).ok().and_then(|header| header.preview);
    let in_preview = match preview {
        Some(Preview::Jpeg(range)) => range.of(bytes).map(jpeg::blocks).unwrap_or_default(),
        _ => Blocks::default(),
    };
    match kind {
        Kind::Tiff(structure) => {
            let first = structure.first();
            let has_no_exif = first.entry(tag::EXIF_DIRECTORY).is_none();
            Blocks {
                exif: in_preview.exif.filter(|_| has_no_exif).or_else(|| Some(bytes.into())),
                xmp: first.bytes(raw_tag::XMP).map(Into::into).or(in_preview.xmp),
                iptc: first.bytes(raw_tag::IPTC).map(Into::into).or(in_preview.iptc),
                ..in_preview
            }
        }
        Kind::Boxes => Blocks {
            exif: cr3::exif(bytes).map(Into::into).or(in_preview.exif),
            xmp: cr3::xmp(bytes).map(Into::into).or(in_preview.xmp),
            ..in_preview
        },
        // The first preview has the metadata, whichever preview is decoded.
        Kind::Fujifilm => {
            let first = previews_in_fujifilm_header(bytes).first().and_then(|range| bytes.get(range.start..));
            let exif = first.and_then(|first| jpeg::blocks(first).exif);
            Blocks { exif: exif.or(in_preview.exif), ..in_preview }
        }
        Kind::Other => in_preview,
    }
}

/// The header of the largest preview.
fn find_preview(bytes: &[u8], kind: &Kind<'_>) -> Result<Header, MediaError> {
    let listed = match kind {
        Kind::Tiff(structure) => previews_in_directories(structure),
        Kind::Boxes => cr3::previews(bytes),
        Kind::Fujifilm => previews_in_fujifilm_header(bytes),
        Kind::Other => Vec::new(),
    };
    // A DNG lists its previews. Any other JPEG in it may be a tile of the raw picture.
    let may_scan = match kind {
        Kind::Tiff(structure) => structure.first().entry(raw_tag::DNG_VERSION).is_none(),
        Kind::Boxes | Kind::Fujifilm | Kind::Other => true,
    };
    let is_cut = listed.iter().any(|range| range.start >= bytes.len());
    let jpeg = preview::largest(bytes, listed, may_scan)
        .map(|(range, header)| Header { preview: Some(Preview::Jpeg(range)), ..header });
    let pixels = match kind {
        Kind::Tiff(structure) => largest_uncompressed(structure),
        Kind::Boxes | Kind::Fujifilm | Kind::Other => None,
    };
    // Of equal sizes the JPEG counts, because it may have metadata.
    match jpeg.into_iter().chain(pixels).reduce(|a, b| if b.size.area() > a.size.area() { b } else { a }) {
        Some(header) => Ok(header),
        None if is_cut => Err(MediaError::Truncated),
        None => Err(MediaError::NoPreview),
    }
}

/// The JPEG files in the directories: separate ones, and pictures whose only strip is one.
fn previews_in_directories(structure: &Structure<'_>) -> Vec<ByteRange> {
    let mut found = Vec::new();
    for ifd in structure.directories() {
        let mut add = |start: Option<u64>, length: Option<u64>| {
            let number = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok());
            if let Some((start, length)) = number(start).zip(number(length)) {
                found.push(ByteRange { start, length });
            }
        };
        add(ifd.number(raw_tag::JPEG_START), ifd.number(raw_tag::JPEG_LENGTH));
        if matches!(ifd.number(raw_tag::COMPRESSION), Some(6 | 7))
            && ifd.entry(raw_tag::STRIP_OFFSETS).is_some_and(|offsets| offsets.number(1).is_none())
        {
            add(ifd.number(raw_tag::STRIP_OFFSETS), ifd.number(raw_tag::STRIP_BYTE_COUNTS));
        }
        if let Some(entry) = ifd.entry(raw_tag::JPG_FROM_RAW) {
            found.push(ByteRange { start: entry.start, length: entry.value.len() });
        }
    }
    found
}

/// The header of the largest uncompressed picture in colour. Sensor data have other colour spaces, or more bits.
fn largest_uncompressed(structure: &Structure<'_>) -> Option<Header> {
    let directories = structure.directories();
    let uncompressed =
        directories.iter().enumerate().filter(|(_, ifd)| ifd.number(raw_tag::COMPRESSION) == Some(1));
    let headers = uncompressed.filter_map(|(directory, ifd)| {
        let picture = TiffImage::describe(structure, ifd).ok()?;
        let is_colour = matches!(picture.colours, ColourSpace::Rgb | ColourSpace::YCbCr { .. });
        let preview = Some(Preview::Pixels { directory });
        (is_colour && picture.samples.bits == 8).then(|| Header { preview, ..tiff::header_of(&picture) })
    });
    headers.max_by_key(|header| header.size.area())
}

fn previews_in_fujifilm_header(bytes: &[u8]) -> Vec<ByteRange> {
    let number = |at: usize| {
        let number = bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)?;
        usize::try_from(number).ok()
    };
    number(84).zip(number(88)).map(|(start, length)| ByteRange { start, length }).into_iter().collect()
}

#[cfg(test)]
mod tests;
