//! Pictures as planes of YCbCr, which both JPEG and WebP store. They are not converted to RGB and back.

use std::borrow::Cow;

use domain::PixelSize;

use super::orient::orient;
use super::{Layout, Pixels, Raster};
use crate::{MediaError, Orientation};

/// A picture in YCbCr (ITU-T T.871, section 7), as three grey pictures. The planes of chroma may be smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planes {
    pub(crate) y: Pixels,
    pub(crate) cb: Pixels,
    pub(crate) cr: Pixels,
}

impl Raster for Planes {
    fn is_uniform(&self) -> bool {
        [&self.y, &self.cb, &self.cr].into_iter().all(Pixels::is_uniform)
    }

    /// Resizes luma to this size and chroma to half of it (4:2:0). If a side is odd, chroma gets the whole size, because half
    /// planes would cover a slightly larger area and shift the colours.
    fn resize(self, size: PixelSize) -> Result<Self, MediaError> {
        let is_even = size.width.is_multiple_of(2) && size.height.is_multiple_of(2);
        let chroma =
            if is_even { PixelSize { width: size.width / 2, height: size.height / 2 } } else { size };
        Ok(Self { y: self.y.resize(size)?, cb: self.cb.resize(chroma)?, cr: self.cr.resize(chroma)? })
    }
}

impl Planes {
    /// Turns the picture upright and compresses the range of its samples from that of JPEG, 0 to 255, to that of WebP, 16 to
    /// 235 for luma and 16 to 240 for chroma (ITU-R BT.601).
    pub(crate) fn into_upright_video_range(self, orientation: Orientation) -> Self {
        let upright = |mut plane: Pixels, range: Range| {
            range.compress(&mut plane.bytes);
            orient(plane, orientation)
        };
        Self { y: upright(self.y, LUMA), cb: upright(self.cb, CHROMA), cr: upright(self.cr, CHROMA) }
    }

    /// RGB pixels of planes with the range of WebP. Chroma is not interpolated, so this is suitable only for small pictures.
    pub(crate) fn to_rgb(&self) -> Pixels {
        let mut bytes = Vec::with_capacity(self.y.bytes.len() * 3);
        fn row_of(plane: &Pixels, row: usize) -> &[u8] {
            let width = usize::try_from(plane.size.width).unwrap_or_default();
            plane.bytes.get(row * width..(row + 1) * width).unwrap_or_default()
        }
        let step = if self.cb.size == self.y.size { 1 } else { 2 };
        let rows = usize::try_from(self.y.size.height).unwrap_or_default();
        for row in 0..rows {
            let (cb, cr) = (row_of(&self.cb, row / step), row_of(&self.cr, row / step));
            for (column, y) in row_of(&self.y, row).iter().enumerate() {
                let chroma = |row: &[u8]| f32::from(row.get(column / step).copied().unwrap_or(128)) - 128.0;
                bytes.extend(rgb((f32::from(*y) - 16.0) * 255.0 / 219.0, chroma(cb), chroma(cr)));
            }
        }
        Pixels { size: self.y.size, layout: Layout::Rgb, bytes }
    }

    /// The samples of chroma for 4:2:0: one for each square of four pixels.
    pub(crate) fn halved_chroma(&self) -> [Cow<'_, [u8]>; 2] {
        [&self.cb, &self.cr].map(|plane| {
            if plane.size == self.y.size { halved(plane).into() } else { plane.bytes.as_slice().into() }
        })
    }
}

/// The averages of squares of four samples. If a side is odd, the last squares have only two samples, or one.
fn halved(plane: &Pixels) -> Vec<u8> {
    let width = usize::try_from(plane.size.width).unwrap_or(usize::MAX);
    let sum = |pair: &[u8]| -> u16 {
        let ends = [pair.first(), pair.last()];
        ends.into_iter().flatten().map(|sample| u16::from(*sample)).sum()
    };
    let mut averages = Vec::with_capacity(plane.bytes.len() / 4 + width);
    for rows in plane.bytes.chunks(width.saturating_mul(2)) {
        let (top, bottom) = rows.split_at(width.min(rows.len()));
        let bottom = if bottom.is_empty() { top } else { bottom };
        let squares = top.chunks(2).zip(bottom.chunks(2));
        averages.extend(
            squares.map(|(top, bottom)| u8::try_from((sum(top) + sum(bottom) + 2) / 4).unwrap_or(u8::MAX)),
        );
    }
    averages
}

/// The range of samples in WebP.
#[derive(Debug, Clone, Copy)]
struct Range {
    /// Number of levels to which 255 levels are compressed.
    levels: u32,
    /// The sample that means black (luma) or grey (chroma), in JPEG and in WebP.
    origins: (u32, u32),
}

const LUMA: Range = Range { levels: 219, origins: (0, 16) };
const CHROMA: Range = Range { levels: 224, origins: (128, 128) };

impl Range {
    fn compress(self, samples: &mut [u8]) {
        // 16.16 fixed point; adding a half rounds the result. The sum is at most 240.5, so its integer part fits into a byte.
        let factor = (self.levels << 16) / 255;
        let offset = (self.origins.1 << 16) - self.origins.0 * factor + (1 << 15);
        for sample in samples {
            let [_, _, value, _] = (u32::from(*sample) * factor + offset).to_le_bytes();
            *sample = value;
        }
    }
}

/// ITU-R BT.601. Luma is 0 to 255, chroma −112 to 112.
fn rgb(y: f32, cb: f32, cr: f32) -> [u8; 3] {
    let (cb, cr) = (cb * 255.0 / 224.0, cr * 255.0 / 224.0);
    [y + 1.402 * cr, y - 0.344_136 * cb - 0.714_136 * cr, y + 1.772 * cb].map(|value| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates; rounded by the half"
        )]
        let byte = (value + 0.5) as u8;
        byte
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(width: u32, height: u32, value: u8) -> Pixels {
        let bytes = vec![value; usize::try_from(width * height).unwrap()];
        Pixels { size: PixelSize { width, height }, layout: Layout::Gray, bytes }
    }

    #[test]
    fn range_is_compressed() {
        let check = |range: Range, expect: fn(f64) -> f64| {
            let mut samples: Vec<u8> = (0..=255).collect();
            range.compress(&mut samples);
            for (value, made) in (0_u8..=255).zip(samples) {
                let exact = expect(f64::from(value));
                assert!((f64::from(made) - exact).abs() < 0.51, "{value}: {made} for {exact}");
            }
        };
        check(LUMA, |y| 16.0 + y * 219.0 / 255.0);
        // Grey stays grey.
        check(CHROMA, |c| 128.0 + (c - 128.0) * 224.0 / 255.0);
    }

    #[test]
    fn chroma_of_every_size_becomes_half_as_large() {
        for (width, height) in [(16, 12), (8, 12), (8, 6)] {
            let planes =
                Planes { y: plane(16, 12, 1), cb: plane(width, height, 2), cr: plane(width, height, 3) };
            for (size, chroma) in [((16, 12), (8, 6)), ((7, 5), (4, 3)), ((6, 5), (3, 3)), ((1, 1), (1, 1))] {
                let made = planes.clone().resize(PixelSize { width: size.0, height: size.1 }).unwrap();
                assert_eq!(made.y, plane(size.0, size.1, 1));
                let [cb, cr] = made.halved_chroma();
                assert_eq!(cb, plane(chroma.0, chroma.1, 2).bytes);
                assert_eq!(cr, plane(chroma.0, chroma.1, 3).bytes);
            }
        }
    }

    #[test]
    fn squares_are_averaged() {
        let bytes = vec![10, 20, 7, 30, 40, 9, 1, 2, 3];
        let plane = Pixels { size: PixelSize { width: 3, height: 3 }, layout: Layout::Gray, bytes };
        assert_eq!(halved(&plane), [25, 8, 2, 3]);
    }

    #[test]
    fn colours_survive() {
        for (y, cb, cr, expect) in [
            (255, 128, 128, [255, 255, 255]),
            (0, 128, 128, [0, 0, 0]),
            (76, 85, 255, [254, 0, 0]),
            (150, 44, 21, [0, 255, 1]),
            (29, 255, 107, [0, 0, 254]),
        ] {
            let planes = Planes { y: plane(3, 3, y), cb: plane(2, 2, cb), cr: plane(2, 2, cr) };
            let made = planes.into_upright_video_range(Orientation::Rotate90).to_rgb();
            assert_eq!((made.size, made.layout), (PixelSize { width: 3, height: 3 }, Layout::Rgb));
            for pixel in made.bytes.as_chunks::<3>().0 {
                assert!(
                    pixel.iter().zip(expect).all(|(made, expect)| made.abs_diff(expect) < 4),
                    "{pixel:?}"
                );
            }
        }
    }
}
