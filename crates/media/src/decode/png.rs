//! PNG by the png crate itself: it can be told not to unpack text and colour profiles, which may be bombs, and to
//! give 16-bit samples as 8 bits without a second copy.

use std::io::Cursor;

use domain::PixelSize;
use png::{BitDepth, ColorType, Decoder, Limits, Transformations};

use super::{Decoded, blank, salvage};
use crate::MediaError;
use crate::container::Header;
use crate::render::{Layout, Pixels};

/// For chunks other than the picture, and rows in work.
const MAX_AUXILIARY_BYTES: usize = 64 << 20;

pub(super) fn decode(bytes: &[u8], header: &Header) -> Result<Decoded, MediaError> {
    let corrupt = |error: png::DecodingError| MediaError::Corrupt(error.to_string());
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: MAX_AUXILIARY_BYTES });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(corrupt)?;

    let (width, height) = reader.info().size();
    let size = PixelSize { width, height };
    let layout = match reader.output_color_type() {
        (ColorType::Grayscale, BitDepth::Eight) => Layout::Gray,
        (ColorType::GrayscaleAlpha, BitDepth::Eight) => Layout::GrayAlpha,
        (ColorType::Rgb, BitDepth::Eight) => Layout::Rgb,
        (ColorType::Rgba, BitDepth::Eight) => Layout::Rgba,
        (color, depth) => {
            return Err(MediaError::Corrupt(format!("its colours are {color:?} of {depth:?} bits")));
        }
    };
    let mut pixels = blank(size, layout.channels())?;
    if size != header.size || reader.output_buffer_size() != Some(pixels.len()) {
        return Err(MediaError::Corrupt("its headers disagree about its size".into()));
    }
    let read = reader.next_frame(&mut pixels);
    let pixels = Pixels { size, layout, bytes: pixels };
    match read {
        Ok(_) => Ok(Decoded { pixels, damaged: None }),
        // The rows before the error are there.
        Err(error) => salvage(pixels, error.to_string()),
    }
}
