//! From the colours of a file to those of a rendition, which are sRGB (IEC 61966-2-1), 8 bits each.
//!
//! Profiles are followed as image servers do: by their perceptual table where they have one, with its black moved to
//! that of sRGB, else by their primaries and curves, which is relative colorimetry and has a black of none. ColourSpace
//! outside of sRGB are clipped channel by channel.
//!
//! A profile that cannot be read, or that is one for other pixels, is left out of account and said so: a picture whose
//! colours are a little off is worth more than none.

mod cache;
mod cicp;
mod grid;
mod hdr;
mod icc;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use moxcms::{ColorProfile, Transform8BitExecutor};

use self::hdr::ToneMap;
use self::table::Table;
use crate::container::Colour;
use crate::render::{Layout, Pixels};

/// Pixels that are converted at a time: no second picture has to be kept, and both copies stay in the processor's cache.
const CHUNK_PIXELS: usize = 4096;

/// The most by which a conversion may change a channel, in steps of 0 to 255, for the colours to be taken as sRGB. The
/// many profiles of that name differ so much by their rounding.
const MAX_IDENTITY_DIFFERENCE: u8 = 2;

/// Why colours are taken as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProfileError {
    /// What describes them is none of the descriptions that pictures have.
    Unreadable,
    /// It describes other pixels, for example ink where there is light.
    Unfit,
}

impl ProfileError {
    /// In words that a photo's owner can read.
    pub(crate) const fn note(self) -> &'static str {
        match self {
            Self::Unreadable => "its colour profile is unreadable; its colours are taken as sRGB",
            Self::Unfit => "its colour profile is one for other pixels; its colours are taken as sRGB",
        }
    }
}

/// The picture in the colours of sRGB: RGB, or RGBA if it has an alpha channel.
pub(crate) fn to_srgb(pixels: Pixels, colour: Option<&Colour<'_>>) -> (Pixels, Option<ProfileError>) {
    let conversion = match colour {
        None => return (pixels.into_rgb(), None),
        Some(Colour::Icc(profile)) => cache::of_profile(profile),
        Some(Colour::Cicp { primaries, transfer }) => cache::of_code_points(*primaries, *transfer),
    };
    match conversion {
        Ok(conversion) => conversion.apply(pixels),
        Err(unconverted) => (pixels.into_rgb(), Some(unconverted)),
    }
}

/// A way to sRGB.
enum Conversion {
    /// From grey.
    Gray(Box<[u8; 256]>),
    /// From light in three colours.
    Rgb(RgbConversion),
    /// From ink.
    Cmyk(Box<Table>),
}

/// What is done to light in three colours.
enum RgbConversion {
    Identity,
    /// By primaries and curves.
    Transform(Arc<Transform8BitExecutor>),
    Table(Box<Table>),
    ToneMap(Box<ToneMap>),
}

impl Conversion {
    /// The nodes of its table, if it has one.
    fn nodes(&self) -> usize {
        match self {
            Self::Rgb(RgbConversion::Table(table)) | Self::Cmyk(table) => table.nodes(),
            _ => 0,
        }
    }

    fn apply(&self, mut pixels: Pixels) -> (Pixels, Option<ProfileError>) {
        match (self, pixels.layout) {
            (Self::Gray(table), Layout::Gray | Layout::GrayAlpha) => {
                (look_up(table, pixels).into_rgb(), None)
            }
            // Some formats have no grey and keep it in three channels.
            (Self::Gray(table), Layout::Rgb | Layout::Rgba) if pixels.is_neutral() => {
                (look_up(table, pixels), None)
            }
            (Self::Rgb(change), Layout::Gray | Layout::GrayAlpha | Layout::Rgb | Layout::Rgba) => {
                pixels = pixels.into_rgb();
                change.apply(&mut pixels);
                (pixels, None)
            }
            (Self::Cmyk(table), Layout::Cmyk { inverted }) => (cmyk_to_rgb(table, &pixels, inverted), None),
            _ => (pixels.into_rgb(), Some(ProfileError::Unfit)),
        }
    }
}

/// Every channel but alpha by a table.
fn look_up(table: &[u8; 256], mut pixels: Pixels) -> Pixels {
    let channels = pixels.layout.channels();
    let coloured = if pixels.layout.has_alpha() { channels - 1 } else { channels };
    for pixel in pixels.bytes.chunks_exact_mut(channels) {
        for value in pixel.iter_mut().take(coloured) {
            *value = table.get(usize::from(*value)).copied().unwrap_or(*value);
        }
    }
    pixels
}

impl RgbConversion {
    /// Changes RGB or RGBA; alpha is left as it is.
    fn apply(&self, pixels: &mut Pixels) {
        if matches!(self, Self::Identity) {
            return;
        }
        let (mut source, mut target) = (vec![0; 3 * CHUNK_PIXELS], vec![0; 3 * CHUNK_PIXELS]);
        let channels = pixels.layout.channels();
        for stretch in pixels.bytes.chunks_mut(channels * CHUNK_PIXELS) {
            let length = stretch.len() / channels * 3;
            let (Some(source), Some(target)) = (source.get_mut(..length), target.get_mut(..length)) else {
                continue;
            };
            if pixels.layout.has_alpha() {
                for (pixel, colour) in stretch.as_chunks::<4>().0.iter().zip(source.as_chunks_mut::<3>().0) {
                    let [r, g, b, _] = *pixel;
                    *colour = [r, g, b];
                }
                self.convert(source, target);
                for (pixel, colour) in
                    stretch.as_chunks_mut::<4>().0.iter_mut().zip(target.as_chunks::<3>().0)
                {
                    let ([r, g, b], [.., alpha]) = (*colour, *pixel);
                    *pixel = [r, g, b, alpha];
                }
            } else if let Some(stretch) = stretch.get_mut(..length) {
                self.convert(stretch, target);
                stretch.copy_from_slice(target);
            }
        }
    }

    /// From RGB to as much RGB.
    fn convert(&self, source: &[u8], target: &mut [u8]) {
        match self {
            Self::Identity => target.copy_from_slice(source),
            Self::Transform(transform) => {
                // Fails only if the lengths do not fit each other.
                if transform.transform(source, target).is_err() {
                    target.copy_from_slice(source);
                }
            }
            Self::Table(table) => table.light(source, target),
            Self::ToneMap(tone_map) => tone_map.convert(source, target),
        }
    }

    /// Whether it changes so little that it need not be done: tried on colours all over the cube.
    fn is_identity(&self) -> bool {
        const STEPS: [u8; 9] = [0, 8, 32, 64, 96, 128, 176, 224, 255];
        let source: Vec<u8> = STEPS
            .iter()
            .flat_map(|r| STEPS.iter().flat_map(|g| STEPS.iter().flat_map(|b| [*r, *g, *b])))
            .collect();
        let mut target = vec![0; source.len()];
        self.convert(&source, &mut target);
        source.iter().zip(&target).all(|(before, after)| before.abs_diff(*after) <= MAX_IDENTITY_DIFFERENCE)
    }
}

/// CMYK to RGB. Profiles take ink; Adobe's programs store how much of it is missing.
fn cmyk_to_rgb(table: &Table, pixels: &Pixels, inverted: bool) -> Pixels {
    let mut ink = vec![0; 4 * CHUNK_PIXELS];
    let mut bytes = vec![0; pixels.bytes.len() / 4 * 3];
    for (stretch, target) in pixels.bytes.chunks(4 * CHUNK_PIXELS).zip(bytes.chunks_mut(3 * CHUNK_PIXELS)) {
        let Some(ink) = ink.get_mut(..target.len() / 3 * 4) else { continue };
        for (ink, stored) in ink.iter_mut().zip(stretch) {
            *ink = if inverted { 255 - stored } else { *stored };
        }
        table.ink(ink, target);
    }
    Pixels { size: pixels.size, layout: Layout::Rgb, bytes }
}

/// The white of the space that profiles connect to, as XYZ (ICC.1, 7.2.16).
const D50: [f32; 3] = [0.964_2, 1.0, 0.824_9];

/// From XYZ relative to [`D50`] to the light of sRGB's primaries.
fn light_of_xyz() -> [[f32; 3]; 3] {
    ColorProfile::new_srgb().colorant_matrix().inverse().to_f32().v
}

/// The light, 0 to 1, of CIE lightness, 0 to 1 too.
fn light_of_lightness(lightness: f32) -> f32 {
    light_of_root((lightness * 100.0 + 16.0) / 116.0)
}

/// The light, 0 to 1, of what CIELAB has for its cube root: below a hundredth that is a straight line.
fn light_of_root(root: f32) -> f32 {
    if root > 6.0 / 29.0 { root * root * root } else { (root - 4.0 / 29.0) * (108.0 / 841.0) }
}

/// The sRGB value, 0 to 255, of light, 0 to 1.
fn encode(light: f32) -> u8 {
    let value = if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates; rounded by the half"
    )]
    let byte = (value * 255.0 + 0.5) as u8;
    byte
}

/// [`encode`] by a table.
struct Encoder(Vec<u8>);

impl Encoder {
    /// Steps from black to white: fine enough for dark values, which are 1/3300 of white apart.
    const STEPS: u16 = 16_384;

    fn new() -> Self {
        Self((0..=Self::STEPS).map(|step| encode(f32::from(step) / f32::from(Self::STEPS))).collect())
    }

    fn of(&self, light: f32) -> u8 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates; rounded by the half"
        )]
        let step = (light * f32::from(Self::STEPS) + 0.5) as usize;
        self.0.get(step).copied().unwrap_or(u8::MAX)
    }
}
