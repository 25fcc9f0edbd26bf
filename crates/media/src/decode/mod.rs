//! Decodes the pixels of each format, at the smallest sufficient size.

#[cfg(test)]
mod appended;
mod heif;
mod image_crate;
mod jpeg;
mod png;
mod tiff;

use domain::PixelSize;

use crate::container::{Header, Preview};
use crate::pixels::{Pixels, Planes, Raster};
use crate::{Format, MediaError};

/// A decoded picture.
#[derive(Debug)]
pub(crate) struct Decoded<P = Pixels> {
    /// The pixels as stored, not yet upright; those of a JPEG may be scaled down.
    pub(crate) pixels: P,
    /// Why a part of the picture is missing, if so.
    pub(crate) damaged: Option<String>,
}

/// Decodes the picture, at its own size or a smaller one that is at least `at_least`.
pub(crate) fn decode(
    format: Format,
    bytes: &[u8],
    header: &Header,
    at_least: PixelSize,
) -> Result<Decoded, MediaError> {
    match format {
        Format::Jpeg => jpeg::decode(bytes, header, at_least),
        Format::Png => png::decode(bytes, header),
        Format::WebP => image_crate::webp(bytes, header),
        Format::Gif => image_crate::gif(bytes, header),
        Format::Tiff => tiff::decode(bytes, header),
        Format::Heif | Format::Avif => heif::decode(bytes, header),
        Format::Raw => match header.preview {
            Some(Preview::Jpeg(range)) => {
                jpeg::decode(range.of(bytes).ok_or(MediaError::Truncated)?, header, at_least)
            }
            Some(Preview::Pixels { directory }) => tiff::decode_directory(bytes, header, directory),
            None => Err(MediaError::NoPreview),
        },
    }
}

/// Decodes a picture with [`has_planes`](Header::has_planes) to these planes, at a size as of [`decode`]. `None` if the
/// decoder for planes refuses it.
pub(crate) fn decode_planes(
    bytes: &[u8],
    header: &Header,
    at_least: PixelSize,
) -> Option<Result<Decoded<Planes>, MediaError>> {
    let jpeg = match header.preview {
        None => bytes,
        Some(Preview::Jpeg(range)) => range.of(bytes)?,
        Some(Preview::Pixels { .. }) => return None,
    };
    jpeg::decode_planes(jpeg, header, at_least)
}

/// Keeps the pixels that a decoder gave before an error. Pixels of a single colour mean that it decoded nothing.
fn salvage<P: Raster>(pixels: P, reason: String) -> Result<Decoded<P>, MediaError> {
    if pixels.is_uniform() {
        return Err(MediaError::Corrupt(reason));
    }
    Ok(Decoded { pixels, damaged: Some(reason) })
}
