//! Preprocessing of pictures.

use super::{
    config::{Fit, Preprocessing},
    resample::resize,
};
use crate::Picture;

impl Preprocessing {
    /// The useful length of a picture's longest side: four times the input, so that shrinking twice looks like
    /// shrinking once, and the short side of a panorama is long enough.
    pub(super) fn longest_side_px(&self) -> u32 {
        u32::try_from(self.width.max(self.height) * 4).unwrap_or(u32::MAX)
    }

    /// The pixels of the input: row by row, each red, green, blue.
    pub(super) fn fit(&self, picture: &Picture) -> Vec<u8> {
        let (width, height) = self.resized(picture.width() as usize, picture.height() as usize);
        // Crops to the centre. An odd remainder cuts one pixel more at the end.
        let centre = |from: usize, kept: usize| {
            let first = from.saturating_sub(kept) / 2;
            first..first + from.min(kept)
        };
        let (columns, rows) = (centre(width, self.width), centre(height, self.height));
        let kept = (columns.len(), rows.len());
        let pixels = resize(picture, (width, columns), (height, rows), self.filter);
        match self.fit {
            Fit::Longest(colour) => pad(&pixels, kept, (self.width, self.height), colour),
            Fit::Shortest | Fit::Squash => pixels,
        }
    }

    /// The size to which a picture is resized before it is cropped or padded.
    fn resized(&self, width: usize, height: usize) -> (usize, usize) {
        match self.fit {
            Fit::Squash => (self.width, self.height),
            // The longer side is rounded down, as torchvision and transformers do.
            Fit::Shortest if width <= height => (self.width, (self.width * height / width).max(1)),
            Fit::Shortest => ((self.height * width / height).max(1), self.height),
            Fit::Longest(_) => {
                let (target_width, target_height) = (self.width, self.height);
                // The side that is relatively longer is fitted; the other one is rounded, halves to even.
                if width * target_height >= height * target_width {
                    (target_width, rounded(height * target_width, width))
                } else {
                    (rounded(width * target_height, height), target_height)
                }
            }
        }
    }

    /// The pixels as one normalised plane per channel.
    pub(super) fn planes(&self, pixels: &[u8]) -> Vec<f32> {
        let (pixels, _) = pixels.as_chunks::<3>();
        let mut planes = Vec::with_capacity(pixels.len() * 3);
        for (channel, (mean, deviation)) in self.mean.iter().zip(self.deviation).enumerate() {
            planes.extend(
                pixels
                    .iter()
                    .filter_map(|pixel| pixel.get(channel))
                    .map(|value| (f32::from(*value) / 255.0 - mean) / deviation),
            );
        }
        planes
    }
}

/// The quotient rounded to the nearest integer, halves to even; at least 1.
fn rounded(dividend: usize, divisor: usize) -> usize {
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let up = match (rest * 2).cmp(&divisor) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Equal => quotient % 2,
        std::cmp::Ordering::Greater => 1,
    };
    (quotient + up).max(1)
}

/// Pads a picture with a colour and centres it. An odd remainder adds one pixel more at the end.
fn pad(pixels: &[u8], from: (usize, usize), to: (usize, usize), colour: [u8; 3]) -> Vec<u8> {
    let (left, above) = (to.0.saturating_sub(from.0) / 2, to.1.saturating_sub(from.1) / 2);
    let mut result = colour.repeat(to.0 * to.1);
    let targets = result.chunks_exact_mut(to.0 * 3).skip(above);
    for (row, target) in pixels.chunks_exact(from.0 * 3).zip(targets) {
        for (byte, value) in target.iter_mut().skip(left * 3).zip(row) {
            *byte = *value;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::resample::Filter;

    fn preprocessing(side: usize, fit: Fit) -> Preprocessing {
        let filter = Filter::Bicubic;
        Preprocessing { width: side, height: side, fit, filter, mean: [0.5; 3], deviation: [0.25; 3] }
    }

    #[test]
    fn sizes_are_fitted_as_in_training() {
        let check = |fit, from: (usize, usize), expected: (usize, usize)| {
            assert_eq!(preprocessing(224, fit).resized(from.0, from.1), expected, "{fit:?} {from:?}");
        };
        check(Fit::Shortest, (640, 480), (298, 224));
        check(Fit::Shortest, (480, 640), (224, 298));
        check(Fit::Shortest, (1, 1), (224, 224));
        check(Fit::Squash, (640, 480), (224, 224));
        let padded = Fit::Longest([0; 3]);
        check(padded, (640, 480), (224, 168));
        check(padded, (480, 640), (168, 224));
        check(padded, (4000, 1), (224, 1));
        // Halves are rounded to even: 1.5 and 2.5 both become 2.
        check(padded, (448, 3), (224, 2));
        check(padded, (448, 5), (224, 2));
    }

    #[test]
    fn pictures_are_cropped_or_padded() {
        let row: Vec<u8> = (1..=5).flat_map(|value| [value; 3]).collect();
        let picture = Picture::new(5, 1, row).unwrap();
        assert_eq!(preprocessing(1, Fit::Shortest).fit(&picture), [3; 3]);
        let padded = Preprocessing { width: 5, height: 4, ..preprocessing(5, Fit::Longest([9; 3])) };
        assert_eq!(padded.fit(&picture), [&[9; 15], picture.rgb(), &[9; 30]].concat());
    }

    #[test]
    fn thinnest_pictures_are_fitted() {
        for fit in [Fit::Shortest, Fit::Squash, Fit::Longest([7; 3])] {
            for (width, height) in [(5000, 1), (1, 5000), (1, 1), (2, 3)] {
                let picture = Picture::new(width, height, vec![7; (width * height * 3) as usize]).unwrap();
                assert_eq!(
                    preprocessing(64, fit).fit(&picture),
                    [7; 64 * 64 * 3],
                    "{fit:?} {width} {height}"
                );
            }
        }
    }

    #[test]
    fn planes_are_normalised() {
        let planes = preprocessing(1, Fit::Squash).planes(&[0, 255, 51]);
        let close = |value: f32, expected: f32| (value - expected).abs() < 1e-6;
        assert!(
            planes.len() == 3 && close(planes[0], -2.0) && close(planes[1], 2.0) && close(planes[2], -1.2)
        );
    }
}
