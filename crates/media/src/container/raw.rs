//! Finds the embedded preview of RAW files. Sensor data are not developed.

mod cr3;
mod preview;

use super::tiff::{self, ColourSpace, TiffImage};
use super::{Blocks, Container, Picture, jpeg};
use crate::MediaError;
use crate::tiff::{Directories, tag};

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
    /// A tag of DNG that Sony writes as well.
    pub(super) const DNG_PRIVATE_DATA: u16 = 0xC634;
}

/// Whether the directories of a file that starts like a TIFF are those of a RAW file.
pub(super) fn is_raw(directories: &Directories<'_>) -> bool {
    let first = &directories.first;
    if first.entry(raw_tag::DNG_VERSION).is_some() || first.entry(raw_tag::DNG_PRIVATE_DATA).is_some() {
        return true;
    }
    directories.all().any(|ifd| {
        // The colour space is a colour filter array or linear raw, or the compression is that of Sony, Epson, Samsung, Nikon, Kodak
        // or Pentax.
        matches!(ifd.number(raw_tag::PHOTOMETRIC), Some(32_803 | 34_892))
            || matches!(
                ifd.number(raw_tag::COMPRESSION),
                Some(32_767 | 32_769 | 32_770 | 34_713 | 65_000 | 65_535)
            )
    })
}

pub(super) fn read(bytes: &[u8]) -> Container<'_> {
    match bytes {
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => read_boxes(bytes),
        [b'F', b'U', b'J', b'I', ..] => read_fujifilm(bytes),
        _ => match Directories::read(bytes) {
            Some(directories) => read_tiff(bytes, &directories),
            // Only the signature is known. The whole file is searched for a preview.
            None => largest(bytes, Vec::new(), true, None),
        },
    }
}

/// Reads TIFF directories, with any signature.
pub(super) fn read_tiff<'a>(bytes: &'a [u8], directories: &Directories<'a>) -> Container<'a> {
    let first = &directories.first;
    // A DNG lists its previews. Any other JPEG in it may be a tile of the raw picture.
    let may_scan = first.entry(raw_tag::DNG_VERSION).is_none();
    let listed = previews_in_directories(bytes, directories);
    let preview = largest(bytes, listed, may_scan, largest_uncompressed(bytes, directories));
    let Container { picture, blocks: in_preview } = preview;
    let has_no_exif = first.entry(tag::EXIF_DIRECTORY).is_none();
    let blocks = Blocks {
        exif: in_preview.exif.filter(|_| has_no_exif).or_else(|| Some(bytes.into())),
        xmp: first.bytes(raw_tag::XMP).map(Into::into).or(in_preview.xmp),
        iptc: first.bytes(raw_tag::IPTC).map(Into::into).or(in_preview.iptc),
        ..in_preview
    };
    Container { picture, blocks }
}

/// Reads MP4 boxes (Canon's CR3).
fn read_boxes(bytes: &[u8]) -> Container<'_> {
    let Container { picture, blocks: in_preview } = largest(bytes, cr3::previews(bytes), true, None);
    let blocks = Blocks {
        exif: cr3::exif(bytes).map(Into::into).or(in_preview.exif),
        xmp: cr3::xmp(bytes).map(Into::into).or(in_preview.xmp),
        ..in_preview
    };
    Container { picture, blocks }
}

/// Reads a header with the position of a preview (Fujifilm's RAF). The metadata are those of this preview, even if another one is
/// decoded.
fn read_fujifilm(bytes: &[u8]) -> Container<'_> {
    let location = preview_in_fujifilm_header(bytes);
    let first = location.and_then(|(start, _)| bytes.get(start..));
    let exif = first.and_then(|first| jpeg::blocks(first).exif);
    let listed = location.map(|(start, length)| part(bytes, start, length)).into_iter().collect();
    let Container { picture, blocks } = largest(bytes, listed, true, None);
    Container { picture, blocks: Blocks { exif: exif.or(blocks.exif), ..blocks } }
}

/// `length` bytes from an offset on, or up to the end of the file if it ends earlier. `None` if the file ends before the offset.
fn part(bytes: &[u8], start: usize, length: usize) -> Option<&[u8]> {
    let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
    Some(rest.get(..length).unwrap_or(rest))
}

/// The largest preview with its metadata: a JPEG, or the picture `uncompressed`. A listed preview is `None` if the file ends before
/// it.
fn largest<'a>(
    bytes: &'a [u8],
    listed: Vec<Option<&'a [u8]>>,
    may_scan: bool,
    uncompressed: Option<Picture<'a>>,
) -> Container<'a> {
    let is_cut = listed.contains(&None);
    let (jpeg, blocks) = preview::largest(bytes, listed.into_iter().flatten(), may_scan).unzip();
    // Of equal sizes the JPEG counts, because it may have metadata.
    match (jpeg, uncompressed) {
        (Some(jpeg), Some(pixels)) if pixels.header.size.area() > jpeg.header.size.area() => {
            Container { picture: Ok(pixels), blocks: Blocks::default() }
        }
        (Some(jpeg), _) => Container { picture: Ok(jpeg), blocks: blocks.unwrap_or_default() },
        (None, Some(pixels)) => Container { picture: Ok(pixels), blocks: Blocks::default() },
        (None, None) => {
            let error = if is_cut { MediaError::Truncated } else { MediaError::NoPreview };
            Container { picture: Err(error), blocks: Blocks::default() }
        }
    }
}

/// The JPEG files in the directories: separate files, and pictures whose only strip is a JPEG file.
fn previews_in_directories<'a>(bytes: &'a [u8], directories: &Directories<'a>) -> Vec<Option<&'a [u8]>> {
    let mut found = Vec::new();
    for ifd in directories.all() {
        let mut add = |start: Option<u64>, length: Option<u64>| {
            let number = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok());
            if let Some((start, length)) = number(start).zip(number(length)) {
                found.push(part(bytes, start, length));
            }
        };
        add(ifd.number(raw_tag::JPEG_START), ifd.number(raw_tag::JPEG_LENGTH));
        if matches!(ifd.number(raw_tag::COMPRESSION), Some(6 | 7))
            && ifd.entry(raw_tag::STRIP_OFFSETS).is_some_and(|offsets| offsets.number(1).is_none())
        {
            add(ifd.number(raw_tag::STRIP_OFFSETS), ifd.number(raw_tag::STRIP_BYTE_COUNTS));
        }
        if let Some(entry) = ifd.entry(raw_tag::JPG_FROM_RAW) {
            found.push(Some(entry.value));
        }
    }
    found
}

/// The largest uncompressed picture in colour. Sensor data have other colour spaces, or more bits.
fn largest_uncompressed<'a>(bytes: &'a [u8], directories: &Directories<'a>) -> Option<Picture<'a>> {
    let uncompressed = directories.all().filter(|ifd| ifd.number(raw_tag::COMPRESSION) == Some(1));
    let images = uncompressed.filter_map(|ifd| {
        let image = TiffImage::describe(&directories.structure, ifd).ok()?;
        let is_colour = matches!(image.colours, ColourSpace::Rgb | ColourSpace::YCbCr { .. });
        (is_colour && image.samples.bits == 8).then_some(image)
    });
    images.max_by_key(|image| image.size.area()).map(|image| tiff::picture(bytes, image))
}

/// Offset and length of the preview.
fn preview_in_fujifilm_header(bytes: &[u8]) -> Option<(usize, usize)> {
    let number = |at: usize| {
        let number = bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)?;
        usize::try_from(number).ok()
    };
    number(84).zip(number(88))
}

#[cfg(test)]
mod tests;
