//! The headers of each format, read without decoding anything.

pub(crate) mod bmff;
mod gif;
mod jpeg;
mod photoshop;
mod png;
mod raw;
pub(crate) mod tiff;
mod webp;

use std::borrow::Cow;

use domain::PixelSize;

use crate::{Format, MediaError, Orientation};

/// The most bytes of a block that is joined or unpacked, 4 MiB; the colour profiles of presses take 2.
pub(crate) const MAX_BLOCK_BYTES: usize = 4 << 20;

/// What a decoder and a memory budget need to know of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The size of the stored picture.
    pub(crate) size: PixelSize,
    /// The size of what the decoder unpacks; differs where a frame and its canvas do.
    pub(crate) decoded_size: PixelSize,
    /// The most memory that decoding takes at full size.
    pub(crate) decode_bytes: u64,
    /// Passes over the picture that the file asks for; 1 unless it is a JPEG in several scans.
    pub(crate) scans: u32,
    /// Whether the samples of a CMYK JPEG are inverted, as Adobe's programs write them.
    pub(crate) inverted_cmyk: bool,
    /// How the container itself has the picture turned, for the decoder to leave alone or to do; EXIF then has no say.
    pub(crate) orientation: Option<Orientation>,
    /// Where the JPEG lies that is decoded in the picture's stead; of a RAW file.
    pub(crate) preview: Option<Extent>,
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: usize,
    pub(crate) length: usize,
}

impl Extent {
    /// Those bytes, if the file has them.
    pub(crate) fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.start..self.start.checked_add(self.length)?)
    }
}

/// What a file carries beside its picture, each as its own standard has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks<'a> {
    /// EXIF, from its TIFF header on or with an `Exif\0\0` before it; of a TIFF file, the file.
    pub(crate) exif: Option<Cow<'a, [u8]>>,
    /// An XMP packet.
    pub(crate) xmp: Option<Cow<'a, [u8]>>,
    /// IPTC-IIM datasets.
    pub(crate) iptc: Option<Cow<'a, [u8]>>,
    /// What the numbers of the pixels mean.
    pub(crate) colour: Option<Colour<'a>>,
    /// The text chunks of a PNG.
    pub(crate) texts: Texts<'a>,
}

/// The texts of a PNG that tell something about its picture, in UTF-8 or Latin-1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts<'a> {
    pub(crate) title: Option<Cow<'a, [u8]>>,
    pub(crate) description: Option<Cow<'a, [u8]>>,
    pub(crate) comment: Option<Cow<'a, [u8]>>,
    pub(crate) creation_time: Option<Cow<'a, [u8]>>,
}

/// What the numbers of the pixels mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Colour<'a> {
    /// An ICC profile.
    Icc(Cow<'a, [u8]>),
    /// Code points of ITU-T H.273; the matrix has been undone by the decoder.
    Cicp { primaries: u8, transfer: u8 },
}

impl Header {
    /// The header of a file that is decoded in one pass.
    fn plain(size: PixelSize, bytes_per_pixel: u64) -> Self {
        Self {
            size,
            decoded_size: size,
            decode_bytes: size.area().saturating_mul(bytes_per_pixel),
            scans: 1,
            inverted_cmyk: false,
            orientation: None,
            preview: None,
        }
    }
}

/// Tells the format, looking deeper than [`Format::sniff`] into what begins like a TIFF.
pub(crate) fn format(bytes: &[u8]) -> Option<Format> {
    match Format::sniff(bytes)? {
        Format::Tiff if raw::is_raw_tiff(bytes) => Some(Format::Raw),
        format => Some(format),
    }
}

/// Reads the header.
pub(crate) fn header(format: Format, bytes: &[u8]) -> Result<Header, MediaError> {
    match format {
        Format::Jpeg => jpeg::header(bytes),
        Format::Png => png::header(bytes),
        Format::WebP => webp::header(bytes),
        Format::Gif => gif::header(bytes),
        Format::Tiff => tiff::header(bytes),
        Format::Heif | Format::Avif => bmff::header(bytes),
        Format::Raw => raw::header(bytes),
    }
}

/// Finds what the file carries beside its picture.
pub(crate) fn blocks(format: Format, bytes: &[u8]) -> Blocks<'_> {
    match format {
        Format::Jpeg => jpeg::blocks(bytes),
        Format::Png => png::blocks(bytes),
        Format::WebP => webp::blocks(bytes),
        Format::Gif => Blocks::default(),
        Format::Tiff => tiff::blocks(bytes),
        Format::Heif | Format::Avif => bmff::blocks(bytes),
        Format::Raw => raw::blocks(bytes),
    }
}

/// Cuts `count` bytes off the front.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    Some(head)
}
