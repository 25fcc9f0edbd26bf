//! Sets the colours and their shades by the share of the picture that they cover.

use super::{
    cells::Cells,
    concept::{Activations, Concept},
    curve::through_half,
    naming,
};

/// The shares of the picture from which a person may name a colour (`half`) and from which it is obvious (`full`).
struct Threshold {
    colour: Concept,
    half: f32,
    full: f32,
}

const fn threshold(colour: Concept, half: f32, full: f32) -> Threshold {
    Threshold { colour, half, full }
}

/// Colours that occur in most pictures need a larger share.
const THRESHOLDS: &[Threshold] = &[
    threshold(Concept::Red, 0.05, 0.20),
    threshold(Concept::Orange, 0.05, 0.20),
    threshold(Concept::Yellow, 0.05, 0.20),
    threshold(Concept::Green, 0.12, 0.40),
    threshold(Concept::Turquoise, 0.07, 0.25),
    threshold(Concept::Blue, 0.10, 0.35),
    threshold(Concept::Purple, 0.05, 0.20),
    threshold(Concept::Pink, 0.05, 0.20),
    threshold(Concept::Brown, 0.15, 0.45),
    threshold(Concept::Beige, 0.18, 0.50),
    threshold(Concept::Gold, 0.08, 0.30),
    threshold(Concept::Black, 0.20, 0.55),
    threshold(Concept::White, 0.18, 0.50),
    threshold(Concept::Gray, 0.30, 0.75),
];

/// Colours of a higher chroma are striking.
const STRIKING_CHROMA: f32 = 0.13;
/// The `half` and `full` shares of striking colours.
const STRIKING: (f32, f32) = (0.02, 0.08);
/// In the centre, the `full` share of a colour is multiplied by this factor.
const CENTRE_FACTOR: f32 = 1.6;

/// The shares of a colour and of its shades.
#[derive(Debug, Clone, Copy, Default)]
struct Shares {
    everywhere: f32,
    centre: f32,
    striking: f32,
}

impl Shares {
    fn add(&mut self, fit: f32, central: bool, striking: bool) {
        self.everywhere += fit;
        self.centre += if central { fit } else { 0.0 };
        self.striking += if striking { fit } else { 0.0 };
    }

    fn activation(&self, threshold: &Threshold, all: f32, central: f32) -> f32 {
        let everywhere = through_half(self.everywhere / all, threshold.half, threshold.full);
        let centre = through_half(
            self.centre / central.max(1.0),
            threshold.half * 1.5,
            threshold.full * CENTRE_FACTOR,
        );
        let (half, full) = STRIKING;
        let striking = through_half(self.striking / all, half.min(threshold.half), full.min(threshold.full));
        everywhere.max(centre).max(striking)
    }
}

/// Sets all colours and their shades.
pub(super) fn set(cells: &Cells, activations: &mut Activations) {
    let mut shares = vec![[Shares::default(); 3]; Concept::ALL.len()];
    let mut central_cells = 0.0_f32;
    for (x, y, colour) in cells.with_positions() {
        let central = (0.25..=0.75).contains(&x) && (0.25..=0.75).contains(&y);
        central_cells += if central { 1.0 } else { 0.0 };
        let striking = colour.chroma > STRIKING_CHROMA;
        let mut last: Option<(Concept, f32)> = None;
        for named in naming::names(colour) {
            // If two regions have the same name, the better fit counts.
            let before = last.filter(|(name, _)| *name == named.name).map_or(0.0, |(_, fit)| fit);
            let fit = (named.fit - before).max(0.0);
            last = Some((named.name, named.fit.max(before)));
            let [dark, light] = naming::shades(named.name, colour);
            if let Some([whole, in_dark, in_light]) = shares.get_mut(named.name.index()) {
                whole.add(fit, central, striking);
                in_dark.add(fit * dark, central, striking && dark > 0.5);
                in_light.add(fit * light, central, striking && light > 0.5);
            }
        }
    }
    let all = cells.colours.len() as f32;
    for threshold in THRESHOLDS {
        let Some([whole, dark, light]) = shares.get(threshold.colour.index()) else { continue };
        activations.set(threshold.colour, whole.activation(threshold, all, central_cells));
        if threshold.colour == Concept::Gold || threshold.colour == Concept::Beige {
            continue;
        }
        if let Some([in_dark, in_light]) = threshold.colour.shades() {
            // Shades need a smaller share.
            let threshold =
                Threshold { half: 0.7 * threshold.half, full: 0.7 * threshold.full, ..*threshold };
            activations.set(in_dark, dark.activation(&threshold, all, central_cells));
            activations.set(in_light, light.activation(&threshold, all, central_cells));
        }
    }
    // Beige and tan are also called light brown.
    let light_brown = activations.get(Concept::LightBrown).max(0.8 * activations.get(Concept::Beige));
    activations.set(Concept::LightBrown, light_brown);
    // Gold and mustard are also called dark yellow.
    let dark_yellow = activations.get(Concept::DarkYellow).max(0.8 * activations.get(Concept::Gold));
    activations.set(Concept::DarkYellow, dark_yellow);
}
