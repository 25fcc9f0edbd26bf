//! WebP by libwebp.

use webp::{Encoder, PixelLayout, WebPConfig};

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
    let failed = || MediaError::Conversion("libwebp does not start".into());
    let mut config = WebPConfig::new().map_err(|()| failed())?;
    config.quality = QUALITY;
    config.method = METHOD;
    let encoder = Encoder::new(&pixels.bytes, layout, pixels.size.width, pixels.size.height);
    match encoder.encode_advanced(&config).map_err(|error| format!("{error:?}")) {
        Ok(file) => Ok(file.to_vec()),
        // How each block is predicted has to fit into 512 KiB, which pictures beyond 100 megapixels exceed: then at the
        // cost of some quality.
        Err(error) if error.contains("PARTITION0_OVERFLOW") => {
            config.partition_limit = 100;
            let file = encoder.encode_advanced(&config);
            file.map(|file| file.to_vec())
                .map_err(|error| MediaError::Conversion(format!("libwebp: {error:?}")))
        }
        Err(error) => Err(MediaError::Conversion(format!("libwebp: {error}"))),
    }
}
