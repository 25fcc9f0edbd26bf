//! WebP and GIF by the image crate; of an animation the first frame, laid on its canvas.

use std::io::Cursor;

use domain::PixelSize;
use image::codecs::gif::GifDecoder;
use image::codecs::webp::WebPDecoder;
use image::{ColorType, ImageDecoder, ImageError, ImageResult};

use super::{Decoded, blank, salvage};
use crate::container::Header;
use crate::render::{Layout, Pixels};
use crate::{Format, MediaError};

pub(super) fn decode(format: Format, bytes: &[u8], header: &Header) -> Result<Decoded, MediaError> {
    let input = Cursor::new(bytes);
    if format == Format::Gif {
        unpack(GifDecoder::new(input), header)
    } else {
        unpack(WebPDecoder::new(input), header)
    }
}

fn unpack<D: ImageDecoder>(decoder: ImageResult<D>, header: &Header) -> Result<Decoded, MediaError> {
    let decoder = decoder.map_err(|error| MediaError::Corrupt(reason(&error)))?;
    let (width, height) = decoder.dimensions();
    let size = PixelSize { width, height };
    if size != header.size {
        return Err(MediaError::Corrupt("its headers disagree about its size".into()));
    }
    let layout = match decoder.color_type() {
        ColorType::Rgb8 => Layout::Rgb,
        ColorType::Rgba8 => Layout::Rgba,
        other => return Err(MediaError::Corrupt(format!("its colours are stored as {other:?}"))),
    };
    let mut pixels = blank(size, layout.channels())?;
    let read = decoder.read_image(&mut pixels);
    let pixels = Pixels { size, layout, bytes: pixels };
    match read {
        Ok(()) => Ok(Decoded { pixels, damaged: None }),
        Err(error) => salvage(pixels, reason(&error)),
    }
}

fn reason(error: &ImageError) -> String {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "it is cut off".into()
        }
        error => error.to_string(),
    }
}
