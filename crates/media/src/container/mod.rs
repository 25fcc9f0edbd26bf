//! Reads the headers of each format without decoding pixels.

pub(crate) mod bmff;
mod gif;
pub(crate) mod jpeg;
mod photoshop;
pub(crate) mod png;
mod raw;
pub(crate) mod tiff;
mod webp;

use std::borrow::Cow;

use domain::PixelSize;

use crate::{Format, MediaError, Orientation};

/// Maximum size of a metadata block, 4 MiB. Colour profiles of printing presses have 2 MiB.
pub(crate) const MAX_BLOCK_BYTES: usize = 4 << 20;

/// Maximum number of scans in a JPEG. Encoders write about ten. Each scan costs a pass over the whole picture, so a few
/// hundred kilobytes of empty scans could keep a decoder busy for hours.
pub(crate) const MAX_SCANS: u32 = 500;

/// The parameters of decoding and of the memory budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The size of the stored picture.
    pub(crate) size: PixelSize,
    /// The size that the decoder unpacks. It differs from `size` if a frame differs from its canvas.
    pub(crate) decoded_size: PixelSize,
    /// Upper bound of the memory for decoding at full size, in bytes.
    pub(crate) decode_bytes: u64,
    /// Number of scans of a JPEG, each a pass over the picture; else 1.
    pub(crate) scans: u32,
    /// Whether the samples of a CMYK JPEG are inverted, as Adobe programs write them.
    pub(crate) inverted_cmyk: bool,
    /// Whether the picture is stored as planes of YCbCr that WebP can take over.
    pub(crate) has_planes: bool,
    /// The orientation that the container declares, after what the decoder does itself. It overrides EXIF.
    pub(crate) orientation: Option<Orientation>,
    /// The embedded picture of a RAW file, which is decoded instead.
    pub(crate) preview: Option<Preview>,
}

/// An embedded picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preview {
    /// A JPEG file.
    Jpeg(ByteRange),
    /// Pixels that a TIFF directory describes, by its place among all directories.
    Pixels { directory: usize },
}

/// A range of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) start: usize,
    pub(crate) length: usize,
}

impl ByteRange {
    /// The bytes, if the file has them.
    pub(crate) fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.start..self.start.checked_add(self.length)?)
    }
}

/// The metadata blocks of a file, in the format of their standards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks<'a> {
    /// EXIF, starting at its TIFF header or at `Exif\0\0`. For a TIFF this is the whole file.
    pub(crate) exif: Option<Cow<'a, [u8]>>,
    /// Further EXIF blocks, for what the first one lacks.
    pub(crate) more_exif: Vec<Cow<'a, [u8]>>,
    /// An XMP packet.
    pub(crate) xmp: Option<Cow<'a, [u8]>>,
    /// IPTC-IIM datasets.
    pub(crate) iptc: Option<Cow<'a, [u8]>>,
    /// The colour space of the pixels.
    pub(crate) colour: Option<Colour<'a>>,
    /// The text chunks of a PNG.
    pub(crate) texts: PngTexts<'a>,
    /// The comments of a JPEG.
    pub(crate) comments: Vec<&'a [u8]>,
}

impl Blocks<'_> {
    /// All EXIF blocks, best first.
    pub(crate) fn exif_blocks(&self) -> impl Iterator<Item = &[u8]> {
        self.exif.iter().chain(&self.more_exif).map(|block| &**block)
    }
}

/// The text chunks of a PNG that describe the picture, in UTF-8 or Latin-1.
#[derive(Debug, Clone, Default)]
pub(crate) struct PngTexts<'a> {
    pub(crate) title: Option<Cow<'a, [u8]>>,
    pub(crate) description: Option<Cow<'a, [u8]>>,
    pub(crate) comment: Option<Cow<'a, [u8]>>,
    pub(crate) creation_time: Option<Cow<'a, [u8]>>,
}

/// The colour space of the pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Colour<'a> {
    /// An ICC profile.
    Icc(Cow<'a, [u8]>),
    /// Code points of ITU-T H.273. The decoder has already applied the matrix.
    Cicp { primaries: u8, transfer: u8 },
    /// Measured values.
    Measured(MeasuredColours),
}

/// A colour space by its measured values, in units of 1/100,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MeasuredColours {
    /// The exponent from light to samples; `None` for the curve of sRGB.
    pub(crate) exponent: Option<u32>,
    /// x and y of white, red, green and blue (CIE 1931); `None` for those of sRGB. They are possible and not on one line.
    pub(crate) chromaticities: Option<[[u32; 2]; 4]>,
}

impl Header {
    /// The header of a file without special parameters.
    fn plain(size: PixelSize, bytes_per_pixel: u64) -> Self {
        Self {
            size,
            decoded_size: size,
            decode_bytes: size.area().saturating_mul(bytes_per_pixel),
            scans: 1,
            inverted_cmyk: false,
            has_planes: false,
            orientation: None,
            preview: None,
        }
    }
}

/// Detects the format. Looks deeper than [`Format::sniff`] into files that start like a TIFF.
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

/// Finds the metadata blocks.
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

/// Splits `count` bytes off the front.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    Some(head)
}
