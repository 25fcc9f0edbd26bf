//! Grey pictures.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

/// A grey picture, 8 bits a pixel: 0 is black, rows from top to bottom without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrayBuffer {
    /// At least 1.
    pub(crate) width: u32,
    /// At least 1.
    pub(crate) height: u32,
    /// `width * height` bytes.
    pub(crate) pixels: Vec<u8>,
}

impl GrayBuffer {
    /// The luma of each pixel (Rec. ITU-R BT.601).
    pub(crate) fn from_rgb(width: u32, height: u32, rgb: &[u8]) -> Self {
        let (pixels, _) = rgb.as_chunks::<3>();
        let gray = |[r, g, b]: &[u8; 3]| {
            let sum = 77 * u32::from(*r) + 150 * u32::from(*g) + 29 * u32::from(*b);
            u8::try_from(sum >> 8).unwrap_or(u8::MAX)
        };
        Self { width, height, pixels: pixels.iter().map(gray).collect() }
    }

    /// The picture at another size; `None` if resizing fails.
    pub(crate) fn resize(&self, width: u32, height: u32) -> Option<Self> {
        let source = TypedImageRef::<U8>::from_buffer(self.width, self.height, &self.pixels).ok()?;
        let mut pixels = vec![0; index(width).checked_mul(index(height))?];
        let mut target = TypedImage::<U8>::from_buffer(width, height, &mut pixels).ok()?;
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
        // `resize_typed` compiles the code for this kind of pixel alone.
        Resizer::new().resize_typed(&source, &mut target, &options).ok()?;
        Some(Self { width, height, pixels })
    }

    /// The part of the rows `top..bottom` in the columns `left..right`, clipped to the picture.
    pub(crate) fn rows(
        &self,
        (left, right): (u32, u32),
        (top, bottom): (u32, u32),
    ) -> impl Iterator<Item = &[u8]> {
        let (left, right) = (index(left), index(right.min(self.width)));
        let rows = self.pixels.chunks_exact(index(self.width).max(1));
        let count = index(bottom.saturating_sub(top));
        rows.skip(index(top)).take(count).filter_map(move |row| row.get(left..right))
    }
}

/// Converts a coordinate to a slice index.
pub(crate) fn index(coordinate: u32) -> usize {
    usize::try_from(coordinate).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luma_weighs_the_channels() {
        let rgb = [[0, 0, 0], [255, 255, 255], [255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 9, 9]].concat();
        assert_eq!(GrayBuffer::from_rgb(3, 2, &rgb).pixels, [0, 255, 76, 149, 28, 9]);
    }

    #[test]
    fn rows_are_clipped_and_pictures_resized() {
        let gray = GrayBuffer { width: 4, height: 2, pixels: vec![0, 1, 2, 3, 4, 5, 6, 7] };
        let part: Vec<_> = gray.rows((1, 3), (1, 9)).collect();
        assert_eq!(part, [[5, 6]]);
        let even = GrayBuffer { width: 3, height: 3, pixels: vec![77; 9] };
        assert_eq!(even.resize(5, 4), Some(GrayBuffer { width: 5, height: 4, pixels: vec![77; 20] }));
    }
}
