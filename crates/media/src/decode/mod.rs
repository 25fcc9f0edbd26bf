//! The pixels of each format, unpacked once and at the smallest size that serves.

#[cfg(test)]
mod appended;
mod heif;
mod jpeg;
mod png;
mod stills;
mod tiff;

use domain::PixelSize;

use crate::container::Header;
use crate::render::Pixels;
use crate::{Format, MediaError};

/// An unpacked picture.
#[derive(Debug)]
pub(crate) struct Decoded {
    /// The pixels as stored, not turned; of a JPEG maybe at a fraction of its size.
    pub(crate) pixels: Pixels,
    /// What is wrong with the file, when not all of the picture could be read.
    pub(crate) damaged: Option<String>,
}

/// Unpacks the picture, at its own size or any smaller one that is not below `at_least`.
pub(crate) fn decode(
    format: Format,
    bytes: &[u8],
    header: &Header,
    at_least: PixelSize,
) -> Result<Decoded, MediaError> {
    match format {
        Format::Jpeg => jpeg::decode(bytes, header, at_least),
        Format::Png => png::decode(bytes, header),
        Format::WebP | Format::Gif => stills::decode(format, bytes, header),
        Format::Tiff => tiff::decode(bytes, header),
        Format::Heif | Format::Avif => heif::decode(bytes, header),
        Format::Raw => {
            let preview =
                header.preview.and_then(|preview| preview.of(bytes)).ok_or(MediaError::Truncated)?;
            jpeg::decode(preview, header, at_least)
        }
    }
}

/// Keeps what a decoder gave before it stopped, unless that is a single colour: then it gave nothing.
fn salvage(pixels: Pixels, reason: String) -> Result<Decoded, MediaError> {
    if pixels.is_uniform() {
        return Err(MediaError::Corrupt(reason));
    }
    Ok(Decoded { pixels, damaged: Some(reason) })
}

/// Bytes for `size` pixels of so many channels. Sizes were checked against the limits before.
fn blank(size: PixelSize, channels: usize) -> Result<Vec<u8>, MediaError> {
    let bytes = usize::try_from(size.area()).ok().and_then(|pixels| pixels.checked_mul(channels));
    bytes
        .map(|bytes| vec![0; bytes])
        .ok_or_else(|| MediaError::Conversion("it does not fit into memory".into()))
}
