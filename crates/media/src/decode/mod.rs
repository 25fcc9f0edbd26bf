//! Decodes the pixels of each format, at the smallest sufficient size.

#[cfg(test)]
mod appended;
mod heif;
mod image_crate;
mod jpeg;
mod png;
mod tiff;

use domain::PixelSize;

use crate::MediaError;
use crate::container::{Coded, Picture};
use crate::pixels::{Pixels, Planes, Raster};

#[derive(Debug)]
pub(crate) struct Decoded<P = Pixels> {
    /// The pixels as stored, not yet upright; those of a JPEG may be scaled down.
    pub(crate) pixels: P,
    /// Why a part of the picture is missing, if so.
    pub(crate) damaged: Option<String>,
}

/// Decodes the picture, at its own size or a smaller one that is at least `at_least`.
pub(crate) fn decode(picture: &Picture<'_>, at_least: PixelSize) -> Result<Decoded, MediaError> {
    let header = &picture.header;
    match &picture.coded {
        Coded::Jpeg(file) => jpeg::decode(file, header, at_least),
        Coded::Png(file) => png::decode(file, header),
        Coded::WebP(file) => image_crate::webp(file, header),
        Coded::Gif(file) => image_crate::gif(file, header),
        Coded::Tiff(file, image) => tiff::decode(file, image),
        Coded::Heif(file, image) => heif::decode(file, *image, header),
    }
}

/// Decodes the planes of a picture with [`has_planes`](crate::container::Header::has_planes), at the same size as [`decode`].
/// `None` if the decoder for planes refuses it.
pub(crate) fn decode_planes(
    picture: &Picture<'_>,
    at_least: PixelSize,
) -> Option<Result<Decoded<Planes>, MediaError>> {
    match picture.coded {
        Coded::Jpeg(file) => jpeg::decode_planes(file, &picture.header, at_least),
        _ => None,
    }
}

/// Keeps the pixels that a decoder gave before an error. If all pixels have the same colour, the decoder has decoded nothing, and
/// `reason` is the error.
fn salvage<P: Raster>(pixels: P, reason: String) -> Result<Decoded<P>, MediaError> {
    if pixels.is_uniform() {
        return Err(MediaError::Corrupt(reason));
    }
    Ok(Decoded { pixels, damaged: Some(reason) })
}
