//! The headers of each format, read without decoding anything.

mod gif;
mod jpeg;
mod png;
mod webp;

use domain::PixelSize;

use crate::{Format, MediaError};

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
        }
    }
}

/// Reads the header.
pub(crate) fn header(format: Format, bytes: &[u8]) -> Result<Header, MediaError> {
    match format {
        Format::Jpeg => jpeg::header(bytes),
        Format::Png => png::header(bytes),
        Format::WebP => webp::header(bytes),
        Format::Gif => gif::header(bytes),
    }
}

/// The first EXIF block, from its TIFF header on or with an `Exif\0\0` before it. GIF has none.
pub(crate) fn exif_block(format: Format, bytes: &[u8]) -> Option<&[u8]> {
    match format {
        Format::Jpeg => jpeg::exif_block(bytes),
        Format::Png => png::exif_block(bytes),
        Format::WebP => webp::exif_block(bytes),
        Format::Gif => None,
    }
}

/// Cuts `count` bytes off the front.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    Some(head)
}
