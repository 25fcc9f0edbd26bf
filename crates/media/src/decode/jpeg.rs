//! Decodes JPEG with libjpeg-turbo, at full size or an eighth, a quarter or half of it. Files that it refuses are repaired
//! as far as possible and decoded again.

use domain::PixelSize;
use turbojpeg::{Colorspace, DecompressHeader, Decompressor, PixelFormat, ScalingFactor, Subsamp};

use super::{Decoded, salvage};
use crate::MediaError;
use crate::container::jpeg::{Repaired, repaired};
use crate::container::{Header, MAX_SCANS};
use crate::error::SIZE_MISMATCH;
use crate::format::jpeg_start;
use crate::pixels::{Layout, Pixels, Planes, Raster, zeroed};

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

/// Maximum number of attempts to find the last readable scan.
const MAX_ATTEMPTS: usize = 6;

pub(super) fn decode(bytes: &[u8], header: &Header, at_least: PixelSize) -> Result<Decoded, MediaError> {
    let bytes = jpeg_start(bytes);
    match turbo(bytes, header, at_least) {
        Ok(decoded) => keep(decoded, bytes, |file| turbo(file, header, at_least).ok()),
        Err(Refusal { reason, rows }) => {
            drop(rows);
            let decoded = repair(&repaired(bytes), header, at_least)?;
            Ok(Decoded { damaged: Some(reason), ..decoded })
        }
    }
}

/// Decodes a repaired file: the whole file, else the rows before an error, else the scans before an error.
fn repair(repaired: &Repaired, header: &Header, at_least: PixelSize) -> Result<Decoded, MediaError> {
    let Repaired { file, scan_ends } = repaired;
    let Refusal { reason, rows } = match turbo(file, header, at_least) {
        // A repaired file has an end, so `keep` need not add one.
        Ok(decoded) => return keep(decoded, file, |_| None),
        Err(refusal) => refusal,
    };
    let corrupt = || MediaError::Corrupt(reason.clone());
    // The decoder gives no rows if it needs all scans for them. This is tried in any case, because the number of scans in the
    // header of a damaged file may be too low.
    if let Some(Ok(decoded)) = rows.map(|rows| salvage(rows, reason.clone())) {
        return Ok(decoded);
    }
    let until = |end: usize| file.get(..end).map(|file| turbo(file, header, at_least));
    let (mut readable, mut unreadable) = (None, scan_ends.as_slice());
    for _ in 0..MAX_ATTEMPTS {
        let Some(middle) = unreadable.get(unreadable.len() / 2) else { break };
        let (before, after) = unreadable.split_at(unreadable.len() / 2);
        if matches!(until(*middle), Some(Ok(_))) {
            readable = Some(*middle);
            unreadable = after.get(1..).unwrap_or_default();
        } else {
            unreadable = before;
        }
    }
    match readable.and_then(until) {
        Some(Ok((pixels, _))) => salvage(pixels, reason),
        _ => Err(corrupt()),
    }
}

/// Decodes the planes of YCbCr without converting them to RGB. `None` if libjpeg-turbo refuses the file, or if the scaled
/// planes have odd sides.
pub(super) fn decode_planes(
    bytes: &[u8],
    header: &Header,
    at_least: PixelSize,
) -> Option<Result<Decoded<Planes>, MediaError>> {
    let bytes = jpeg_start(bytes);
    let decoded = turbo_planes(bytes, header, at_least)?;
    Some(keep(decoded, bytes, |file| turbo_planes(file, header, at_least)))
}

/// Keeps the picture, also after a warning. If data are missing and all pixels have the same colour, the picture is kept only if
/// the file decodes without a warning after an end marker is added.
fn keep<P: Raster>(
    (pixels, warning): WithWarning<P>,
    file: &[u8],
    decode: impl FnOnce(&[u8]) -> Option<WithWarning<P>>,
) -> Result<Decoded<P>, MediaError> {
    match warning {
        Some(warning) if warning.contains(MISSING_DATA) => {
            salvage(pixels, warning.clone()).or_else(|refused| match decode(&[file, b"\xFF\xD9"].concat()) {
                Some((pixels, None)) => Ok(Decoded { pixels, damaged: Some(warning) }),
                _ => Err(refused),
            })
        }
        damaged => Ok(Decoded { pixels, damaged }),
    }
}

/// A picture, and libjpeg-turbo's warning about it.
type WithWarning<P> = (P, Option<String>);

/// Why libjpeg-turbo stopped.
struct Refusal {
    reason: String,
    /// The picture with the rows before the error.
    rows: Option<Pixels>,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self { reason, rows: None }
    }
}

/// Decodes with libjpeg-turbo.
fn turbo(bytes: &[u8], header: &Header, at_least: PixelSize) -> Result<WithWarning<Pixels>, Refusal> {
    let (mut decompressor, found) = open(bytes, header, at_least)?;
    let (format, layout) = match found.colorspace {
        Colorspace::Gray => (PixelFormat::GRAY, Layout::Gray),
        Colorspace::RGB | Colorspace::YCbCr => (PixelFormat::RGB, Layout::Rgb),
        Colorspace::CMYK | Colorspace::YCCK => {
            (PixelFormat::CMYK, Layout::Cmyk { inverted: header.inverted_cmyk })
        }
    };
    let size = pixel_size(found.width, found.height).ok_or_else(|| "the picture has no size".to_owned())?;
    let mut pixels = zeroed(size, format.size()).map_err(|error| error.to_string())?;
    let target = turbojpeg::Image {
        pixels: pixels.as_mut_slice(),
        width: found.width,
        pitch: found.width * format.size(),
        height: found.height,
        format,
    };
    let outcome = warning(decompressor.decompress(bytes, target));
    let pixels = Pixels { size, layout, bytes: pixels };
    match outcome {
        Ok(warning) => Ok((pixels, warning)),
        Err(reason) => Err(Refusal { reason, rows: Some(pixels) }),
    }
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

/// A decompressor for the smallest sufficient scale, and the file's header with the scaled size. The binding reports
/// warnings about the header as errors.
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
    use crate::container::jpeg::header;

    #[test]
    fn smallest_sufficient_scale_is_chosen() {
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

    const FILES: [(&str, &[u8]); 5] = [
        ("grey", include_bytes!("../../../../fixtures/media/grey.jpg")),
        ("CMYK", include_bytes!("../../../../fixtures/media/cmyk.jpg")),
        ("progressive", PROGRESSIVE),
        ("arithmetic", include_bytes!("../../../../fixtures/uncommon/arithmetic.jpg")),
        ("several scans", include_bytes!("../../../../fixtures/uncommon/noninterleaved.jpg")),
    ];
    const PROGRESSIVE: &[u8] = include_bytes!("../../../../fixtures/media/progressive.jpg");

    fn decoded(file: &[u8]) -> Result<Decoded, MediaError> {
        let header = header(file)?;
        decode(file, &header, header.size)
    }

    /// The starts of the segments, up to the first scan.
    fn segments(file: &[u8]) -> Vec<usize> {
        let mut starts = vec![2];
        while let Some(at) = starts.last().copied().filter(|at| file[at + 1] != 0xDA) {
            starts.push(at + 2 + usize::from(u16::from_be_bytes([file[at + 2], file[at + 3]])));
        }
        starts
    }

    #[test]
    fn bytes_between_segments_change_no_pixel() {
        for (name, file) in FILES {
            let whole = decoded(file).unwrap();
            assert_eq!(whole.damaged, None, "{name}");
            for at in segments(file) {
                for stray in
                    [&b"\0\x12\x34"[..], b"\xFF\xD8", b"\xFF\x02\0\x04ab", b"\xFF\xF0\0\x02", b"\xFF\0"]
                {
                    let broken = [&file[..at], stray, &file[at..]].concat();
                    let read =
                        decoded(&broken).unwrap_or_else(|error| panic!("{name} {at} {stray:?}: {error}"));
                    assert!(read.damaged.is_some(), "{name} {at} {stray:?}");
                    assert!(read.pixels == whole.pixels, "{name} {at} {stray:?}");
                }
            }
            for (head, tail) in [(&b"\n"[..], &b""[..]), (b"\r\n", b"\r\n"), (b"", &[0; 900])] {
                let read = decoded(&[head, file, tail].concat()).unwrap();
                assert_eq!((read.damaged, read.pixels == whole.pixels), (None, true), "{name} {head:?}");
            }
        }
    }

    #[test]
    fn repaired_file_is_the_same_picture() {
        for (name, file) in FILES {
            let repaired = repaired(file);
            let read = decoded(&repaired.file).unwrap();
            assert_eq!((read.damaged, read.pixels == decoded(file).unwrap().pixels), (None, true), "{name}");
            assert_eq!(repaired.scan_ends.last(), Some(&(repaired.file.len() - 2)), "{name}");
        }
    }

    #[test]
    fn unknown_colour_segments_are_warnings() {
        let (_, cmyk) = FILES[1];
        let whole = decoded(cmyk).unwrap();
        let mut broken = cmyk.to_vec();
        let adobe = cmyk.windows(5).position(|bytes| bytes == b"Adobe").unwrap();
        assert_eq!(broken[adobe + 11], 2);
        broken[adobe + 11] = 9;
        let read = decoded(&broken).unwrap();
        assert_eq!((read.damaged.is_some(), read.pixels == whole.pixels), (true, true));

        let (_, grey) = FILES[0];
        let mut broken = grey.to_vec();
        let jfif = grey.windows(5).position(|bytes| bytes == b"JFIF\0").unwrap();
        broken[jfif + 5] = 7;
        let read = decoded(&broken).unwrap();
        assert_eq!((read.damaged.is_some(), read.pixels == decoded(grey).unwrap().pixels), (true, true));
    }

    #[test]
    fn broken_data_lose_only_what_follows() {
        let (_, grey) = FILES[0];
        let whole = decoded(grey).unwrap().pixels;
        let middle = grey.len() / 2;
        let row = usize::try_from(whole.size.width).unwrap();
        for marker in [0x02, 0x5A, 0xF5, 0xD9, 0xD8] {
            let mut broken = grey.to_vec();
            broken[middle..middle + 2].copy_from_slice(&[0xFF, marker]);
            let read = decoded(&broken).unwrap_or_else(|error| panic!("{marker:X}: {error}"));
            assert!(read.damaged.is_some(), "{marker:X}");
            assert!(read.pixels.bytes[..row * 8] == whole.bytes[..row * 8], "{marker:X}");
        }
        for kept in [middle, grey.len() - 2] {
            let read = decoded(&grey[..kept]).unwrap();
            assert!(
                read.damaged.is_some() && read.pixels.bytes[..row * 8] == whole.bytes[..row * 8],
                "{kept}"
            );
        }
    }

    #[test]
    fn picture_of_one_colour_without_its_end_is_kept() {
        let pixels = [90, 120, 200].repeat(64 * 64);
        let image = turbojpeg::Image {
            pixels: pixels.as_slice(),
            width: 64,
            pitch: 3 * 64,
            height: 64,
            format: PixelFormat::RGB,
        };
        let file = turbojpeg::compress(image, 90, Subsamp::None).unwrap().to_vec();
        let header = header(&file).unwrap();
        let whole = decoded(&file).unwrap();
        let planes = |file: &[u8]| decode_planes(file, &header, header.size).unwrap();
        assert_eq!((whole.damaged, planes(&file).unwrap().damaged), (None, None));
        for missing in [1, 2] {
            let read = decoded(&file[..file.len() - missing]).unwrap();
            assert_eq!((read.damaged.is_some(), read.pixels == whole.pixels), (true, true), "{missing}");
            assert!(planes(&file[..file.len() - missing]).unwrap().damaged.is_some(), "{missing}");
        }
        // Without its data, the picture may also have one colour.
        let warned = || (whole.pixels.clone(), Some("Premature end of JPEG file".to_owned()));
        assert!(keep(warned(), &file, |_| Some((whole.pixels.clone(), None))).is_ok());
        assert!(keep(warned(), &file, |_| Some(warned())).is_err());
        assert!(keep(warned(), &file, |_| None).is_err());
    }

    /// The number of scans cannot be counted after an unknown marker in the first of them.
    #[test]
    fn scans_are_kept_also_if_their_number_is_unknown() {
        let repaired = repaired(PROGRESSIVE);
        let [first, .., broken, _] = repaired.scan_ends.as_slice() else { panic!("too few scans") };
        let mut file = repaired.file.clone();
        file[broken + 4..broken + 6].fill(0xEE);
        file.splice(first - 9..first - 9, *b"\xFF\x02\xFF\xFF");
        assert_eq!(header(&file).unwrap().scans, 1);
        assert!(decoded(&file).unwrap().damaged.is_some());
    }

    #[test]
    fn scans_before_a_broken_one_are_kept() {
        let whole = decoded(PROGRESSIVE).unwrap().pixels;
        let repaired = repaired(PROGRESSIVE);
        assert!(repaired.scan_ends.len() > 5);
        for end in &repaired.scan_ends[..repaired.scan_ends.len() - 1] {
            // The next segment is a table, or a scan, whose component gets an impossible number.
            let mut broken = repaired.file.clone();
            broken[end + 4..end + 6].fill(0xEE);
            let read = decoded(&broken).unwrap_or_else(|error| panic!("{end}: {error}"));
            assert!(read.damaged.is_some(), "{end}");
            let difference: u64 =
                read.pixels.bytes.iter().zip(&whole.bytes).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
            assert!(difference / u64::try_from(whole.bytes.len()).unwrap() < 60, "{end}: {difference}");
        }
    }
}
