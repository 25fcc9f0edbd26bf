//! Decodes HEIC and AVIF with the system's libheif, which also crops and rotates them.

use domain::PixelSize;
use heif::{Codec, DecodeOptions, DecodedImage, Error, Libheif};

use super::Decoded;
use crate::MediaError;
use crate::container::Header;
use crate::container::bmff::{Coding, HeifImage, with_needed_references};
use crate::decoders::{CURRENT, any_library, is_outdated, library};
use crate::error::CUT_OFF;
use crate::pixels::{Layout, Pixels};

/// Maximum difference of a side from the declared one, in pixels: releases of libheif round the edges of a crop
/// differently.
const MAX_ROUNDING: u32 = 1;

pub(super) fn decode(bytes: &[u8], file: HeifImage, header: &Header) -> Result<Decoded, MediaError> {
    let library = library_for(file.coding)?;
    // Tiles may extend over the edges of the picture, so the decoded size may be larger.
    let max_pixels = header.size.area().max(header.decoded_size.area());
    let padded = file.missing_tail.filter(|missing| *missing > 0).map(|missing| padded(bytes, missing));
    let decoded = read(library, padded.as_deref().unwrap_or(bytes), &DecodeOptions { max_pixels });
    drop(padded);
    let DecodedImage { width, height, format, bytes } =
        decoded.map_err(|error| refusal(&error, file, library))?;
    let size = PixelSize { width, height };
    if !is_close(size, header.size) {
        return Err(MediaError::size_mismatch());
    }
    let layout = match format {
        heif::PixelFormat::Rgb => Layout::Rgb,
        heif::PixelFormat::Rgba => Layout::Rgba,
    };
    let damaged = file.missing_tail.map(|_| CUT_OFF.to_owned());
    Ok(Decoded { pixels: Pixels { size, layout, bytes }, damaged })
}

/// Decodes a file. If libheif refuses the file, its references may be the reason, so decoding is tried again without
/// them. References are removed only then, because every release accepts most files unchanged.
fn read(library: &Libheif, file: &[u8], options: &DecodeOptions) -> Result<DecodedImage, Error> {
    let decoded = library.decode(file, options);
    match &decoded {
        Err(Error::Damaged(_) | Error::Unsupported(_)) => match with_needed_references(file) {
            Some(simplified) => library.decode(&simplified, options),
            None => decoded,
        },
        _ => decoded,
    }
}

/// The file with zeros for the missing data: libheif refuses a file without the data of every item.
fn padded(bytes: &[u8], missing: usize) -> Vec<u8> {
    let mut padded = Vec::with_capacity(bytes.len().saturating_add(missing));
    padded.extend_from_slice(bytes);
    padded.resize(bytes.len().saturating_add(missing), 0);
    padded
}

/// libheif with a decoder for the codec. Only HEVC and AV1 are checked, because libheif does not report other codecs.
fn library_for(coding: Coding) -> Result<&'static Libheif, MediaError> {
    match coding {
        Coding::Hevc => library(Codec::Hevc),
        Coding::Av1 => library(Codec::Av1),
        Coding::Other => any_library(),
    }
}

fn is_close(size: PixelSize, expected: PixelSize) -> bool {
    size.width.abs_diff(expected.width) <= MAX_ROUNDING
        && size.height.abs_diff(expected.height) <= MAX_ROUNDING
}

fn refusal(error: &Error, file: HeifImage, library: &Libheif) -> MediaError {
    match (error, file.coding) {
        (Error::NoMemory, _) => MediaError::out_of_memory(),
        (Error::Damaged(_), _) if file.is_cut => MediaError::Corrupt(CUT_OFF.into()),
        // Support for other codecs depends on the release of libheif.
        (Error::Damaged(_) | Error::Unsupported(_), Coding::Other) => MediaError::NoDecoder {
            format: "these HEIF",
            missing: "a libheif with their codec",
            install: "a newer libheif1",
        },
        (Error::Damaged(_) | Error::Unsupported(_), _) if is_outdated(library) => {
            MediaError::Corrupt(format!(
                "{error}; libheif {} is installed, and {CURRENT} or later may read it",
                library.version()
            ))
        }
        (Error::Damaged(_) | Error::Unsupported(_) | Error::TooManyPixels, _) => {
            MediaError::Corrupt(error.to_string())
        }
    }
}
