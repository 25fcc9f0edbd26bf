//! Measures edges, blur and noise on the luma of single pixels.

use crate::Picture;

/// Larger pictures are reduced to this side.
pub(super) const LONGEST_SIDE: u32 = 512;
/// The number of blocks along each side.
pub(super) const BLOCKS: usize = 16;
/// The smallest step between neighbours that is an edge, of 255.
const EDGE_STEP: u32 = 20;
/// Smaller steps may be noise, unless the difference over nine steps is at least [`CLEAR_DIFFERENCE`].
const FAINT_STEP: u32 = 5;
const CLEAR_DIFFERENCE: u32 = 24;
/// Nine times the step that noise may add.
const NOISE_BY_NINE: u32 = 27;

/// The luma of the pixels, 0 to 255.
struct Luma {
    width: usize,
    values: Vec<u8>,
}

impl Luma {
    fn of(picture: &Picture) -> Self {
        let side = picture.width().max(picture.height()).div_ceil(LONGEST_SIDE).max(1) as usize;
        let columns = picture.width() as usize;
        let width = columns.div_ceil(side);
        if side == 1 {
            return Self { width, values: lumas(picture.rgb()).collect() };
        }
        let mut values = Vec::with_capacity(width * (picture.height() as usize).div_ceil(side));
        let mut sums = vec![(0_u32, 0_u32); width];
        for band in picture.rgb().chunks(columns * side * 3) {
            sums.fill((0, 0));
            for row in band.chunks_exact(columns * 3) {
                for (cell, (sum, count)) in row.chunks(side * 3).zip(&mut sums) {
                    *sum += lumas(cell).map(u32::from).sum::<u32>();
                    *count += u32::try_from(cell.len() / 3).unwrap_or_default();
                }
            }
            values.extend(
                sums.iter().map(|(sum, count)| u8::try_from(sum / (*count).max(1)).unwrap_or(u8::MAX)),
            );
        }
        Self { width, values }
    }

    fn height(&self) -> usize {
        self.values.len() / self.width
    }

    /// A row; empty if there is none.
    fn row(&self, row: usize) -> &[u8] {
        self.values.get(row * self.width..(row + 1) * self.width).unwrap_or_default()
    }
}

fn lumas(rgb: &[u8]) -> impl Iterator<Item = u8> {
    rgb.as_chunks().0.iter().copied().map(luma)
}

/// Luma by ITU-R BT.601 in integer arithmetic.
fn luma([red, green, blue]: [u8; 3]) -> u8 {
    let [_, luma] = (77 * u16::from(red) + 150 * u16::from(green) + 29 * u16::from(blue)).to_le_bytes();
    luma
}

/// Statistics of one block of the picture.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    /// The number of steps between neighbours, in both directions.
    steps: u32,
    /// The number of steps that are edges.
    edges: u32,
    step_sum: u32,
    /// The sum of the steps that are large enough to measure sharpness.
    clear_sum: u32,
    /// Nine times the part of `clear_sum` that blurring would remove.
    lost_by_nine: u32,
}

impl Block {
    /// Adds a run of steps from `before` to `here`. `first` is four pixels before `before`, and `last` is four pixels
    /// after `here`.
    fn add(&mut self, [first, before, here, last]: [&[u8]; 4]) {
        for (((first, before), here), last) in first.iter().zip(before).zip(here).zip(last) {
            let step = u32::from(before.abs_diff(*here));
            let far = u32::from(first.abs_diff(*last));
            self.steps += 1;
            self.step_sum += step;
            self.edges += u32::from(step >= EDGE_STEP);
            // F. Crete et al., "The Blur Effect: Perception and Estimation with a New No-Reference Perceptual Blur
            // Metric" (2007): blurring changes sharp edges much and blurred ones little. After a blur over nine
            // pixels, the step is a ninth of the difference between the first and the last.
            let clear = u32::from(step > FAINT_STEP || far >= CLEAR_DIFFERENCE);
            self.clear_sum += clear * step;
            // A difference that noise may cause is not an edge.
            self.lost_by_nine += clear * (9 * step).saturating_sub(far + NOISE_BY_NINE);
        }
    }

    pub(super) fn join(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            edges: self.edges + other.edges,
            step_sum: self.step_sum + other.step_sum,
            clear_sum: self.clear_sum + other.clear_sum,
            lost_by_nine: self.lost_by_nine + other.lost_by_nine,
        }
    }

    pub(super) fn edges(&self) -> f32 {
        self.edges as f32 / self.steps.max(1) as f32
    }

    /// The mean step between neighbours, 0 to 255.
    pub(super) fn step(&self) -> f32 {
        self.step_sum as f32 / self.steps.max(1) as f32
    }

    /// The sharpness, 0 (blurred) to about 0.9; `None` if there are too few edges.
    pub(super) fn sharpness(&self) -> Option<f32> {
        (self.clear_sum > self.steps / 10).then(|| self.lost_by_nine as f32 / (9.0 * self.clear_sum as f32))
    }
}

/// Statistics of a picture, by block.
#[derive(Debug, Clone)]
pub(super) struct Detail {
    /// [`BLOCKS`] rows of [`BLOCKS`] blocks.
    blocks: Vec<Block>,
    /// The standard deviation of noise in even areas, of 255.
    pub(super) noise: f32,
}

impl Detail {
    pub(super) fn of(picture: &Picture) -> Self {
        let luma = Luma::of(picture);
        let mut blocks = vec![Block::default(); BLOCKS * BLOCKS];
        let height = luma.height();
        for row in 0..height {
            let first = row * BLOCKS / height * BLOCKS;
            let Some(blocks) = blocks.get_mut(first..first + BLOCKS) else { continue };
            // Along the row: five pixels to the left, one to the left, the pixel itself, four to the right.
            let here = luma.row(row);
            let from = |column: usize| here.get(column..).unwrap_or_default();
            if here.len() > 9 {
                add_row([from(0), from(4), from(5), from(9)], 5, luma.width, blocks);
            }
            if row >= 5 && row + 4 < height {
                let rows = [luma.row(row - 5), luma.row(row - 1), here, luma.row(row + 4)];
                add_row(rows, 0, luma.width, blocks);
            }
        }
        Self { noise: noise(&luma), blocks }
    }

    /// Every block with the position of its centre, from 0 (left, top) to 1 (right, bottom).
    pub(super) fn with_positions(&self) -> impl Iterator<Item = (f32, f32, &Block)> {
        self.blocks.chunks(BLOCKS).enumerate().flat_map(|(row, blocks)| {
            let y = (row as f32 + 0.5) / BLOCKS as f32;
            blocks
                .iter()
                .enumerate()
                .map(move |(column, block)| ((column as f32 + 0.5) / BLOCKS as f32, y, block))
        })
    }

    /// Joins the blocks at positions that satisfy a predicate.
    pub(super) fn joined(&self, predicate: impl Fn(f32, f32) -> bool) -> Block {
        self.with_positions()
            .filter(|(x, y, _)| predicate(*x, *y))
            .fold(Block::default(), |sum, (_, _, block)| sum.join(*block))
    }

    /// The share of blocks that satisfy a predicate.
    pub(super) fn share(&self, predicate: impl Fn(&Block) -> bool) -> f32 {
        self.blocks.iter().filter(|block| predicate(block)).count() as f32 / self.blocks.len() as f32
    }

    /// The 90th percentile of the sharpness of blocks; `None` if no block has enough edges.
    pub(super) fn sharpest(&self) -> Option<f32> {
        let mut all: Vec<f32> = self.blocks.iter().filter_map(Block::sharpness).collect();
        all.sort_unstable_by(f32::total_cmp);
        all.get(all.len().saturating_sub(1) * 9 / 10).copied()
    }
}

/// Adds four aligned rows of pixels to the blocks. Their first pixel is at `column` of the picture.
fn add_row(rows: [&[u8]; 4], column: usize, width: usize, blocks: &mut [Block]) {
    for (index, block) in blocks.iter_mut().enumerate() {
        let start = (index * width).div_ceil(BLOCKS).saturating_sub(column);
        let end = ((index + 1) * width).div_ceil(BLOCKS).saturating_sub(column);
        let end = rows.iter().map(|row| row.len()).fold(end, usize::min);
        block.add(rows.map(|row| row.get(start..end).unwrap_or_default()));
    }
}

/// The noise in even areas (J. Immerkær, "Fast Noise Variance Estimation", 1996, whose filter ignores slopes and
/// edges). A quantile replaces the mean, so that details do not count.
fn noise(luma: &Luma) -> f32 {
    let mut histogram = [0_u32; 512];
    let mut count = 0_u32;
    // Every second row suffices.
    for row in (1..luma.height().saturating_sub(1)).step_by(2) {
        let rows =
            luma.row(row - 1).windows(3).zip(luma.row(row).windows(3)).zip(luma.row(row + 1).windows(3));
        for ((above, here), below) in rows {
            let (&[a, b, c], &[d, e, f], &[g, h, i]) = (above, here, below) else { continue };
            // Clipped pixels have no noise.
            if e <= 4 || e >= 251 {
                continue;
            }
            let corners = [a, c, g, i].map(i32::from).iter().sum::<i32>();
            let sides = [b, d, f, h].map(i32::from).iter().sum::<i32>();
            let response = (corners - 2 * sides + 4 * i32::from(e)).unsigned_abs() as usize;
            if let Some(bin) = histogram.get_mut(response.min(511)) {
                *bin += 1;
                count += 1;
            }
        }
    }
    // The lower quartile is used, because half of the picture may be full of detail.
    let mut below = 0;
    let quartile = histogram.iter().position(|bin| {
        below += bin;
        below > count / 4
    });
    // A quarter of a normal distribution lies within 0.3186 deviations. The filter multiplies the deviation by six.
    quartile.filter(|_| count > 0).map_or(0.0, |response| response as f32 / (6.0 * 0.3186))
}

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pictures are generated by formulas"
)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, value: impl Fn(u32, u32) -> u8) -> Picture {
        let rgb =
            (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).flat_map(|(x, y)| [value(x, y); 3]);
        Picture::new(width, height, rgb.collect()).unwrap()
    }

    #[test]
    fn sharp_edges_are_sharper_than_soft_ones() {
        let step = |softness: f32| {
            picture(64, 64, move |x, _| (((x as f32 - 32.0) / softness + 0.5).clamp(0.0, 1.0) * 200.0) as u8)
        };
        let sharpness = |softness| Detail::of(&step(softness)).sharpest().unwrap();
        assert!(sharpness(1.0) > 0.7);
        assert!(sharpness(4.0) < sharpness(1.0));
        assert!(sharpness(24.0) < sharpness(4.0));
        assert_eq!(Detail::of(&picture(64, 64, |_, _| 80)).sharpest(), None);
    }

    #[test]
    fn slopes_and_details_are_not_noise() {
        let mut random = fastrand::Rng::with_seed(1);
        let noise: Vec<u8> = (0..256 * 256).map(|_| random.u8(..32)).collect();
        let noisy = picture(256, 256, |x, y| (x / 4 + 60) as u8 + noise[(y * 256 + x) as usize]);
        let clean =
            picture(256, 256, |x, y| if x < 90 && (x + y) % 9 < 3 { 200 } else { (x / 4 + 60) as u8 });
        // Uniform numbers from 0 to 31 have a standard deviation of 9.2.
        assert!((6.0..13.0).contains(&Detail::of(&noisy).noise), "{}", Detail::of(&noisy).noise);
        assert!(Detail::of(&clean).noise < 1.0);
    }

    #[test]
    fn pictures_of_every_size_give_all_blocks() {
        for (width, height) in [(1, 1), (3, 2), (1, 700), (2000, 2), (16, 16), (700, 300)] {
            let detail = Detail::of(&picture(width, height, |x, y| (x * 7 + y * 13) as u8));
            assert_eq!(detail.with_positions().count(), BLOCKS * BLOCKS, "{width} x {height}");
        }
    }
}
