//! Decodes WebP and GIF with the image crate. For an animation it decodes the first frame, on its canvas.

use std::io::Cursor;

use domain::PixelSize;
use image::codecs::gif::GifDecoder;
use image::codecs::webp::WebPDecoder;
use image::{ColorType, ImageDecoder, ImageError, ImageResult};

use super::{Decoded, salvage};
use crate::MediaError;
use crate::container::Header;
use crate::error::CUT_OFF;
use crate::pixels::{Layout, Pixels, zeroed};

pub(super) fn webp(bytes: &[u8], header: &Header) -> Result<Decoded, MediaError> {
    decode(WebPDecoder::new(Cursor::new(bytes)), header)
}

pub(super) fn gif(bytes: &[u8], header: &Header) -> Result<Decoded, MediaError> {
    decode(GifDecoder::new(Cursor::new(bytes)), header)
}

fn decode(decoder: ImageResult<impl ImageDecoder>, header: &Header) -> Result<Decoded, MediaError> {
    let decoder = decoder.map_err(|error| MediaError::Corrupt(reason(&error)))?;
    let (width, height) = decoder.dimensions();
    let size = PixelSize { width, height };
    if size != header.size {
        return Err(MediaError::size_mismatch());
    }
    let layout = match decoder.color_type() {
        ColorType::L8 => Layout::Gray,
        ColorType::Rgb8 => Layout::Rgb,
        ColorType::Rgba8 => Layout::Rgba,
        other => return Err(MediaError::Corrupt(format!("{other:?} pixels are not supported"))),
    };
    let mut bytes = zeroed(size, layout.channels())?;
    let outcome = decoder.read_image(&mut bytes);
    let pixels = Pixels { size, layout, bytes };
    match outcome {
        Ok(()) => Ok(Decoded { pixels, damaged: None }),
        Err(error) => salvage(pixels, reason(&error)),
    }
}

fn reason(error: &ImageError) -> String {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => CUT_OFF.into(),
        error => error.to_string(),
    }
}
