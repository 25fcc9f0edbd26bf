//! From a file to its WebP renditions.

mod encode;
mod pixels;
mod turn;

use domain::{PixelSize, Rendition};

pub(crate) use self::pixels::{Layout, Pixels};
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
    let steps = steps(&probe, wanted);
    let Some(largest) = steps.first() else {
        return Ok(Rendered { full_size, damaged: None, renditions: Vec::new() });
    };
    let at_least = probe.orientation.apply(*largest);
    let Decoded { pixels, damaged } = decode(probe.format, bytes, &header, at_least)?;
    let (encoded, unconverted) = encode_steps(pixels, blocks.colour.as_ref(), probe.orientation, &steps)?;
    let notes: Vec<String> =
        damaged.into_iter().chain(unconverted.map(|reason| reason.note().to_owned())).collect();
    let damaged = (!notes.is_empty()).then(|| notes.join("; "));
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
fn steps(probe: &Probe, wanted: &[Rendition]) -> Vec<PixelSize> {
    let mut sizes: Vec<_> = wanted.iter().map(|rendition| rendition_size(probe, *rendition)).collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(size.longest()));
    sizes.dedup();
    sizes
}

/// Sizes with their WebP files, and why their colours are not converted when they are not.
type Encoded = (Vec<(PixelSize, Vec<u8>)>, Option<Unconverted>);

/// Makes each size from the one before. Colours are converted and the picture turned once: after the first resize,
/// when there is least of it.
fn encode_steps(
    mut pixels: Pixels,
    colour: Option<&Colour<'_>>,
    orientation: Orientation,
    steps: &[PixelSize],
) -> Result<Encoded, MediaError> {
    let mut encoded = Vec::with_capacity(steps.len());
    let mut unconverted = None;
    for (place, size) in steps.iter().enumerate() {
        if place == 0 {
            pixels = pixels.resize(orientation.apply(*size))?;
            (pixels, unconverted) = colour::to_srgb(pixels, colour);
            pixels = turn::turn(pixels, orientation);
        } else {
            pixels = pixels.resize(*size)?;
        }
        encoded.push((*size, encode::webp(&pixels)?));
    }
    Ok((encoded, unconverted))
}

#[cfg(test)]
mod tests;
