//! Encodes renditions as WebP.

use domain::PixelSize;
use webp_encoder::{EncodeError, Picture, Samples, Settings};

use crate::MediaError;
use crate::photo::MAX_GRAPHIC_AREA;
use crate::pixels::{Layout, Pixels, Planes};

/// How renditions are encoded.
pub(super) type Encoding = Settings;

/// For renditions that are hardly distinguishable from the original at display size. The method takes a third of the time of
/// libwebp's default method 4. Files are 5 % larger and 0.3 dB worse.
pub(super) const DISPLAY: Encoding = Settings { quality: 80.0, method: 2, lossless: false };
/// For previews. Their files are a quarter smaller, because a page loads many of them. With so few pixels, the slower method takes
/// only 3 ms.
pub(super) const PREVIEW: Encoding = Settings { quality: 70.0, method: 4, lossless: false };
/// For graphics, which are smaller without loss. More effort gains little.
const GRAPHIC: Encoding = Settings { quality: 20.0, method: 2, lossless: true };

/// Encodes RGB or RGBA pixels as WebP: without loss if the picture may be a graphic and the file is smaller. The result is
/// deterministic.
pub(super) fn pixels(
    pixels: &Pixels,
    encoding: Encoding,
    may_be_graphic: bool,
) -> Result<Vec<u8>, MediaError> {
    let lossy = encode(pixels, encoding)?;
    if !may_be_graphic || pixels.size.area() > MAX_GRAPHIC_AREA || !is_flat(pixels) {
        return Ok(lossy);
    }
    let lossless = encode(pixels, GRAPHIC)?;
    Ok(if lossless.len() < lossy.len() { lossless } else { lossy })
}

/// Whether at least half of the pixels equal their left neighbours, as in screenshots, logos and QR codes.
fn is_flat(pixels: &Pixels) -> bool {
    let channels = pixels.layout.channels();
    let before = pixels.bytes.chunks_exact(channels);
    let equal = before.clone().skip(1).zip(before).filter(|(pixel, before)| pixel == before).count();
    equal >= pixels.bytes.len() / channels / 2
}

fn encode(pixels: &Pixels, encoding: Encoding) -> Result<Vec<u8>, MediaError> {
    let samples = match pixels.layout {
        Layout::Rgb => Samples::Rgb(&pixels.bytes),
        Layout::Rgba => Samples::Rgba(&pixels.bytes),
        other => return Err(MediaError::Conversion(format!("{other:?} pixels cannot be encoded"))),
    };
    let picture = Picture { width: pixels.size.width, height: pixels.size.height, samples };
    webp_encoder::encode(&picture, encoding).map_err(failed)
}

/// Encodes planes with the range of WebP as lossy WebP. Deterministic.
pub(super) fn planes(planes: &Planes, encoding: Encoding) -> Result<Vec<u8>, MediaError> {
    let [cb, cr] = planes.halved_chroma();
    let samples = Samples::Ycbcr420 { y: &planes.y.bytes, cb: &cb, cr: &cr };
    let PixelSize { width, height } = planes.y.size;
    let picture = Picture { width, height, samples };
    webp_encoder::encode(&picture, encoding).map_err(failed)
}

fn failed(error: EncodeError) -> MediaError {
    MediaError::Conversion(error.to_string())
}
