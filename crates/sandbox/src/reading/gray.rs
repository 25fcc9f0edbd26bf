//! Pictures of 8 bits a pixel.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

/// A grey picture: 0 is black, rows from top to bottom without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gray {
    /// At least 1.
    pub(super) width: u32,
    /// At least 1.
    pub(super) height: u32,
    /// `width * height` bytes.
    pub(super) pixels: Vec<u8>,
}

impl Gray {
    /// The brightness of each pixel of RGB, 8 bits (Rec. ITU-R BT.601).
    pub(super) fn of_rgb(width: u32, height: u32, rgb: &[u8]) -> Self {
        let (pixels, _) = rgb.as_chunks::<3>();
        let gray = |[r, g, b]: &[u8; 3]| {
            let sum = 77 * u32::from(*r) + 150 * u32::from(*g) + 29 * u32::from(*b);
            u8::try_from(sum >> 8).unwrap_or(u8::MAX)
        };
        Self { width, height, pixels: pixels.iter().map(gray).collect() }
    }

    /// The picture at another size; `None` if it cannot be made so.
    pub(super) fn resize(&self, width: u32, height: u32) -> Option<Self> {
        let source = TypedImageRef::<U8>::from_buffer(self.width, self.height, &self.pixels).ok()?;
        let mut pixels = vec![0; index(width).checked_mul(index(height))?];
        let mut target = TypedImage::<U8>::from_buffer(width, height, &mut pixels).ok()?;
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
        // `resize_typed` compiles the code for this kind of pixel alone.
        Resizer::new().resize_typed(&source, &mut target, &options).ok()?;
        Some(Self { width, height, pixels })
    }

    /// The rows from `top` to before `bottom`, each from `left` to before `right`, as far as they are in the picture.
    pub(super) fn rows(
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

/// A length or place as what slices take.
pub(super) fn index(place: u32) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brightness_is_that_of_the_eye() {
        let rgb = [[0, 0, 0], [255, 255, 255], [255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 9, 9]].concat();
        assert_eq!(Gray::of_rgb(3, 2, &rgb).pixels, [0, 255, 76, 149, 28, 9]);
    }

    #[test]
    fn parts_are_cut_out_and_sizes_changed() {
        let gray = Gray { width: 4, height: 2, pixels: vec![0, 1, 2, 3, 4, 5, 6, 7] };
        let part: Vec<_> = gray.rows((1, 3), (1, 9)).collect();
        assert_eq!(part, [[5, 6]]);
        let even = Gray { width: 3, height: 3, pixels: vec![77; 9] };
        assert_eq!(even.resize(5, 4), Some(Gray { width: 5, height: 4, pixels: vec![77; 20] }));
    }
}
