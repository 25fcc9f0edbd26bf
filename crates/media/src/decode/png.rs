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
    let corrupt = |error: png::DecodingError| MediaError::Corrupt(in_words(&error));
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
        Err(error) => salvage(pixels, in_words(&error)),
    }
}

/// What is wrong, in words for the photo's owner: the decoder names its own types in some of its messages.
fn in_words(error: &png::DecodingError) -> String {
    let text = error.to_string();
    if text.starts_with("CRC error") {
        "a checksum in it is wrong".into()
    } else if text.contains("ChunkType") {
        "a part of it is malformed".into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_checksum_is_told_in_words() {
        let mut file =
            std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/media/palette.png")).unwrap();
        // A byte of the first chunk's checksum.
        file[29] ^= 1;
        let error = Decoder::new(Cursor::new(file.as_slice())).read_info().err().unwrap();
        assert_eq!(in_words(&error), "a checksum in it is wrong");
    }
}
