//! Decodes RGB pixels for image encoders and OCR.

use domain::PixelSize;

use super::{convert, join_damage, resize_steps, steps};
use crate::decode::{Decoded, decode};
use crate::photo::{CheckedPicture, Photo};
use crate::pixels::{Layout, Pixels};
use crate::{Limits, MediaError};

/// The pixels of an upright picture in sRGB, transparent ones on white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RgbPicture {
    pub size: PixelSize,
    /// Red, green and blue of each pixel, 8 bits each, rows from top to bottom without gaps.
    pub rgb: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RgbPictures {
    /// The damage, if a part of the picture or its colour profile could not be read.
    pub damaged: Option<String>,
    /// One picture for each requested size, in that order.
    pub pictures: Vec<RgbPicture>,
}

impl Photo<'_> {
    /// Decodes a picture once, and resizes it for each of these lengths so that its longest side is at most that length. The
    /// picture is never enlarged. A JPEG is decoded at the smallest sufficient fraction of its size.
    ///
    /// The headers are checked as in [`probe`](Self::probe) before any pixel is decoded.
    pub fn decode_rgb(&self, longest_sides_px: &[u32], limits: &Limits) -> Result<RgbPictures, MediaError> {
        decode_checked(&self.checked(limits)?, longest_sides_px)
    }
}

/// As [`Photo::decode_rgb`].
pub fn decode_rgb(
    bytes: &[u8],
    longest_sides_px: &[u32],
    limits: &Limits,
) -> Result<RgbPictures, MediaError> {
    Photo::open(bytes)?.decode_rgb(longest_sides_px, limits)
}

fn decode_checked(checked: &CheckedPicture<'_>, longest_sides_px: &[u32]) -> Result<RgbPictures, MediaError> {
    let CheckedPicture { probe, picture, colour } = *checked;
    let steps = steps(&probe, longest_sides_px.iter().copied());
    let Some(largest) = steps.first() else {
        return Ok(RgbPictures { damaged: None, pictures: Vec::new() });
    };
    let at_least = probe.orientation.apply(*largest);
    let Decoded { pixels, damaged } = decode(picture, at_least)?;
    let mut unconverted = None;
    let prepare = |pixels| convert(pixels, &probe, colour, &mut unconverted);
    let made =
        resize_steps(pixels, probe.orientation, &steps, prepare, |pixels, _| Ok(flatten_on_white(pixels)))?;
    let pictures = longest_sides_px.iter().filter_map(|side| {
        let size = probe.upright_size.fit_within(*side);
        let (_, rgb) = made.iter().find(|(step, _)| *step == size)?;
        Some(RgbPicture { size, rgb: rgb.clone() })
    });
    Ok(RgbPictures { damaged: join_damage(damaged, unconverted), pictures: pictures.collect() })
}

/// Converts RGB or RGBA to RGB on white.
fn flatten_on_white(pixels: &Pixels) -> Vec<u8> {
    if pixels.layout != Layout::Rgba {
        return pixels.bytes.clone();
    }
    let (pixels, _) = pixels.bytes.as_chunks::<4>();
    let over = |colour: u8, alpha: u8| {
        let mixed = u16::from(colour) * u16::from(alpha) + 255 * (255 - u16::from(alpha));
        u8::try_from((mixed + 127) / 255).unwrap_or(u8::MAX)
    };
    pixels.iter().flat_map(|[r, g, b, alpha]| [*r, *g, *b].map(|colour| over(colour, *alpha))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: u32, height: u32) -> PixelSize {
        PixelSize { width, height }
    }

    #[test]
    fn transparency_becomes_white() {
        let bytes = [[9, 8, 7, 255], [0, 0, 0, 0], [100, 0, 255, 128]].concat();
        let pixels = Pixels { size: size(3, 1), layout: Layout::Rgba, bytes };
        assert_eq!(flatten_on_white(&pixels), [9, 8, 7, 255, 255, 255, 177, 127, 255]);
        let pixels = Pixels { size: size(1, 1), layout: Layout::Rgb, bytes: vec![1, 2, 3] };
        assert_eq!(flatten_on_white(&pixels), [1, 2, 3]);
    }

    #[test]
    fn pictures_are_upright_in_the_requested_sizes() {
        let photo = include_bytes!("../../../../fixtures/samples/wisteria.jpg");
        let limits = Limits::default();
        let upright = crate::probe(photo, &limits).unwrap().upright_size;
        let sides = [64, u32::MAX, 500, 64];
        let made = decode_rgb(photo, &sides, &limits).unwrap();
        assert_eq!(made.damaged, None);
        let sizes: Vec<_> = made.pictures.iter().map(|picture| picture.size).collect();
        assert_eq!(sizes, sides.map(|side| upright.fit_within(side)));
        for RgbPicture { size, rgb } in &made.pictures {
            assert_eq!(u64::try_from(rgb.len()).unwrap(), size.area() * 3);
        }
        assert_eq!(made.pictures[0], made.pictures[3]);
        assert_eq!(decode_rgb(photo, &[], &limits).unwrap().pictures, []);
        assert_eq!(
            decode_rgb(&photo[..40], &[64], &limits).map(drop),
            crate::probe(&photo[..40], &limits).map(drop)
        );
    }
}
