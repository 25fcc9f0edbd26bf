//! From a file to its WebP renditions.

mod encode;
mod pixels;
mod turn;

use domain::{PixelSize, Rendition};

pub(crate) use self::pixels::{Layout, Pixels};
use crate::decode::{Decoded, decode};
use crate::probe::{Probe, inspect};
use crate::{Limits, MediaError, Orientation};

/// The renditions of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The size of the upright full rendition, whether or not it was asked for.
    pub full_size: PixelSize,
    /// What is wrong with the file, when only a part of the picture could be read.
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

/// Makes the renditions: upright, never larger than the original, encoded the same way every time. Renditions of
/// the same size are the same bytes, encoded once.
///
/// Everything is checked as in [`probe`](crate::probe()) before a pixel is decoded.
///
/// # Errors
/// Any [`MediaError`]. A file that is only damaged gives what can be read of it, and says so in
/// [`Rendered::damaged`].
pub fn render(bytes: &[u8], wanted: &[Rendition], limits: &Limits) -> Result<Rendered, MediaError> {
    let (probe, header) = inspect(bytes, limits)?;
    let full_size = probe.upright_size.fit_within(Rendition::Full.longest_side_px());
    let steps = steps(&probe, wanted);
    let Some(largest) = steps.first() else {
        return Ok(Rendered { full_size, damaged: None, renditions: Vec::new() });
    };
    let at_least = probe.orientation.apply(*largest);
    let Decoded { pixels, damaged } = decode(probe.format, bytes, &header, at_least)?;
    let encoded = encode_steps(pixels, probe.orientation, &steps)?;
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

/// Makes each size from the one before, turning once: after the first resize, when there is least to turn.
fn encode_steps(
    mut pixels: Pixels,
    mut orientation: Orientation,
    steps: &[PixelSize],
) -> Result<Vec<(PixelSize, Vec<u8>)>, MediaError> {
    let mut encoded = Vec::with_capacity(steps.len());
    for size in steps {
        pixels = pixels.resize(orientation.apply(*size))?.into_rgb();
        pixels = turn::turn(pixels, orientation);
        orientation = Orientation::Upright;
        encoded.push((*size, encode::webp(&pixels)?));
    }
    Ok(encoded)
}

#[cfg(test)]
mod tests;
