//! HEIC and AVIF by the system's libheif, which also crops and turns them.

use domain::PixelSize;
use heif::{Codec, DecodeOptions, DecodedImage, Error, Libheif};

use super::Decoded;
use crate::MediaError;
use crate::container::Header;
use crate::container::bmff::{self, Coding};
use crate::decoders::{any_library, library};
use crate::render::{Layout, Pixels};

/// How far, in pixels, a side may be from the one that the header announced: releases of libheif round the edges of a
/// crop between pixels differently.
const MAX_ROUNDING: u32 = 1;

/// The reason why a file whose end is missing counts as damaged.
const CUT_OFF: &str = "it is cut off";

pub(super) fn decode(bytes: &[u8], header: &Header) -> Result<Decoded, MediaError> {
    let coding = bmff::coding(bytes);
    let library = library_for(coding)?;
    // Tiles may reach over the edges of the picture.
    let max_pixels = header.size.area().max(header.decoded_size.area());
    let missing = bmff::missing_tail(bytes);
    let padded = missing.filter(|missing| *missing > 0).map(|missing| padded(bytes, missing));
    let decoded = library.decode(padded.as_deref().unwrap_or(bytes), &DecodeOptions { max_pixels });
    drop(padded);
    let DecodedImage { width, height, format, bytes } =
        decoded.map_err(|error| refusal(&error, coding, bytes))?;
    let size = PixelSize { width, height };
    if !is_close(size, header.size) {
        return Err(MediaError::Corrupt("its headers disagree about its size".into()));
    }
    let layout = match format {
        heif::PixelFormat::Rgb => Layout::Rgb,
        heif::PixelFormat::Rgba => Layout::Rgba,
    };
    let damaged = missing.map(|_| CUT_OFF.to_owned());
    Ok(Decoded { pixels: Pixels { size, layout, bytes }, damaged })
}

/// The file with zeros for what is missing behind its picture: libheif refuses a file that lacks data of any item.
fn padded(bytes: &[u8], missing: usize) -> Vec<u8> {
    let mut padded = Vec::with_capacity(bytes.len().saturating_add(missing));
    padded.extend_from_slice(bytes);
    padded.resize(bytes.len().saturating_add(missing), 0);
    padded
}

/// What decodes that coding. Whether it knows one that is neither HEVC nor AV1 has to be tried.
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

fn refusal(error: &Error, coding: Coding, bytes: &[u8]) -> MediaError {
    match (error, coding) {
        (Error::NoMemory, _) => MediaError::Conversion("it does not fit into memory".into()),
        (Error::Damaged(_), _) if bmff::is_cut(bytes) => MediaError::Corrupt(CUT_OFF.into()),
        // What libheif knows besides HEVC and AV1 depends on its release.
        (Error::Damaged(_) | Error::Unsupported(_), Coding::Other) => MediaError::NoDecoder {
            format: "such HEIF",
            missing: "a libheif that knows how they are coded",
            install: "a newer libheif1",
        },
        (Error::Damaged(_) | Error::Unsupported(_) | Error::TooManyPixels, _) => {
            MediaError::Corrupt(error.to_string())
        }
    }
}
