//! WebP by libwebp.

use std::fmt::Debug;

use webp::{Encoder, PixelLayout, WebPConfig, WebPEncodingError};

use crate::MediaError;
use crate::render::{Layout, Pixels};

/// Hardly told from the original at display size.
const QUALITY: f32 = 80.0;
/// A third of the time of libwebp's default 4, for files 5 % larger and 0.3 dB worse.
const METHOD: i32 = 2;

/// Encodes RGB or RGBA pixels as lossy WebP. The same pixels give the same bytes.
pub(super) fn webp(pixels: &Pixels) -> Result<Vec<u8>, MediaError> {
    let layout = match pixels.layout {
        Layout::Rgb => PixelLayout::Rgb,
        Layout::Rgba => PixelLayout::Rgba,
        other => return Err(MediaError::Conversion(format!("{other:?} pixels cannot be encoded"))),
    };
    let mut config = WebPConfig::new().map_err(|()| failed("no configuration"))?;
    config.quality = QUALITY;
    config.method = METHOD;
    let encoder = Encoder::new(&pixels.bytes, layout, pixels.size.width, pixels.size.height);
    let mut encoded = encoder.encode_advanced(&config);
    // How each block of 16 x 16 pixels is predicted has to fit into 512 KiB, 5 bits a block at 200 megapixels. Without
    // segments, which take up to two of them, every picture fits; where contrasts differ much the file then doubles.
    if let Err(WebPEncodingError::VP8_ENC_ERROR_PARTITION0_OVERFLOW) = encoded {
        config.segments = 1;
        encoded = encoder.encode_advanced(&config);
    }
    encoded.map(|file| file.to_vec()).map_err(failed)
}

fn failed(reason: impl Debug) -> MediaError {
    MediaError::Conversion(format!("libwebp: {reason:?}"))
}
