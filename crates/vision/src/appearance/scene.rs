//! Sets the concepts of scenes: light and weather.

use super::{
    cells::{Cells, Colour, Distribution},
    concept::{Activations, Concept},
    curve::{plateau, ramp},
    detail::Detail,
};

/// Sets all concepts of scenes. Also corrects some concepts of tone and texture, so these and the concepts of layout
/// must be set before.
pub(super) fn set(cells: &Cells, lightness: &Distribution, detail: &Detail, activations: &mut Activations) {
    let drawn = activations.get(Concept::Graphic).max(activations.get(Concept::Page));
    let photographed = 1.0 - drawn;
    // In fog the sky is the lightest part.
    let above = cells.mean_between(0.0, 0.35, |colour| colour.lightness);
    let below = cells.mean_between(0.5, 1.0, |colour| colour.lightness);
    activations.set(Concept::Sunset, sunset(cells, detail) * photographed);
    activations.set(Concept::Snow, snow(cells, detail) * photographed);
    // A night sky may look like a drawing on black, so the score for a drawing lowers that for night only partly.
    activations.set(Concept::Night, night(cells, detail) * (1.0 - 0.65 * drawn));
    activations.set(Concept::BlueHour, blue_hour(cells, lightness) * photographed);
    activations.set(Concept::BlueSky, blue_sky(cells) * photographed);
    activations.set(Concept::Overcast, overcast(cells, lightness, detail) * photographed);
    activations
        .set(Concept::Hazy, activations.get(Concept::Hazy) * photographed * ramp(above - below, -0.06, 0.03));
    activations.set(
        Concept::LowContrast,
        activations.get(Concept::LowContrast) * (1.0 - 0.7 * activations.get(Concept::Page)),
    );
    activations.set(Concept::Overexposed, activations.get(Concept::Overexposed) * (1.0 - 0.6 * drawn));
    activations
        .set(Concept::Striped, activations.get(Concept::Striped) * (1.0 - activations.get(Concept::Page)));
    activations.set(Concept::Muted, activations.get(Concept::Muted) * photographed);
    activations.set(Concept::Silhouette, silhouette(cells, lightness, detail) * photographed);
}

/// The share of the cells between two heights that satisfy a predicate.
fn share_between(cells: &Cells, top: f32, bottom: f32, predicate: impl Fn(&Colour) -> bool) -> f32 {
    cells.mean_between(top, bottom, |colour| if predicate(colour) { 1.0 } else { 0.0 })
}

/// The share of columns whose upper half is clearly lighter than their bottom.
fn horizon(cells: &Cells) -> f32 {
    const SIDE: usize = 10;
    let grid = cells.grid(SIDE);
    let lightness = |rows: std::ops::Range<usize>, column: usize| {
        let sum: f32 = rows
            .clone()
            .filter_map(|row| grid.get(row * SIDE + column))
            .map(|[lightness, ..]| lightness)
            .sum();
        sum / rows.len() as f32
    };
    let falls = |column: &usize| lightness(0..5, *column) - lightness(7..SIDE, *column) > 0.12;
    (0..SIDE).filter(falls).count() as f32 / SIDE as f32
}

fn sunset(cells: &Cells, detail: &Detail) -> f32 {
    let glow = |colour: &Colour| {
        let warm = colour.hue < 95.0 || colour.hue > 335.0;
        warm && colour.chroma > 0.03 && colour.lightness > 0.5
    };
    let glowing = share_between(cells, 0.0, 0.65, glow);
    let below = cells.mean_between(0.75, 1.0, |colour| colour.lightness);
    let above = cells.mean_between(0.0, 0.15, |colour| colour.lightness);
    ramp(glowing, 0.03, 0.14)
        * ramp(horizon(cells), 0.5, 0.9)
        * ramp(below, 0.55, 0.42)
        * ramp(above, 0.2, 0.35)
        * ramp(detail.joined(|_, y| y < 0.45).step(), 7.5, 4.5)
}

fn snow(cells: &Cells, detail: &Detail) -> f32 {
    let white = |colour: &Colour| {
        let bluish = (180.0..300.0).contains(&colour.hue) && colour.chroma < 0.05;
        (0.5..0.995).contains(&colour.lightness) && (colour.chroma < 0.02 || bluish)
    };
    let lower = share_between(cells, 0.5, 1.0, white);
    let bright = share_between(cells, 0.5, 1.0, |colour| white(colour) && colour.lightness > 0.6);
    // Unlike snow, roads and seas are darker than the sky.
    let above = cells.mean_between(0.0, 0.4, |colour| colour.lightness);
    let below = cells.mean_between(0.55, 1.0, |colour| colour.lightness);
    // Snow has texture; walls and paper have none.
    let ground = detail.joined(|_, y| y > 0.5);
    ramp(lower, 0.3, 0.7)
        * ramp(bright, 0.2, 0.5)
        * ramp(below - above, -0.16, -0.02)
        * plateau(ground.step(), [0.5, 1.3, 16.0, 28.0])
        * ramp(detail.joined(|_, _| true).edges(), 0.0, 0.006)
}

/// Lights before a dark sky, or a street full of lamps.
fn night(cells: &Cells, detail: &Detail) -> f32 {
    let dark = cells.share(|colour| colour.lightness < 0.30);
    let above = share_between(cells, 0.0, 0.3, |colour| colour.lightness < 0.33);
    let lights = cells.share(|colour| colour.lightness > 0.80 && colour.chroma < 0.12);
    let lit = plateau(lights, [0.0, 0.004, 0.14, 0.28]);
    let scattered = detail.share(|block| block.edges() > 0.02);
    let sky = ramp(dark, 0.35, 0.65)
        * (0.3 + 0.7 * ramp(above, 0.3, 0.8))
        * (0.35 + 0.65 * lit * ramp(scattered, 0.01, 0.08));
    let dim = cells.share(|colour| colour.lightness < 0.36);
    let mean = cells.mean(|colour| colour.lightness);
    let lamps = cells.share(|colour| colour.lightness > 0.36 && (30.0..100.0).contains(&colour.hue));
    let street = ramp(dim, 0.25, 0.45)
        * ramp(mean, 0.54, 0.44)
        * lit
        * ramp(lamps, 0.2, 0.45)
        * ramp(scattered, 0.3, 0.7)
        * 0.85;
    sky.max(street)
}

fn blue_hour(cells: &Cells, lightness: &Distribution) -> f32 {
    let blue = cells.share(|colour| (222.0..305.0).contains(&colour.hue) && colour.chroma > 0.018);
    let strong = cells.share(|colour| colour.chroma > 0.16);
    plateau(lightness.mean, [0.18, 0.27, 0.48, 0.60])
        * ramp(blue, 0.40, 0.70)
        * ramp(lightness.percentile(95), 0.98, 0.86)
        * ramp(lightness.deviation, 0.02, 0.06)
        * ramp(strong, 0.5, 0.2)
}

/// The share of the upper two fifths that is even and satisfies a predicate.
fn sky(cells: &Cells, predicate: impl Fn(&Colour) -> bool) -> f32 {
    let rows = cells.colours.chunks(cells.width).take((cells.height * 2).div_ceil(5));
    let (mut found, mut all) = (0.0_f32, 0.0_f32);
    for row in rows {
        for pair in row.windows(2) {
            let [left, right] = pair else { continue };
            let even = (left.lightness - right.lightness).abs() < 0.025;
            found += if even && predicate(left) { 1.0 } else { 0.0 };
            all += 1.0;
        }
    }
    found / all.max(1.0)
}

fn blue_sky(cells: &Cells) -> f32 {
    let blue = |colour: &Colour| {
        (222.0..275.0).contains(&colour.hue)
            && (0.035..0.24).contains(&colour.chroma)
            && (0.34..0.93).contains(&colour.lightness)
    };
    let below = share_between(cells, 0.85, 1.0, blue);
    let varied = cells.share(|colour| !blue(colour));
    ramp(sky(cells, blue), 0.12, 0.45) * ramp(below, 1.0, 0.6).max(0.6) * ramp(varied, 0.02, 0.12)
}

fn overcast(cells: &Cells, lightness: &Distribution, detail: &Detail) -> f32 {
    let light = lightness.percentile(60).max(0.55);
    // In a light sky a lower chroma already looks blue.
    let gray = |colour: &Colour| {
        colour.lightness > light && colour.chroma < 0.018 + 0.025 * ramp(colour.lightness, 0.8, 0.6)
    };
    let lower = cells.mean_between(0.6, 1.0, |colour| colour.lightness);
    let ground = detail.joined(|_, y| y > 0.5);
    ramp(sky(cells, gray), 0.10, 0.40)
        * ramp(share_between(cells, 0.6, 1.0, gray), 0.5, 0.2)
        * ramp(light - lower, 0.0, 0.1)
        * ramp(ground.step(), 1.5, 4.0)
}

fn silhouette(cells: &Cells, lightness: &Distribution, detail: &Detail) -> f32 {
    let dark = cells.share(|colour| colour.lightness < 0.25);
    let bright = share_between(cells, 0.0, 0.75, |colour| colour.lightness > 0.66);
    let between = cells.share(|colour| (0.32..0.58).contains(&colour.lightness));
    plateau(dark, [0.05, 0.15, 0.6, 0.75])
        * ramp(bright, 0.2, 0.45)
        * ramp(between, 0.35, 0.15)
        * ramp(lightness.deviation, 0.2, 0.3)
        * ramp(detail.joined(|_, y| y < 0.4).step(), 9.0, 4.0)
}
