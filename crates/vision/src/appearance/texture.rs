//! Sets the concepts of texture: smooth, busy, sharp, blurry, grainy, striped.

use super::{
    cells::{Cells, Distribution},
    concept::{Activations, Concept},
    curve::ramp,
    detail::{Block, Detail},
};

/// Sets all concepts of texture.
pub(super) fn set(cells: &Cells, lightness: &Distribution, detail: &Detail, activations: &mut Activations) {
    let all = detail.joined(|_, _| true);
    let quiet = detail.share(|block| block.step() < 2.5);
    let smooth = 0.5 * ramp(quiet, 0.45, 0.85) + 0.5 * ramp(all.step(), 6.0, 2.0);
    activations.set(Concept::Smooth, smooth);
    let full = detail.share(|block| block.edges() > 0.15);
    activations.set(Concept::Busy, 0.5 * ramp(all.edges(), 0.08, 0.30) + 0.5 * ramp(full, 0.35, 0.85));
    focus(lightness, detail, &all, activations);
    activations.set(Concept::Grainy, ramp(detail.noise, 3.5, 9.0) * ramp(quiet, 0.35, 0.05));
    activations.set(Concept::Striped, striped(cells, lightness));
}

fn focus(lightness: &Distribution, detail: &Detail, all: &Block, activations: &mut Activations) {
    let Some(sharpest) = detail.sharpest() else {
        // Without edges, a picture that is not uniform is blurred.
        activations.set(Concept::Blurry, 0.7 * ramp(lightness.deviation, 0.015, 0.045));
        return;
    };
    activations.set(Concept::Blurry, ramp(sharpest, 0.55, 0.36) * ramp(lightness.deviation, 0.02, 0.06));
    let edges = ramp(all.edges(), 0.01, 0.06);
    activations.set(Concept::Sharp, ramp(sharpest, 0.58, 0.75) * edges);
}

/// Light and dark alternate many times in one direction and are constant across it.
fn striped(cells: &Cells, lightness: &Distribution) -> f32 {
    if cells.width.min(cells.height) < 8 || lightness.deviation < 0.03 {
        return 0.0;
    }
    let Some((direction, coherence)) = direction(cells) else { return 0.0 };
    let profile = profile(cells, direction);
    let count = profile.len() as f32;
    let mean = profile.iter().sum::<f32>() / count.max(1.0);
    let variance = profile.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count.max(1.0);
    let explained = variance / lightness.deviation.powi(2);
    let reversals = reversals(&profile, 0.8 * variance.sqrt());
    ramp(coherence, 0.3, 0.65) * ramp(explained, 0.2, 0.5) * ramp(reversals, 5.0, 11.0)
}

/// The direction of the largest change in lightness as a unit vector, and its coherence (0 to 1), by the structure
/// tensor.
fn direction(cells: &Cells) -> Option<([f32; 2], f32)> {
    let (mut xx, mut yy, mut xy) = (0.0_f32, 0.0, 0.0);
    let rows: Vec<_> = cells.colours.chunks_exact(cells.width).collect();
    for pair in rows.windows(2) {
        let [upper, lower] = pair else { continue };
        for (above, below) in upper.windows(2).zip(lower.windows(2)) {
            let ([a, b], [c, d]) = (above, below) else { continue };
            let across = (b.lightness + d.lightness - a.lightness - c.lightness) / 2.0;
            let down = (c.lightness + d.lightness - a.lightness - b.lightness) / 2.0;
            xx += across * across;
            yy += down * down;
            xy += across * down;
        }
    }
    let coherence = (xx - yy).hypot(2.0 * xy) / (xx + yy);
    let angle = 0.5 * (2.0 * xy).atan2(xx - yy);
    (xx + yy > 1e-4).then_some(([angle.cos(), angle.sin()], coherence))
}

/// The mean lightness at each step along a direction, without the steps at the ends that have few cells.
fn profile(cells: &Cells, [across, down]: [f32; 2]) -> Vec<f32> {
    let length = cells.width + cells.height;
    let mut sums = vec![(0.0_f32, 0.0_f32); 2 * length];
    for (row, colours) in cells.colours.chunks(cells.width).enumerate() {
        for (column, colour) in colours.iter().enumerate() {
            let along = column as f32 * across + row as f32 * down + length as f32;
            if let Some((sum, count)) = sums.get_mut(bin(along)) {
                *sum += colour.lightness;
                *count += 1.0;
            }
        }
    }
    let enough = cells.width.min(cells.height) as f32 / 2.0;
    sums.iter().filter(|(_, count)| *count >= enough).map(|(sum, count)| sum / count).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
fn bin(along: f32) -> usize {
    along.round() as usize
}

/// How often a curve reverses its direction by more than `height`.
fn reversals(profile: &[f32], height: f32) -> f32 {
    let mut reversals = 0.0;
    let mut rising = None;
    let mut extreme = profile.first().copied().unwrap_or_default();
    for &value in profile {
        let ahead = if rising == Some(false) { extreme - value } else { value - extreme };
        if rising.is_none() && ahead.abs() > height {
            rising = Some(ahead > 0.0);
            extreme = value;
        } else if rising.is_some() && ahead > 0.0 {
            extreme = value;
        } else if rising.is_some() && -ahead > height {
            rising = rising.map(|rising| !rising);
            extreme = value;
            reversals += 1.0;
        }
    }
    reversals
}
