//! Resizing with the same results as Pillow up to version 12 (`Image.resize` of 8-bit pictures, libImaging/Resample.c):
//! models were trained on pictures that Pillow resized, and their published preprocessing refers to Pillow. The
//! horizontal pass comes first.
//!
//! When shrinking, the filter is widened by the scale to avoid aliasing. Weights are fixed-point numbers with 22
//! fractional bits, and the picture between the two passes has 8 bits a channel.

use std::{f64::consts::PI, ops::Range};

use crate::Picture;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    /// Two pixels.
    Bilinear,
    /// Four pixels: Keys' cubic with a = -0.5.
    Bicubic,
    /// Six pixels.
    Lanczos,
}

impl Filter {
    /// Its radius at scale 1, in pixels.
    fn support(self) -> f64 {
        match self {
            Self::Bilinear => 1.0,
            Self::Bicubic => 2.0,
            Self::Lanczos => 3.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            Self::Bilinear => (1.0 - x).max(0.0),
            Self::Bicubic if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Self::Bicubic if x < 2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5,
            Self::Lanczos if x < 3.0 => sinc(x) * sinc(x / 3.0),
            Self::Bicubic | Self::Lanczos => 0.0,
        }
    }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) }
}

const CHANNELS: usize = 3;
/// Fractional bits of the weights.
const FRACTION_BITS: u32 = 32 - 8 - 2;

/// The source pixels of one result pixel.
struct Taps {
    /// The first source pixel.
    first: usize,
    /// The weights of this pixel and the following ones.
    weights: Vec<i32>,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sides of pictures and weights near 1; these are the casts of Pillow"
)]
fn taps(from: usize, to: usize, kept: Range<usize>, filter: Filter) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    let widened = scale.max(1.0);
    let support = filter.support() * widened;
    kept.map(|index| {
        let center = (index as f64 + 0.5) * scale;
        let first = ((center - support + 0.5) as i64).max(0) as usize;
        let end = ((center + support + 0.5) as usize).min(from);
        let weights: Vec<f64> = (first..end)
            .map(|pixel| filter.weight((pixel as f64 - center + 0.5) * (1.0 / widened)))
            .collect();
        let sum: f64 = weights.iter().sum();
        let fixed_point = |weight: f64| {
            let weight = if sum == 0.0 { weight } else { weight / sum } * f64::from(1 << FRACTION_BITS);
            (weight + 0.5_f64.copysign(weight)) as i32
        };
        Taps { first, weights: weights.into_iter().map(fixed_point).collect() }
    })
    .collect()
}

fn byte(sum: i32) -> u8 {
    u8::try_from((sum >> FRACTION_BITS).clamp(0, 255)).unwrap_or(u8::MAX)
}

/// Resizes a picture to `width` and `height` (both at least 1) and returns the part in these columns and rows: row by
/// row, each pixel red, green, blue. Only this part is computed.
pub(super) fn resize(
    picture: &Picture,
    (width, columns): (usize, Range<usize>),
    (height, rows): (usize, Range<usize>),
    filter: Filter,
) -> Vec<u8> {
    let columns = taps(picture.width() as usize, width, columns, filter);
    let mut rows = taps(picture.height() as usize, height, rows, filter);
    let first = rows.iter().map(|taps| taps.first).min().unwrap_or(0);
    let end = rows.iter().map(|taps| taps.first + taps.weights.len()).max().unwrap_or(0);
    for taps in &mut rows {
        taps.first -= first;
    }
    let stride = picture.width() as usize * CHANNELS;
    let needed = picture.rgb().chunks_exact(stride).take(end).skip(first);
    down(&across(needed, &columns), columns.len() * CHANNELS, &rows)
}

fn across<'a>(rows: impl Iterator<Item = &'a [u8]>, columns: &[Taps]) -> Vec<u8> {
    let mut result = Vec::with_capacity(rows.size_hint().0 * columns.len() * CHANNELS);
    for row in rows {
        let (row, _) = row.as_chunks::<CHANNELS>();
        for taps in columns {
            let mut sums = [1 << (FRACTION_BITS - 1); CHANNELS];
            for (pixel, weight) in row.iter().skip(taps.first).zip(&taps.weights) {
                for (sum, value) in sums.iter_mut().zip(pixel) {
                    *sum += i32::from(*value) * weight;
                }
            }
            result.extend(sums.map(byte));
        }
    }
    result
}

fn down(pixels: &[u8], stride: usize, rows: &[Taps]) -> Vec<u8> {
    let mut result = Vec::with_capacity(stride * rows.len());
    let mut sums = vec![0_i32; stride];
    for taps in rows {
        sums.fill(1 << (FRACTION_BITS - 1));
        for (row, weight) in pixels.chunks_exact(stride).skip(taps.first).zip(&taps.weights) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += i32::from(*value) * weight;
            }
        }
        result.extend(sums.iter().map(|sum| byte(*sum)));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u32; 3]) -> Picture {
        let bytes = |x, y| pixel(x, y).map(|value| u8::try_from(value % 256).unwrap());
        let bytes = &bytes;
        let rgb = (0..height).flat_map(|y| (0..width).flat_map(move |x| bytes(x, y))).collect();
        Picture::new(width, height, rgb).unwrap()
    }

    #[test]
    fn uniform_pictures_stay_uniform() {
        for filter in [Filter::Bilinear, Filter::Bicubic, Filter::Lanczos] {
            for (width, height) in [(1, 1), (7, 3), (40, 90)] {
                let uniform = picture(width, height, |_, _| [0, 128, 255]);
                let resized = resize(&uniform, (13, 0..13), (5, 0..5), filter);
                assert!(resized.as_chunks::<3>().0.iter().all(|pixel| *pixel == [0, 128, 255]), "{filter:?}");
                assert_eq!(resized.len(), 13 * 5 * 3);
            }
        }
    }

    /// The results of Pillow 12: `Image.fromarray(…).resize(…, Image.Resampling.…)`.
    #[test]
    fn results_equal_those_of_pillow() {
        let ramp = picture(5, 4, |x, y| {
            let value = (x * 60 + y * 17) % 256;
            [value, 255 - value, if (x + y) % 2 == 0 { 255 } else { 0 }]
        });
        let check = |filter, width, height, expected: &[u8]| {
            let whole = resize(&ramp, (width, 0..width), (height, 0..height), filter);
            assert_eq!(whole, expected, "{filter:?} {width} x {height}");
        };
        check(Filter::Bilinear, 2, 2, &[72, 183, 129, 146, 109, 129, 99, 156, 126, 138, 117, 126]);
        check(Filter::Bicubic, 2, 2, &[65, 190, 130, 151, 104, 130, 100, 155, 125, 138, 117, 125]);
        check(
            Filter::Bicubic,
            7,
            3,
            &[
                2, 253, 177, 33, 222, 115, 80, 175, 98, 123, 132, 177, 171, 84, 98, 186, 69, 115, 183, 72,
                177, 22, 233, 128, 56, 200, 128, 103, 153, 128, 146, 110, 128, 208, 47, 128, 120, 135, 128,
                0, 255, 128, 45, 210, 78, 78, 177, 140, 125, 130, 157, 168, 87, 78, 230, 25, 157, 146, 109,
                140, 20, 235, 78,
            ],
        );
        check(Filter::Lanczos, 2, 2, &[65, 190, 130, 152, 103, 130, 106, 149, 125, 137, 118, 125]);
    }

    #[test]
    fn same_size_keeps_every_byte() {
        let noise = picture(9, 7, |x, y| [x * 31 + y * 57, x * y, x ^ y]);
        for filter in [Filter::Bilinear, Filter::Bicubic, Filter::Lanczos] {
            assert_eq!(resize(&noise, (9, 0..9), (7, 0..7), filter), noise.rgb(), "{filter:?}");
        }
    }

    #[test]
    fn part_equals_the_same_part_of_the_whole() {
        let noise = picture(40, 30, |x, y| [x * 31 + y * 57, x * y, x ^ y]);
        let whole = resize(&noise, (17, 0..17), (50, 0..50), Filter::Bicubic);
        let part = resize(&noise, (17, 3..9), (50, 20..31), Filter::Bicubic);
        let expected: Vec<u8> =
            whole.chunks(17 * 3).skip(20).take(11).flat_map(|row| row[3 * 3..9 * 3].to_vec()).collect();
        assert_eq!(part, expected);
    }

    #[test]
    fn part_of_a_huge_picture_is_cheap() {
        let line = picture(900, 1, |x, _| [x; 3]);
        let part = resize(&line, (201_600, 100_688..100_912), (224, 0..224), Filter::Bicubic);
        assert_eq!(part.len(), 224 * 224 * 3);
    }
}
