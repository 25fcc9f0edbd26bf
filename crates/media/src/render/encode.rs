//! Encodes WebP with libwebp.

use std::fmt::Debug;

use webp::{Encoder, PixelLayout, WebPConfig, WebPEncodingError};

use crate::MediaError;
use crate::render::{Layout, Pixels};

/// The quality and the effort of libwebp.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoding {
    quality: f32,
    method: i32,
}

impl Encoding {
    /// Hardly distinguishable from the original at display size. The method takes a third of the time of libwebp's default
    /// 4; files are 5 % larger and 0.3 dB worse.
    pub(super) const DISPLAY: Self = Self { quality: 80.0, method: 2 };
    /// For previews, of which a page loads many: a quarter smaller. With so few pixels, the slower method takes 3 ms.
    pub(super) const PREVIEW: Self = Self { quality: 70.0, method: 4 };
}

/// Encodes RGB or RGBA pixels as lossy WebP. Deterministic.
pub(super) fn webp(pixels: &Pixels, encoding: Encoding) -> Result<Vec<u8>, MediaError> {
    let layout = match pixels.layout {
        Layout::Rgb => PixelLayout::Rgb,
        Layout::Rgba => PixelLayout::Rgba,
        other => return Err(MediaError::Conversion(format!("{other:?} pixels cannot be encoded"))),
    };
    let mut config = WebPConfig::new().map_err(|()| failed("no configuration"))?;
    config.quality = encoding.quality;
    config.method = encoding.method;
    let encoder = Encoder::new(&pixels.bytes, layout, pixels.size.width, pixels.size.height);
    let mut encoded = encoder.encode_advanced(&config);
    // The prediction modes of all blocks of 16 × 16 pixels must fit into 512 KiB, which is 5 bits a block at 200
    // megapixels. Without segments, which take up to two of these bits, every picture fits, but files with varying
    // contrast double in size.
    if let Err(WebPEncodingError::VP8_ENC_ERROR_PARTITION0_OVERFLOW) = encoded {
        config.segments = 1;
        encoded = encoder.encode_advanced(&config);
    }
    encoded.map(|file| file.to_vec()).map_err(failed)
}

fn failed(reason: impl Debug) -> MediaError {
    MediaError::Conversion(format!("libwebp: {reason:?}"))
}
