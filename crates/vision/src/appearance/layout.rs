//! Sets the concepts of layout: the format of the picture and the arrangement of its content.

use super::{
    cells::{Cells, Colour, Distribution},
    concept::{Activations, Concept},
    curve::{plateau, ramp},
    detail::{BLOCKS, Detail},
};
use crate::Picture;

/// Sets all concepts of layout.
pub(super) fn set(
    picture: &Picture,
    cells: &Cells,
    lightness: &Distribution,
    detail: &Detail,
    activations: &mut Activations,
) {
    shape(picture, activations);
    let page = page(cells, lightness, detail);
    activations.set(Concept::Page, page);
    let graphic = graphic(picture, detail);
    activations.set(Concept::Graphic, graphic);
    activations.set(Concept::Symmetric, symmetric(cells, lightness));
    activations.set(Concept::BlurredBackground, blurred_background(detail) * (1.0 - graphic.max(page)));
    activations.set(Concept::Minimal, minimal(cells, detail) * (1.0 - 0.5 * page));
}

fn shape(picture: &Picture, activations: &mut Activations) {
    let ratio = picture.width() as f32 / picture.height() as f32;
    activations.set(Concept::Panorama, ramp(ratio, 1.82, 2.08));
    activations.set(Concept::Upright, ramp(1.0 / ratio, 1.03, 1.13));
    activations.set(Concept::Sideways, ramp(ratio, 1.03, 1.13));
    activations.set(Concept::Square, ramp(ratio.max(1.0 / ratio), 1.08, 1.02));
}

/// A light sheet without colours, with small dark marks on much of it.
fn page(cells: &Cells, lightness: &Distribution, detail: &Detail) -> f32 {
    let background = lightness.percentile(75);
    let sheet = cells.share(|colour| colour.lightness > background - 0.28 && colour.chroma < 0.05);
    let written = detail.share(|block| (0.05..0.7).contains(&block.edges()) && block.step() > 6.0);
    let sharp = detail.sharpest().map_or(0.0, |sharpness| ramp(sharpness, 0.45, 0.62));
    let edges = detail.joined(|_, _| true);
    ramp(background, 0.66, 0.85)
        * ramp(sheet, 0.62, 0.86)
        * ramp(written, 0.12, 0.35)
        * ramp(edges.step() / edges.edges().max(0.01), 45.0, 75.0)
        * sharp
}

/// Neighbouring pixels are mostly equal, and where they differ, they differ much.
fn graphic(picture: &Picture, detail: &Detail) -> f32 {
    // Equal neighbours are counted everywhere, and separately outside of clipped black and white areas, which
    // photographs have, too.
    let (mut even, mut same, mut equal, mut inner, mut hard, mut all) =
        (0_u32, 0_u32, 0_u32, 0_u32, 0_u32, 0_u32);
    for row in picture.rgb().chunks_exact(picture.width() as usize * 3) {
        let (pixels, _) = row.as_chunks::<3>();
        for (&[r, g, b], &[red, green, blue]) in pixels.iter().zip(pixels.iter().skip(1)) {
            let difference = r.abs_diff(red).max(g.abs_diff(green)).max(b.abs_diff(blue));
            let clipped = r.max(g).max(b) <= 4 || r.min(g).min(b) >= 251;
            all += 1;
            even += u32::from(difference <= 2);
            same += u32::from(difference == 0);
            hard += u32::from(difference > 40);
            inner += u32::from(!clipped);
            equal += u32::from(difference == 0 && !clipped);
        }
    }
    let [even, same, equal, inner, hard, all] =
        [even, same, equal, inner, hard, all].map(|count| count as f32);
    let all_even = ramp(even / all.max(1.0), 0.55, 0.85);
    // A picture of almost only black and white is a drawing, too.
    let inner_equal = ramp(equal / inner.max(1.0), 0.2, 0.55).max(ramp(inner / all.max(1.0), 0.12, 0.04));
    let uneven = all - even;
    let hard = if uneven < 0.001 * all { 0.5 } else { ramp(hard / uneven.max(1.0), 0.04, 0.16) };
    let sharp = detail.sharpest().map_or(0.5, |sharpness| ramp(sharpness, 0.4, 0.6));
    all_even * inner_equal.max(ramp(same / all.max(1.0), 0.50, 0.70)) * sharp * hard
}

fn distance(one: &[f32; 3], other: &[f32; 3]) -> f32 {
    one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f32>().sqrt()
}

/// Compares two differences: between one half and the mirrored other half, and between unrelated positions.
fn symmetric(cells: &Cells, lightness: &Distribution) -> f32 {
    if cells.width < BLOCKS || cells.height < BLOCKS {
        return 0.0;
    }
    let blocks = cells.grid(BLOCKS);
    let (mut mirrored, mut shifted) = (0.0_f32, 0.0_f32);
    for row in blocks.chunks_exact(BLOCKS) {
        let (left, right) = row.split_at(BLOCKS / 2);
        mirrored +=
            left.iter().zip(right.iter().rev()).map(|(left, right)| distance(left, right)).sum::<f32>();
        shifted += left.iter().zip(right).map(|(left, right)| distance(left, right)).sum::<f32>();
    }
    let mirrored = mirrored / (BLOCKS * BLOCKS / 2) as f32;
    let shifted = shifted / (BLOCKS * BLOCKS / 2) as f32;
    // An even picture is not visibly symmetric.
    ramp(mirrored / shifted.max(0.001), 0.65, 0.25)
        * ramp(shifted, 0.03, 0.08)
        * ramp(lightness.deviation, 0.04, 0.1)
}

/// The centre is sharper than the rim, or has many more edges than every side of it.
fn blurred_background(detail: &Detail) -> f32 {
    let centre = detail.joined(|x, y| (0.25..0.75).contains(&x) && (0.25..0.85).contains(&y));
    let bottom = detail.joined(|_, y| y > 0.85);
    let rims = [
        detail.joined(|x, y| x < 0.2 && y < 0.8),
        detail.joined(|x, y| x > 0.8 && y < 0.8),
        detail.joined(|_, y| y < 0.2),
    ];
    // The subject may touch one side, usually the lower one.
    let mut softer: Vec<f32> = rims
        .iter()
        .filter(|rim| rim.step() > 1.2)
        .filter_map(|rim| centre.sharpness().zip(rim.sharpness()))
        .map(|(centre, rim)| centre - rim)
        .collect();
    softer.sort_unstable_by(|one, other| other.total_cmp(one));
    let softer = softer.get(..2).map_or(0.0, |softest| softest.iter().sum::<f32>() / 2.0);
    let fewer = rims.iter().map(|rim| centre.edges() / (rim.edges() + 0.004)).fold(f32::INFINITY, f32::min);
    // The rim must have some change: an even wall is not blurred, nor is a sky over a busy ground.
    let [left, right, top] = rims;
    let step = left.join(right).join(top).step();
    let fewer = ramp(fewer, 1.6, 5.0)
        * ramp(step, 0.7, 1.3)
        * ramp(bottom.edges() / (centre.edges() + 0.002), 1.2, 0.6);
    let softer = ramp(softer, 0.03, 0.14) * ramp(bottom.edges() / (centre.edges() + 0.002), 2.0, 1.1);
    softer.max(0.8 * fewer) * ramp(centre.edges(), 0.012, 0.035)
}

/// A small subject on a large even surface.
fn minimal(cells: &Cells, detail: &Detail) -> f32 {
    let blocks = cells.grid(BLOCKS);
    let even: Vec<bool> =
        detail.with_positions().map(|(_, _, block)| block.edges() < 0.012 && block.step() < 4.0).collect();
    let surface: Vec<&[f32; 3]> =
        blocks.iter().zip(&even).filter(|(_, even)| **even).map(|(block, _)| block).collect();
    let share = surface.len() as f32 / (BLOCKS * BLOCKS) as f32;
    let count = surface.len().max(1) as f32;
    let mean: [f32; 3] = std::array::from_fn(|channel| {
        surface.iter().filter_map(|block| block.get(channel)).sum::<f32>() / count
    });
    let spread = surface.iter().map(|block| distance(block, &mean)).sum::<f32>() / count;
    let subject =
        cells.share(|colour: &Colour| distance(&[colour.lightness, colour.a, colour.b], &mean) > 0.15);
    ramp(share, 0.5, 0.8) * ramp(spread, 0.13, 0.06) * plateau(subject, [0.0, 0.01, 0.3, 0.45])
}
