//! Decoded pictures in memory.

mod orient;
mod planes;

use std::fmt::Display;

use domain::PixelSize;
use fast_image_resize::images::TypedImage;
use fast_image_resize::pixels::{InnerPixel, U8, U8x2, U8x3, U8x4};
use fast_image_resize::{FilterType, MulDiv, PixelTrait, ResizeAlg, ResizeOptions, Resizer};

pub(crate) use self::orient::orient;
pub(crate) use self::planes::Planes;
use crate::MediaError;

/// The channels of a pixel, 8 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Gray,
    GrayAlpha,
    Rgb,
    Rgba,
    /// Amounts of ink; inverted, 255 means no ink.
    Cmyk {
        inverted: bool,
    },
}

impl Layout {
    /// Bytes per pixel.
    pub(crate) const fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba | Self::Cmyk { .. } => 4,
        }
    }

    pub(crate) const fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba)
    }
}

/// A decoded picture in memory.
pub(crate) trait Raster: Sized {
    /// Whether all pixels are equal.
    fn is_uniform(&self) -> bool;

    /// Resizes with a Lanczos3 filter and frees the source.
    fn resize(self, size: PixelSize) -> Result<Self, MediaError>;
}

/// A decoded picture: rows from top to bottom without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub(crate) size: PixelSize,
    pub(crate) layout: Layout,
    pub(crate) bytes: Vec<u8>,
}

impl Pixels {
    /// Whether all RGB or RGBA pixels are grey.
    pub(crate) fn is_neutral(&self) -> bool {
        let mut pixels = self.bytes.chunks_exact(self.layout.channels());
        pixels.all(|pixel| matches!(pixel, [r, g, b, ..] if r == g && g == b))
    }

    fn resize_typed<P: InnerPixel + PixelTrait>(mut self, size: PixelSize) -> Result<Self, MediaError> {
        let has_alpha = self.layout.has_alpha();
        // A `TypedImageRef` would suffice. But the resizer's temporary images are of type `TypedImage`, and its code
        // would be compiled a second time for another type.
        let mut source = typed::<P>(self.size, &mut self.bytes)?;
        // Colours of transparent pixels must not affect their neighbours. Multiplied in place, because the resizer
        // itself would copy all pixels.
        if has_alpha {
            MulDiv::new().multiply_alpha_inplace_typed(&mut source).map_err(failed)?;
        }
        let mut bytes = zeroed(size, self.layout.channels())?;
        let mut target = typed::<P>(size, &mut bytes)?;
        let options =
            ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3)).use_alpha(false);
        Resizer::new().resize_typed(&source, &mut target, &options).map_err(failed)?;
        if has_alpha {
            MulDiv::new().divide_alpha_inplace_typed(&mut target).map_err(failed)?;
        }
        Ok(Self { size, layout: self.layout, bytes })
    }

    /// Converts to RGB, or RGBA if there is an alpha channel.
    pub(crate) fn into_rgb(self) -> Self {
        let Self { size, layout, bytes } = self;
        match layout {
            Layout::Rgb | Layout::Rgba => Self { size, layout, bytes },
            Layout::Gray => {
                let bytes = bytes.iter().flat_map(|gray| [*gray; 3]).collect();
                Self { size, layout: Layout::Rgb, bytes }
            }
            Layout::GrayAlpha => {
                let (pixels, _) = bytes.as_chunks::<2>();
                let bytes = pixels.iter().flat_map(|[gray, alpha]| [*gray, *gray, *gray, *alpha]).collect();
                Self { size, layout: Layout::Rgba, bytes }
            }
            Layout::Cmyk { inverted } => {
                let (pixels, _) = bytes.as_chunks::<4>();
                let bytes = pixels.iter().flat_map(|pixel| cmyk_to_rgb(*pixel, inverted)).collect();
                Self { size, layout: Layout::Rgb, bytes }
            }
        }
    }
}

impl Raster for Pixels {
    fn is_uniform(&self) -> bool {
        let mut pixels = self.bytes.chunks_exact(self.layout.channels());
        let first = pixels.next();
        pixels.all(|pixel| Some(pixel) == first)
    }

    fn resize(self, size: PixelSize) -> Result<Self, MediaError> {
        if size == self.size {
            return Ok(self);
        }
        // `Resizer::resize` would compile the code for all 13 pixel types of the crate.
        match self.layout {
            Layout::Gray => self.resize_typed::<U8>(size),
            Layout::GrayAlpha => self.resize_typed::<U8x2>(size),
            Layout::Rgb => self.resize_typed::<U8x3>(size),
            Layout::Rgba | Layout::Cmyk { .. } => self.resize_typed::<U8x4>(size),
        }
    }
}

/// A zeroed buffer for `size` pixels. The size was checked against the limits before.
pub(crate) fn zeroed(size: PixelSize, channels: usize) -> Result<Vec<u8>, MediaError> {
    let bytes = usize::try_from(size.area()).ok().and_then(|pixels| pixels.checked_mul(channels));
    bytes.map(|bytes| vec![0; bytes]).ok_or_else(MediaError::out_of_memory)
}

fn typed<P: InnerPixel>(size: PixelSize, bytes: &mut [u8]) -> Result<TypedImage<'_, P>, MediaError> {
    TypedImage::from_buffer(size.width, size.height, bytes).map_err(failed)
}

fn failed(error: impl Display) -> MediaError {
    MediaError::Conversion(error.to_string())
}

/// Approximate conversion without a profile: each ink and black absorb their share of light.
fn cmyk_to_rgb([c, m, y, k]: [u8; 4], inverted: bool) -> [u8; 3] {
    let light = |ink: u8| if inverted { ink } else { 255 - ink };
    let black = u16::from(light(k));
    [c, m, y].map(|ink| u8::try_from((u16::from(light(ink)) * black + 127) / 255).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(width: u32, height: u32, layout: Layout, bytes: Vec<u8>) -> Pixels {
        Pixels { size: PixelSize { width, height }, layout, bytes }
    }

    #[test]
    fn cmyk_becomes_rgb() {
        let check = |cmyk, inverted, expect| assert_eq!(cmyk_to_rgb(cmyk, inverted), expect, "{cmyk:?}");
        check([0, 0, 0, 0], false, [255, 255, 255]);
        check([0, 0, 0, 255], false, [0, 0, 0]);
        check([255, 0, 0, 0], false, [0, 255, 255]);
        check([0, 255, 255, 0], false, [255, 0, 0]);
        check([255, 255, 255, 255], true, [255, 255, 255]);
        check([0, 255, 255, 255], true, [0, 255, 255]);
        check([255, 255, 255, 128], true, [128, 128, 128]);
    }

    #[test]
    fn every_layout_becomes_rgb() {
        let check = |layout, bytes: &[u8], expect: &[u8]| {
            assert_eq!(pixels(1, 1, layout, bytes.to_vec()).into_rgb().bytes, expect);
        };
        check(Layout::Gray, &[7], &[7, 7, 7]);
        check(Layout::GrayAlpha, &[7, 9], &[7, 7, 7, 9]);
        check(Layout::Rgb, &[1, 2, 3], &[1, 2, 3]);
        check(Layout::Rgba, &[1, 2, 3, 4], &[1, 2, 3, 4]);
    }

    #[test]
    fn transparent_colours_do_not_bleed() {
        // Opaque white beside transparent red.
        let bytes = [[255, 255, 255, 255], [255, 0, 0, 0]].repeat(8).concat();
        let half = pixels(16, 1, Layout::Rgba, bytes).resize(PixelSize { width: 8, height: 1 }).unwrap();
        for pixel in half.bytes.chunks_exact(4) {
            assert!(pixel[1] > 250 && pixel[2] > 250, "{pixel:?}");
            assert!((100..160).contains(&pixel[3]), "{pixel:?}");
        }
    }

    #[test]
    fn black_ink_is_no_alpha() {
        let cmyk = pixels(16, 16, Layout::Cmyk { inverted: true }, [200, 100, 50, 0].repeat(256));
        let half = cmyk.resize(PixelSize { width: 8, height: 8 }).unwrap();
        assert_eq!(half.bytes, [200, 100, 50, 0].repeat(64));
    }
}
