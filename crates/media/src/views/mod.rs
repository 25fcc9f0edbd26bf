//! Makes JPEGs of renditions for programs that look at pictures, such as language models: one of each rendition, or a
//! contact sheet of all.

mod digits;
mod encode;
mod fit;
mod sheet;

use domain::{PixelSize, Rendition};

use self::encode::Encoder;
pub use self::sheet::{NumberBox, SheetLayout};
use crate::photo::Photo;
use crate::pixels::{Layout, Pixels, Raster as _};
use crate::{Limits, MediaError, Probe, RgbPicture};

/// What to make of renditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ViewOptions {
    /// The renditions from which views are made. No picture becomes larger than this rendition.
    pub rendition: Rendition,
    /// Whether to draw all pictures on one sheet, each with its number from 1.
    pub sheet: bool,
    /// The most bytes of all JPEGs together. 400,000 are enough for any 16 pictures.
    pub max_bytes: usize,
}

/// The size and quality of a JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// The longest side.
    side_px: u32,
    /// From 1 to 100.
    quality: i32,
}

impl Step {
    const fn new(side_px: u32, quality: i32) -> Self {
        Self { side_px, quality }
    }
}

/// The pixels of all pictures that are held at once. With more, less than half a bit would be left for each pixel.
const MAX_HELD_PIXELS: u64 = 8 << 20;

impl ViewOptions {
    /// No side of a JPEG is longer than this, in pixels.
    pub fn longest_side_px(&self) -> u32 {
        if self.sheet { sheet::first_side_px(self.rendition) } else { self.rendition.longest_side_px() }
    }

    /// The longest side at which pictures are decoded.
    fn decoded_side_px(&self, count: usize) -> u32 {
        if self.sheet {
            SheetLayout::largest(count, self.rendition).cell_px
        } else {
            fit::first_step(count, self.rendition).side_px
        }
    }

    /// Upper estimate of the memory that [`views`] takes besides the files, in bytes.
    pub fn memory_bytes(&self, probes: &[Probe]) -> u64 {
        // The picture or sheet that is resized and encoded, and its JPEG.
        const BASE_BYTES: u64 = 32 << 20;
        const RGB_BYTES_PER_PIXEL: u64 = 3;

        let side = self.decoded_side_px(probes.len());
        let decoding = probes.iter().map(|probe| probe.rgb_memory_bytes(&[side])).max().unwrap_or(0);
        let held = probes.iter().map(|probe| probe.upright_size.fit_within(side).area()).sum::<u64>();
        BASE_BYTES + decoding + held * RGB_BYTES_PER_PIXEL
    }
}

/// Makes baseline JPEGs in sRGB, upright and without metadata, transparent pixels on white: one for each picture in that
/// order, or one sheet. All together have at most [`ViewOptions::max_bytes`]. If necessary, they become smaller. The result is
/// deterministic.
///
/// # Errors
/// Any [`MediaError`]. [`MediaError::Conversion`] if the JPEGs do not fit.
pub fn views(
    photos: &[Photo<'_>],
    options: &ViewOptions,
    limits: &Limits,
) -> Result<Vec<Vec<u8>>, MediaError> {
    let side = options.decoded_side_px(photos.len());
    let pictures = photos.iter().map(|photo| {
        let decoded = photo.decode_rgb(&[side], limits)?.pictures.into_iter().next();
        let RgbPicture { size, rgb } = decoded.ok_or(MediaError::NoPixels)?;
        Ok(Pixels { size, layout: Layout::Rgb, bytes: rgb })
    });
    let pictures = pictures.collect::<Result<Vec<_>, MediaError>>()?;
    if options.sheet {
        Ok(vec![sheet::fitting(pictures, options)?])
    } else {
        fit::pictures(pictures, options)
    }
}

/// A picture that is made smaller when it has to.
struct Shrinking {
    /// The size of the decoded picture.
    decoded: PixelSize,
    pixels: Pixels,
}

impl Shrinking {
    fn new(pixels: Pixels) -> Self {
        Self { decoded: pixels.size, pixels }
    }

    /// Scales it down so that no side is longer than this.
    fn fit_within(&mut self, side_px: u32) -> Result<&Pixels, MediaError> {
        let size = self.decoded.fit_within(side_px);
        if size != self.pixels.size {
            let pixels = self.pixels.clone();
            self.pixels = pixels.resize(size)?;
        }
        Ok(&self.pixels)
    }
}

fn too_large() -> MediaError {
    MediaError::Conversion("its views do not fit into the allowed bytes".into())
}

#[cfg(test)]
mod tests;
