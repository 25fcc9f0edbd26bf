//! From a file to its WebP renditions.

mod encode;
mod pixels;
mod plain;
mod turn;

use domain::{PixelSize, Rendition};

pub(crate) use self::pixels::{Layout, Pixels};
pub use self::plain::{RgbPicture, RgbPictures, decode_rgb};
use crate::colour::{self, Unconverted};
use crate::container::Colour;
use crate::decode::{Decoded, decode};
use crate::probe::{Inspected, Probe, inspect};
use crate::{Limits, MediaError, Orientation};

/// The renditions of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The size of the upright full rendition, whether or not it was asked for.
    pub full_size: PixelSize,
    /// What is wrong with the file, when only a part of the picture or not its colour profile could be read.
    pub damaged: Option<String>,
    /// What was asked for, in that order, each kind once.
    pub renditions: Vec<EncodedRendition>,
}

/// One rendition as a WebP file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRendition {
    /// Which one it is.
    pub rendition: Rendition,
    /// Its size.
    pub size: PixelSize,
    /// The file: pixels and nothing else, no EXIF, XMP or colour profile.
    pub webp: Vec<u8>,
}

/// Makes the renditions: upright, never larger than the original, in the colours of sRGB, encoded the same way every
/// time. Renditions of the same size are the same bytes, encoded once.
///
/// Everything is checked as in [`probe`](crate::probe()) before a pixel is decoded.
///
/// # Errors
/// Any [`MediaError`]. A file that is only damaged gives what can be read of it, and says so in
/// [`Rendered::damaged`].
pub fn render(bytes: &[u8], wanted: &[Rendition], limits: &Limits) -> Result<Rendered, MediaError> {
    let Inspected { probe, header, blocks } = inspect(bytes, limits)?;
    let full_size = probe.upright_size.fit_within(Rendition::Full.longest_side_px());
    let steps = steps(&probe, wanted.iter().map(|rendition| rendition.longest_side_px()));
    let Some(largest) = steps.first() else {
        return Ok(Rendered { full_size, damaged: None, renditions: Vec::new() });
    };
    let at_least = probe.orientation.apply(*largest);
    let Decoded { pixels, damaged } = decode(probe.format, bytes, &header, at_least)?;
    let (encoded, unconverted) =
        make_steps(pixels, blocks.colour.as_ref(), probe.orientation, &steps, encode::webp)?;
    let damaged = notes(damaged, unconverted);
    let renditions = wanted
        .iter()
        .enumerate()
        .filter(|(place, rendition)| !wanted.iter().take(*place).any(|before| before == *rendition))
        .filter_map(|(_, rendition)| {
            let size = rendition_size(&probe, *rendition);
            let (_, webp) = encoded.iter().find(|(step, _)| *step == size)?;
            Some(EncodedRendition { rendition: *rendition, size, webp: webp.clone() })
        })
        .collect();
    Ok(Rendered { full_size, damaged, renditions })
}

fn rendition_size(probe: &Probe, rendition: Rendition) -> PixelSize {
    probe.upright_size.fit_within(rendition.longest_side_px())
}

/// The upright sizes to be made, largest first, each once.
fn steps(probe: &Probe, longest_sides_px: impl IntoIterator<Item = u32>) -> Vec<PixelSize> {
    let size = |side| probe.upright_size.fit_within(side);
    let mut sizes: Vec<_> = longest_sides_px.into_iter().map(size).collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(size.longest()));
    sizes.dedup();
    sizes
}

/// All that is wrong with a file, in one text.
fn notes(damaged: Option<String>, unconverted: Option<Unconverted>) -> Option<String> {
    let notes: Vec<String> =
        damaged.into_iter().chain(unconverted.map(|reason| reason.note().to_owned())).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Sizes with what was made of them, and why their colours are not converted when they are not.
type Made<T> = (Vec<(PixelSize, T)>, Option<Unconverted>);

/// Makes each size from the one before, and something of it. Colours are converted and the picture turned once: after
/// the first resize, when there is least of it.
fn make_steps<T>(
    mut pixels: Pixels,
    colour: Option<&Colour<'_>>,
    orientation: Orientation,
    steps: &[PixelSize],
    make: impl Fn(&Pixels) -> Result<T, MediaError>,
) -> Result<Made<T>, MediaError> {
    let mut made = Vec::with_capacity(steps.len());
    let mut unconverted = None;
    for (place, size) in steps.iter().enumerate() {
        if place == 0 {
            pixels = pixels.resize(orientation.apply(*size))?;
            (pixels, unconverted) = colour::to_srgb(pixels, colour);
            pixels = turn::turn(pixels, orientation);
        } else {
            pixels = pixels.resize(*size)?;
        }
        made.push((*size, make(&pixels)?));
    }
    Ok((made, unconverted))
}

#[cfg(test)]
mod tests;
