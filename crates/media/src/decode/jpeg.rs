//! Decodes JPEG with libjpeg-turbo, at full size or an eighth, a quarter or half of it. Files that it refuses go to
//! zune-jpeg, which reads more broken files, but only at full size.

use domain::PixelSize;
use turbojpeg::{Colorspace, DecompressHeader, Decompressor, PixelFormat, ScalingFactor, Subsamp};

use super::{Decoded, image_crate, salvage, zeroed};
use crate::MediaError;
use crate::container::Header;
use crate::error::SIZE_MISMATCH;
use crate::probe::MAX_SCANS;
use crate::render::{Layout, Pixels, Planes, Raster};

/// Prefixes of libjpeg's warnings (jerror.h, `JWRN_`). The binding reports warnings as errors, and only the text
/// distinguishes them. After a warning the pixels are complete, with grey where data were missing.
const WARNINGS: [&str; 6] = [
    "Corrupt JPEG data",
    "Premature end of JPEG file",
    "Inconsistent progression sequence",
    "Invalid SOS parameters",
    "Unknown Adobe color transform",
    "Warning: unknown JFIF revision",
];

/// Part of the warnings about missing data, which may leave the picture grey.
const MISSING_DATA: &str = "remature end";

/// The scales with fast code, smallest first.
const SCALES: [ScalingFactor; 4] =
    [ScalingFactor::ONE_EIGHTH, ScalingFactor::ONE_QUARTER, ScalingFactor::ONE_HALF, ScalingFactor::ONE];

pub(super) fn decode(bytes: &[u8], header: &Header, at_least: PixelSize) -> Result<Decoded, MediaError> {
    match turbo(bytes, header, at_least) {
        Ok(decoded) => keep(decoded),
        // libjpeg's reason is clearer than that of zune-jpeg.
        Err(refusal) => match image_crate::jpeg(bytes, header) {
            Ok(Decoded { pixels, damaged: None }) => salvage(pixels, refusal),
            _ => Err(MediaError::Corrupt(refusal)),
        },
    }
}

/// Decodes the planes of YCbCr without converting them to RGB. `None` if libjpeg-turbo refuses the file, or if the scaled
/// planes have odd sides.
pub(super) fn decode_planes(
    bytes: &[u8],
    header: &Header,
    at_least: PixelSize,
) -> Option<Result<Decoded<Planes>, MediaError>> {
    turbo_planes(bytes, header, at_least).map(keep)
}

/// Keeps the picture, also after a warning.
fn keep<P: Raster>((pixels, warning): WithWarning<P>) -> Result<Decoded<P>, MediaError> {
    match warning {
        Some(warning) if warning.contains(MISSING_DATA) => salvage(pixels, warning),
        damaged => Ok(Decoded { pixels, damaged }),
    }
}

/// A picture, and libjpeg-turbo's warning about it.
type WithWarning<P> = (P, Option<String>);

/// Decodes with libjpeg-turbo. The error is its reason.
fn turbo(bytes: &[u8], header: &Header, at_least: PixelSize) -> Result<WithWarning<Pixels>, String> {
    let (mut decompressor, found) = open(bytes, header, at_least)?;
    let (format, layout) = match found.colorspace {
        Colorspace::Gray => (PixelFormat::GRAY, Layout::Gray),
        Colorspace::RGB | Colorspace::YCbCr => (PixelFormat::RGB, Layout::Rgb),
        Colorspace::CMYK | Colorspace::YCCK => {
            (PixelFormat::CMYK, Layout::Cmyk { inverted: header.inverted_cmyk })
        }
    };
    let size = pixel_size(found.width, found.height).ok_or("the picture has no size")?;
    let mut pixels = zeroed(size, format.size()).map_err(|error| error.to_string())?;
    let target = turbojpeg::Image {
        pixels: pixels.as_mut_slice(),
        width: found.width,
        pitch: found.width * format.size(),
        height: found.height,
        format,
    };
    let warning = warning(decompressor.decompress(bytes, target))?;
    Ok((Pixels { size, layout, bytes: pixels }, warning))
}

fn turbo_planes(bytes: &[u8], header: &Header, at_least: PixelSize) -> Option<WithWarning<Planes>> {
    let (mut decompressor, found) = open(bytes, header, at_least).ok()?;
    let size = pixel_size(found.width, found.height)?;
    // Planes with odd sides would have padding.
    if found.colorspace != Colorspace::YCbCr || found.width % 2 != 0 || found.height % 2 != 0 {
        return None;
    }
    let chroma = match found.subsamp {
        Subsamp::None => size,
        Subsamp::Sub2x1 => PixelSize { width: size.width / 2, ..size },
        Subsamp::Sub2x2 => PixelSize { width: size.width / 2, height: size.height / 2 },
        _ => return None,
    };
    let samples = |size: PixelSize| usize::try_from(size.area()).ok();
    let (luma_samples, chroma_samples) = (samples(size)?, samples(chroma)?);
    let mut samples = vec![0; luma_samples + 2 * chroma_samples];
    let target = turbojpeg::YuvImage {
        pixels: samples.as_mut_slice(),
        width: found.width,
        align: 1,
        height: found.height,
        subsamp: found.subsamp,
    };
    let warning = warning(decompressor.decompress_to_yuv(bytes, target)).ok()?;
    let plane = |size, bytes| Pixels { size, layout: Layout::Gray, bytes };
    let mut split_off = |at| {
        let plane = samples.split_off(at);
        samples.shrink_to_fit();
        plane
    };
    let cr = split_off(luma_samples + chroma_samples);
    let cb = split_off(luma_samples);
    Some((Planes { y: plane(size, samples), cb: plane(chroma, cb), cr: plane(chroma, cr) }, warning))
}

/// A decompressor for the smallest sufficient scale, and the file's header with the scaled size.
fn open(
    bytes: &[u8],
    header: &Header,
    at_least: PixelSize,
) -> Result<(Decompressor, DecompressHeader), String> {
    let mut decompressor = Decompressor::new().map_err(|error| error.to_string())?;
    decompressor.set_scan_limit(MAX_SCANS).map_err(|error| error.to_string())?;
    let found = decompressor.read_header(bytes).map_err(|error| reason(&error))?;
    let size = pixel_size(found.width, found.height);
    if size != Some(header.size) {
        return Err(SIZE_MISMATCH.into());
    }
    let scale = if found.is_lossless { ScalingFactor::ONE } else { scale_for(header.size, at_least) };
    decompressor.set_scaling_factor(scale).map_err(|error| error.to_string())?;
    Ok((decompressor, found.scaled(scale)))
}

/// The warning of a decompressor that has filled all pixels.
fn warning(outcome: turbojpeg::Result<()>) -> Result<Option<String>, String> {
    match outcome.map_err(|error| reason(&error)) {
        Ok(()) => Ok(None),
        Err(reason) if WARNINGS.iter().any(|warning| reason.starts_with(warning)) => Ok(Some(reason)),
        Err(reason) => Err(reason),
    }
}

fn reason(error: &turbojpeg::Error) -> String {
    match error {
        turbojpeg::Error::TurboJpegError(text) => text.clone(),
        error => error.to_string(),
    }
}

fn pixel_size(width: usize, height: usize) -> Option<PixelSize> {
    let size = PixelSize { width: u32::try_from(width).ok()?, height: u32::try_from(height).ok()? };
    (size.width > 0 && size.height > 0).then_some(size)
}

/// The smallest scale at which both sides are at least as long as in `at_least`.
fn scale_for(size: PixelSize, at_least: PixelSize) -> ScalingFactor {
    let suffices = |scale: &ScalingFactor| {
        let side = |stored: u32, wanted: u32| {
            usize::try_from(stored)
                .is_ok_and(|stored| u32::try_from(scale.scale(stored)).is_ok_and(|s| s >= wanted))
        };
        side(size.width, at_least.width) && side(size.height, at_least.height)
    };
    SCALES.into_iter().find(suffices).unwrap_or(ScalingFactor::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_sufficient_scale() {
        let check = |size: (u32, u32), at_least: (u32, u32), expect| {
            let size = PixelSize { width: size.0, height: size.1 };
            let at_least = PixelSize { width: at_least.0, height: at_least.1 };
            assert_eq!(scale_for(size, at_least), expect, "{size:?} {at_least:?}");
        };
        check((4000, 3000), (1200, 900), ScalingFactor::ONE_HALF);
        check((4800, 3600), (1200, 900), ScalingFactor::ONE_QUARTER);
        check((4796, 3597), (1200, 900), ScalingFactor::ONE_HALF);
        check((9600, 7200), (1200, 900), ScalingFactor::ONE_EIGHTH);
        check((96_000, 72_000), (1200, 900), ScalingFactor::ONE_EIGHTH);
        check((1300, 900), (1200, 831), ScalingFactor::ONE);
        check((300, 200), (300, 200), ScalingFactor::ONE);
    }
}
