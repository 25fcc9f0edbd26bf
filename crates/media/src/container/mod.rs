//! Reads the headers of each format without decoding pixels.

pub(crate) mod bmff;
mod boxes;
mod gif;
pub(crate) mod jpeg;
mod photoshop;
pub(crate) mod png;
mod raw;
pub(crate) mod tiff;
mod webp;

use std::borrow::Cow;

use domain::PixelSize;

use self::bmff::HeifImage;
use self::tiff::TiffImage;
use crate::tiff::Directories;
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
}

/// The content of a file, parsed once.
#[derive(Debug, Clone)]
pub(crate) struct Container<'a> {
    /// The picture to decode, or why there is none.
    pub(crate) picture: Result<Picture<'a>, MediaError>,
    pub(crate) blocks: Blocks<'a>,
}

#[derive(Debug, Clone)]
pub(crate) struct Picture<'a> {
    pub(crate) header: Header,
    pub(crate) coded: Coded<'a>,
}

/// The file, or the embedded file, that a decoder reads, and what the container says about it.
#[derive(Debug, Clone)]
pub(crate) enum Coded<'a> {
    Jpeg(&'a [u8]),
    Png(&'a [u8]),
    WebP(&'a [u8]),
    Gif(&'a [u8]),
    Tiff(&'a [u8], Box<TiffImage<'a>>),
    Heif(&'a [u8], HeifImage),
}

/// The metadata blocks of a file, in the format of their standards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks<'a> {
    /// EXIF, starting at its TIFF header or at `Exif\0\0`. For a TIFF this is the whole file.
    pub(crate) exif: Option<Cow<'a, [u8]>>,
    /// Further EXIF blocks, for what the first one lacks.
    pub(crate) more_exif: Vec<Cow<'a, [u8]>>,
    pub(crate) xmp: Option<Cow<'a, [u8]>>,
    /// IPTC-IIM datasets.
    pub(crate) iptc: Option<Cow<'a, [u8]>>,
    /// The colour space of the pixels.
    pub(crate) colour: Option<Colour<'a>>,
    pub(crate) texts: PngTexts<'a>,
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
    Icc(Cow<'a, [u8]>),
    /// Code points of ITU-T H.273. The decoder has already applied the matrix.
    Cicp {
        primaries: u8,
        transfer: u8,
    },
    /// Primaries and an exponent as measured values.
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
        }
    }
}

/// Detects the format. Looks deeper than [`Format::sniff`] into files that start like a TIFF.
pub(crate) fn format(bytes: &[u8]) -> Option<Format> {
    match Format::sniff(bytes)? {
        Format::Tiff if Directories::read(bytes).is_some_and(|found| raw::is_raw(&found)) => {
            Some(Format::Raw)
        }
        format => Some(format),
    }
}

/// Parses a file, and detects its format as [`format`].
pub(crate) fn read(bytes: &[u8]) -> Option<(Format, Container<'_>)> {
    let format = Format::sniff(bytes)?;
    let container = match format {
        Format::Jpeg => jpeg::read(bytes),
        Format::Png => png::read(bytes),
        Format::WebP => webp::read(bytes),
        Format::Gif => {
            let picture = gif::header(bytes).map(|header| Picture { header, coded: Coded::Gif(bytes) });
            Container { picture, blocks: Blocks::default() }
        }
        Format::Tiff => match Directories::read(bytes) {
            Some(found) if raw::is_raw(&found) => return Some((Format::Raw, raw::read_tiff(bytes, &found))),
            found => tiff::read(bytes, found.as_ref()),
        },
        Format::Heif | Format::Avif => bmff::read(bytes),
        Format::Raw => raw::read(bytes),
    };
    Some((format, container))
}

/// Splits `count` bytes off the front.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    Some(head)
}
