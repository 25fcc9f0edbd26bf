//! Reduces a picture to a coarse grid of cells in a perceptual colour space.

use std::sync::LazyLock;

use crate::Picture;

/// The most cells along a side.
const LONGEST_SIDE: u32 = 103;

/// A colour in OKLab and OKLCh (B. Ottosson, "A perceptual color space for image processing", 2020).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Colour {
    /// Lightness, 0 (black) to 1 (white).
    pub(super) lightness: f32,
    /// From green (below 0) to red.
    pub(super) a: f32,
    /// From blue (below 0) to yellow.
    pub(super) b: f32,
    /// Chroma, 0 (gray) to about 0.32.
    pub(super) chroma: f32,
    /// Hue in degrees: red is about 29, yellow 110, green 142, blue 264. Meaningless for grays.
    pub(super) hue: f32,
}

impl Colour {
    /// From red, green and blue of linear light, 0 to 1.
    fn from_linear([red, green, blue]: [f32; 3]) -> Self {
        let long = (0.412_221_46 * red + 0.536_332_55 * green + 0.051_445_995 * blue).cbrt();
        let medium = (0.211_903_5 * red + 0.680_699_5 * green + 0.107_396_96 * blue).cbrt();
        let short = (0.088_302_46 * red + 0.281_718_85 * green + 0.629_978_7 * blue).cbrt();
        let lightness = 0.210_454_26 * long + 0.793_617_8 * medium - 0.004_072_047 * short;
        let a = 1.977_998_5 * long - 2.428_592_2 * medium + 0.450_593_7 * short;
        let b = 0.025_904_037 * long + 0.782_771_77 * medium - 0.808_675_77 * short;
        let hue = b.atan2(a).to_degrees().rem_euclid(360.0);
        Self { lightness, a, b, chroma: a.hypot(b), hue }
    }

    /// From 8-bit sRGB.
    #[cfg(test)]
    pub(super) fn from_srgb(rgb: [u8; 3]) -> Self {
        Self::from_linear(rgb.map(linear))
    }
}

/// The linear light of every value of an sRGB channel (IEC 61966-2-1).
static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|value| {
        let value = value as f32 / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
});

fn linear(value: u8) -> f32 {
    LINEAR.get(usize::from(value)).copied().unwrap_or_default()
}

/// The mean colours of equal squares, row by row from the top.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    /// Columns, at least 1.
    pub(super) width: usize,
    /// Rows, at least 1.
    pub(super) height: usize,
    /// `width * height` colours.
    pub(super) colours: Vec<Colour>,
}

impl Cells {
    pub(super) fn of(picture: &Picture) -> Self {
        let side = picture.width().max(picture.height()).div_ceil(LONGEST_SIDE).max(1) as usize;
        let (columns, rows) = (picture.width() as usize, picture.height() as usize);
        let (width, height) = (columns.div_ceil(side), rows.div_ceil(side));
        let mut colours = Vec::with_capacity(width * height);
        let mut sums = vec![([0.0_f32; 3], 0.0_f32); width];
        for band in picture.rgb().chunks(columns * side * 3) {
            sums.fill(([0.0; 3], 0.0));
            for row in band.chunks_exact(columns * 3) {
                for (cell, (sum, count)) in row.chunks(side * 3).zip(&mut sums) {
                    for &[red, green, blue] in cell.as_chunks().0 {
                        *sum = [sum[0] + linear(red), sum[1] + linear(green), sum[2] + linear(blue)];
                        *count += 1.0;
                    }
                }
            }
            colours.extend(sums.iter().map(|(sum, count)| Colour::from_linear(sum.map(|sum| sum / count))));
        }
        Self { width, height, colours }
    }

    /// Every cell with the position of its centre, from 0 (left, top) to 1 (right, bottom).
    pub(super) fn with_positions(&self) -> impl Iterator<Item = (f32, f32, &Colour)> {
        let (width, height) = (self.width as f32, self.height as f32);
        self.colours.chunks(self.width).enumerate().flat_map(move |(row, colours)| {
            let y = (row as f32 + 0.5) / height;
            colours.iter().enumerate().map(move |(column, colour)| ((column as f32 + 0.5) / width, y, colour))
        })
    }

    /// The mean lightness, a and b in a grid of `side * side` fields, row by row; 0 in fields without cells.
    pub(super) fn grid(&self, side: usize) -> Vec<[f32; 3]> {
        let mut sums = vec![([0.0_f32; 3], 0.0_f32); side * side];
        for (row, colours) in self.colours.chunks(self.width).enumerate() {
            for (column, colour) in colours.iter().enumerate() {
                let index = row * side / self.height * side + column * side / self.width;
                if let Some(([lightness, a, b], count)) = sums.get_mut(index) {
                    *lightness += colour.lightness;
                    *a += colour.a;
                    *b += colour.b;
                    *count += 1.0;
                }
            }
        }
        sums.iter().map(|(sum, count)| sum.map(|sum| sum / count.max(1.0))).collect()
    }

    /// The share of cells that satisfy a predicate.
    pub(super) fn share(&self, predicate: impl Fn(&Colour) -> bool) -> f32 {
        self.colours.iter().filter(|colour| predicate(colour)).count() as f32 / self.colours.len() as f32
    }

    /// The mean of a value over all cells.
    pub(super) fn mean(&self, value: impl Fn(&Colour) -> f32) -> f32 {
        self.colours.iter().map(value).sum::<f32>() / self.colours.len() as f32
    }

    /// The mean of a value over the cells between two heights (0 is the top, 1 the bottom); 0 if there are none.
    pub(super) fn mean_between(&self, top: f32, bottom: f32, value: impl Fn(&Colour) -> f32) -> f32 {
        let (mut sum, mut count) = (0.0, 0.0_f32);
        for (_, y, colour) in self.with_positions() {
            if y >= top && y <= bottom {
                sum += value(colour);
                count += 1.0;
            }
        }
        sum / count.max(1.0)
    }
}

/// The distribution of a value over the cells.
#[derive(Debug, Clone)]
pub(super) struct Distribution {
    sorted: Vec<f32>,
    pub(super) mean: f32,
    /// The standard deviation.
    pub(super) deviation: f32,
}

impl Distribution {
    pub(super) fn of(cells: &Cells, value: impl Fn(&Colour) -> f32) -> Self {
        let mut sorted: Vec<f32> = cells.colours.iter().map(value).collect();
        sorted.sort_unstable_by(f32::total_cmp);
        let count = sorted.len() as f32;
        let mean = sorted.iter().sum::<f32>() / count;
        let deviation = (sorted.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count).sqrt();
        Self { sorted, mean, deviation }
    }

    /// The percentile of the value.
    pub(super) fn percentile(&self, percent: usize) -> f32 {
        let index = self.sorted.len().saturating_sub(1) * percent / 100;
        self.sorted.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_match_the_definition() {
        for (rgb, lightness, chroma, hue) in [
            ([255, 255, 255], 1.0, 0.0, None),
            ([0, 0, 0], 0.0, 0.0, None),
            ([255, 0, 0], 0.628, 0.258, Some(29.2)),
            ([0, 255, 0], 0.866, 0.295, Some(142.5)),
            ([0, 0, 255], 0.452, 0.313, Some(264.1)),
            ([128, 128, 128], 0.6, 0.0, None),
        ] {
            let colour = Colour::from_srgb(rgb);
            assert!((colour.lightness - lightness).abs() < 0.002, "{rgb:?} {colour:?}");
            assert!((colour.chroma - chroma).abs() < 0.002, "{rgb:?} {colour:?}");
            assert!(hue.is_none_or(|hue: f32| (colour.hue - hue).abs() < 0.2), "{rgb:?} {colour:?}");
        }
    }

    #[test]
    fn cells_cover_the_picture() {
        for (width, height, expect) in [
            (1, 1, (1, 1)),
            (103, 3, (103, 3)),
            (104, 3, (52, 2)),
            (512, 384, (103, 77)),
            (1, 5000, (1, 103)),
        ] {
            let rgb = vec![128; width as usize * height as usize * 3];
            let cells = Cells::of(&Picture::new(width, height, rgb).unwrap());
            assert_eq!((cells.width, cells.height), expect);
            assert_eq!(cells.colours.len(), cells.width * cells.height);
            assert_eq!(cells.with_positions().count(), cells.colours.len());
            assert!(cells.colours.iter().all(|colour| (colour.lightness - 0.6).abs() < 0.002));
        }
    }
}
