//! Converts the colours of a file to sRGB (IEC 61966-2-1) with 8 bits a channel.
//!
//! A profile with a perceptual table is applied with black point compensation. Other profiles are applied by their
//! primaries and curves (relative colorimetric, without black point compensation). Colours outside of sRGB are clipped
//! channel by channel.
//!
//! A profile that is unreadable or does not fit the pixels is ignored and reported: a picture with slightly wrong colours
//! is better than none.

mod cache;
mod cicp;
mod grid;
mod hdr;
mod icc;
mod measured;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use moxcms::{ColorProfile, Transform8BitExecutor};

use self::hdr::ToneMap;
use self::table::Table;
use crate::container::Colour;
use crate::pixels::{Layout, Pixels};

/// Number of pixels converted at a time. Both copies fit into the processor's cache.
const CHUNK_PIXELS: usize = 4096;

/// A conversion that changes no channel by more than this counts as the identity. The many sRGB profiles differ by that
/// much because of rounding.
const MAX_IDENTITY_DIFFERENCE: u8 = 2;

/// Why colours are not converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProfileError {
    /// The profile or code points are invalid.
    Unreadable,
    /// The profile is for another kind of pixels, for example CMYK for an RGB picture.
    Unfit,
}

impl ProfileError {
    /// The message for the photo's owner.
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Self::Unreadable => "the colour profile is unreadable; the colours are treated as sRGB",
            Self::Unfit => "the colour profile does not fit the pixels; the colours are treated as sRGB",
        }
    }
}

/// Whether the RGB pixels of a picture need no conversion.
pub(crate) fn is_srgb(colour: Option<&Colour<'_>>) -> bool {
    let Some(colour) = colour else { return true };
    matches!(conversion(colour).as_deref(), Ok(Conversion::Rgb(RgbConversion::Identity)))
}

fn conversion(colour: &Colour<'_>) -> Result<Arc<Conversion>, ProfileError> {
    match colour {
        Colour::Icc(profile) => cache::of_profile(profile),
        Colour::Cicp { primaries, transfer } => cache::of_code_points(*primaries, *transfer),
        Colour::Measured(colours) => cache::of_measured(*colours),
    }
}

/// Converts the picture to sRGB: RGB, or RGBA if it has an alpha channel.
pub(crate) fn to_srgb(pixels: Pixels, colour: Option<&Colour<'_>>) -> (Pixels, Option<ProfileError>) {
    let Some(colour) = colour else { return (pixels.into_rgb(), None) };
    match conversion(colour) {
        Ok(conversion) => conversion.apply(pixels),
        Err(unconverted) => (pixels.into_rgb(), Some(unconverted)),
    }
}

enum Conversion {
    /// From grey, by a table.
    Gray(Box<[u8; 256]>),
    /// From grey or RGB with the primaries of sRGB, by a table for each channel.
    Curve(Box<[u8; 256]>),
    Rgb(RgbConversion),
    Cmyk(Box<Table>),
}

enum RgbConversion {
    Identity,
    /// Primaries and curves.
    Transform(Arc<Transform8BitExecutor>),
    Table(Box<Table>),
    ToneMap(Box<ToneMap>),
}

impl Conversion {
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
            // Some formats have no grey and store it as RGB.
            (Self::Gray(table), Layout::Rgb | Layout::Rgba) if pixels.is_neutral() => {
                (look_up(table, pixels), None)
            }
            (Self::Curve(table), Layout::Gray | Layout::GrayAlpha | Layout::Rgb | Layout::Rgba) => {
                (look_up(table, pixels).into_rgb(), None)
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

/// Maps every channel except alpha through a table.
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
    /// Converts RGB or RGBA in place; alpha does not change.
    fn apply(&self, pixels: &mut Pixels) {
        if matches!(self, Self::Identity) {
            return;
        }
        let (mut source, mut target) = (vec![0; 3 * CHUNK_PIXELS], vec![0; 3 * CHUNK_PIXELS]);
        let channels = pixels.layout.channels();
        for chunk in pixels.bytes.chunks_mut(channels * CHUNK_PIXELS) {
            let length = chunk.len() / channels * 3;
            let (Some(source), Some(target)) = (source.get_mut(..length), target.get_mut(..length)) else {
                continue;
            };
            if pixels.layout.has_alpha() {
                for (pixel, colour) in chunk.as_chunks::<4>().0.iter().zip(source.as_chunks_mut::<3>().0) {
                    let [r, g, b, _] = *pixel;
                    *colour = [r, g, b];
                }
                self.convert(source, target);
                for (pixel, colour) in chunk.as_chunks_mut::<4>().0.iter_mut().zip(target.as_chunks::<3>().0)
                {
                    let ([r, g, b], [.., alpha]) = (*colour, *pixel);
                    *pixel = [r, g, b, alpha];
                }
            } else if let Some(chunk) = chunk.get_mut(..length) {
                self.convert(chunk, target);
                chunk.copy_from_slice(target);
            }
        }
    }

    /// Converts RGB pixels; both slices have the same length.
    fn convert(&self, source: &[u8], target: &mut [u8]) {
        match self {
            Self::Identity => target.copy_from_slice(source),
            Self::Transform(transform) => {
                // Fails only if the lengths differ.
                if transform.transform(source, target).is_err() {
                    target.copy_from_slice(source);
                }
            }
            Self::Table(table) => table.convert_rgb(source, target),
            Self::ToneMap(tone_map) => tone_map.convert(source, target),
        }
    }

    /// Whether it hardly changes colours, tested on a grid of colours.
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

/// Converts CMYK to RGB. Profiles expect amounts of ink; Adobe programs store the inverse.
fn cmyk_to_rgb(table: &Table, pixels: &Pixels, inverted: bool) -> Pixels {
    let mut ink = vec![0; 4 * CHUNK_PIXELS];
    let mut bytes = vec![0; pixels.bytes.len() / 4 * 3];
    for (chunk, target) in pixels.bytes.chunks(4 * CHUNK_PIXELS).zip(bytes.chunks_mut(3 * CHUNK_PIXELS)) {
        let Some(ink) = ink.get_mut(..target.len() / 3 * 4) else { continue };
        for (ink, stored) in ink.iter_mut().zip(chunk) {
            *ink = if inverted { 255 - stored } else { *stored };
        }
        table.convert_cmyk(ink, target);
    }
    Pixels { size: pixels.size, layout: Layout::Rgb, bytes }
}

/// The white point of the profile connection space, as XYZ (ICC.1, 7.2.16).
const D50: [f32; 3] = [0.964_2, 1.0, 0.824_9];

/// The matrix from XYZ relative to [`D50`] to linear sRGB.
fn light_of_xyz() -> [[f32; 3]; 3] {
    ColorProfile::new_srgb().colorant_matrix().inverse().to_f32().v
}

/// Linear light from CIE lightness, both 0 to 1.
fn light_of_lightness(lightness: f32) -> f32 {
    light_of_root((lightness * 100.0 + 16.0) / 116.0)
}

/// Linear light, 0 to 1, from the cube root that CIELAB uses, which is linear near black (CIE 15).
pub(crate) fn light_of_root(root: f32) -> f32 {
    if root > 6.0 / 29.0 { root * root * root } else { (root - 4.0 / 29.0) * (108.0 / 841.0) }
}

/// The sRGB value, 0 to 255, of linear light, 0 to 1.
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

/// A lookup table of [`encode`].
pub(crate) struct Encoder(Vec<u8>);

impl Encoder {
    /// Steps from black to white. Dark sRGB values are 1/3300 of white apart.
    const STEPS: u16 = 16_384;

    pub(crate) fn new() -> Self {
        Self((0..=Self::STEPS).map(|step| encode(f32::from(step) / f32::from(Self::STEPS))).collect())
    }

    pub(crate) fn of(&self, light: f32) -> u8 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates; rounded by the half"
        )]
        let step = (light * f32::from(Self::STEPS) + 0.5) as usize;
        self.0.get(step).copied().unwrap_or(u8::MAX)
    }
}
