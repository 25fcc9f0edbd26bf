//! Sets the concepts of tone: brightness, contrast, warmth and the strength of colours.

use super::{
    cells::{Cells, Distribution},
    concept::{Activations, Concept},
    curve::{plateau, ramp},
};

/// Sets all concepts of tone.
pub(super) fn set(cells: &Cells, lightness: &Distribution, activations: &mut Activations) {
    let chroma = Distribution::of(cells, |colour| colour.chroma);
    brightness(cells, lightness, activations);
    contrast(lightness, &chroma, activations);
    let monochrome = saturation(cells, &chroma, activations);
    warmth(cells, monochrome, activations);
}

fn brightness(cells: &Cells, lightness: &Distribution, activations: &mut Activations) {
    let dark = cells.share(|colour| colour.lightness < 0.36);
    let median = ramp(lightness.percentile(50), 0.46, 0.26);
    activations
        .set(Concept::Dark, (0.6 * median + 0.4 * ramp(dark, 0.35, 0.8)).min(1.2 * ramp(dark, 0.3, 0.7)));
    let bright = ramp(lightness.percentile(50), 0.70, 0.88).min(ramp(lightness.percentile(10), 0.2, 0.5));
    activations.set(Concept::Bright, bright);
    let clipped = cells.share(|colour| colour.lightness > 0.985);
    activations
        .set(Concept::Overexposed, ramp(clipped, 0.08, 0.4) * ramp(lightness.percentile(35), 0.5, 0.75));
}

fn contrast(lightness: &Distribution, chroma: &Distribution, activations: &mut Activations) {
    let range = lightness.percentile(95) - lightness.percentile(5);
    let high = (0.5 * ramp(lightness.deviation, 0.20, 0.34) + 0.5 * ramp(range, 0.62, 0.90))
        .min(1.5 * ramp(lightness.deviation, 0.17, 0.30));
    activations.set(Concept::HighContrast, high);
    let low = ramp(lightness.deviation, 0.16, 0.07).min(ramp(range, 0.52, 0.24));
    activations.set(Concept::LowContrast, low);
    // Fog is light and dull, with little contrast, but not uniform.
    let light = plateau(lightness.mean, [0.42, 0.55, 0.90, 0.96]);
    let no_shadows = ramp(lightness.percentile(5), 0.18, 0.38);
    let dull = ramp(chroma.percentile(80), 0.055, 0.028);
    let not_even = ramp(lightness.deviation, 0.012, 0.03);
    let flat = ramp(lightness.deviation, 0.19, 0.11);
    activations.set(Concept::Hazy, light * no_shadows * dull * not_even * flat);
}

/// Sets the concepts of saturation. Returns how monochrome the picture is, 0 to 1.
fn saturation(cells: &Cells, chroma: &Distribution, activations: &mut Activations) -> f32 {
    let colours = chroma.percentile(98);
    let gray = ramp(colours, 0.045, 0.014);
    // A picture with few mid-tones is less likely to be a black-and-white photograph.
    let tones = cells.share(|colour| (0.15..0.93).contains(&colour.lightness));
    activations.set(Concept::Monochrome, gray * (0.62 + 0.38 * ramp(tones, 0.1, 0.5)));
    activations.set(Concept::Sepia, sepia(cells, chroma));
    let strong = cells.share(|colour| colour.chroma > 0.14);
    let vivid = (0.5 * ramp(chroma.mean, 0.055, 0.13) + 0.5 * ramp(strong, 0.05, 0.35))
        .max(0.9 * ramp(chroma.percentile(92), 0.11, 0.19));
    activations.set(Concept::Vivid, vivid);
    // Weak colours: almost no grays, and no strong colour.
    let muted = plateau(chroma.mean, [0.009, 0.015, 0.022, 0.048])
        * ramp(chroma.percentile(95), 0.12, 0.07)
        * plateau(colours, [0.014, 0.032, 0.13, 0.18]);
    activations.set(Concept::Muted, muted);
    activations.set(Concept::Colourful, colourful(cells));
    let pale = cells.share(|colour| colour.lightness > 0.74 && (0.025..0.13).contains(&colour.chroma));
    activations.set(Concept::Pastel, ramp(pale, 0.35, 0.75) * ramp(strong, 0.2, 0.05));
    let glaring = cells.share(|colour| colour.chroma > 0.21 && colour.lightness > 0.6);
    activations.set(Concept::Neon, ramp(glaring, 0.01, 0.12));
    gray
}

/// A single hue of brown in all tones.
fn sepia(cells: &Cells, chroma: &Distribution) -> f32 {
    let brown = cells.share(|colour| {
        colour.chroma < 0.012 || ((45.0..100.0).contains(&colour.hue) && colour.chroma < 0.12)
    });
    let tinted = cells.share(|colour| colour.chroma > 0.015);
    // Sepia toning gives similar hues.
    let mean = cells.mean(|colour| if colour.chroma > 0.015 { colour.hue } else { 0.0 }) / tinted.max(0.001);
    let stray = cells.share(|colour| colour.chroma > 0.025 && (colour.hue - mean).abs() > 14.0);
    ramp(brown, 0.93, 0.99)
        * ramp(tinted, 0.5, 0.85)
        * ramp(stray, 0.06, 0.01)
        * plateau(chroma.percentile(50), [0.012, 0.025, 0.085, 0.12])
}

/// How many hues have strong colours.
fn colourful(cells: &Cells) -> f32 {
    // Six equal parts of the hue circle, the first one centred on red.
    let mut hues = [0.0_f32; 6];
    for colour in &cells.colours {
        if colour.chroma > 0.09 {
            for (index, sum) in hues.iter_mut().enumerate() {
                let distance = (colour.hue - 29.0 - 60.0 * index as f32).rem_euclid(360.0);
                *sum += ramp(distance.min(360.0 - distance), 40.0, 20.0);
            }
        }
    }
    let all = cells.colours.len() as f32;
    let present: f32 = hues.iter().map(|sum| ramp(sum / all, 0.004, 0.05)).sum();
    ramp(present, 1.8, 4.2)
}

fn warmth(cells: &Cells, monochrome: f32, activations: &mut Activations) {
    let yellow = cells.mean(|colour| colour.b);
    let red = cells.mean(|colour| colour.a);
    let warm_cells = cells.share(|colour| colour.b > 0.02 && colour.a > -0.015);
    let cool_cells = cells.share(|colour| colour.b < -0.012);
    let coloured = 1.0 - monochrome;
    let warm = ramp(yellow + 0.5 * red, 0.02, 0.085) * ramp(warm_cells, 0.35, 0.75);
    activations.set(Concept::Warm, warm * coloured);
    let cool = ramp(-yellow - 0.6 * red, 0.004, 0.026) * ramp(cool_cells, 0.35, 0.7);
    activations.set(Concept::Cool, cool * coloured);
}
