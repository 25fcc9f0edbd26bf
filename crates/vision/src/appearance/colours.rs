//! How much of each colour a picture shows.

use super::{
    cells::Cells,
    concept::{Activations, Concept},
    curve::through_half,
    naming,
};

/// What share of the picture makes a person name a colour (half), and what share makes it obvious (full).
struct Need {
    colour: Concept,
    half: f32,
    full: f32,
}

const fn need(colour: Concept, half: f32, full: f32) -> Need {
    Need { colour, half, full }
}

/// Colours that most pictures have some of need more of it.
const NEEDS: &[Need] = &[
    need(Concept::Red, 0.05, 0.20),
    need(Concept::Orange, 0.05, 0.20),
    need(Concept::Yellow, 0.05, 0.20),
    need(Concept::Green, 0.12, 0.40),
    need(Concept::Turquoise, 0.07, 0.25),
    need(Concept::Blue, 0.10, 0.35),
    need(Concept::Purple, 0.05, 0.20),
    need(Concept::Pink, 0.05, 0.20),
    need(Concept::Brown, 0.15, 0.45),
    need(Concept::Beige, 0.18, 0.50),
    need(Concept::Gold, 0.08, 0.30),
    need(Concept::Black, 0.20, 0.55),
    need(Concept::White, 0.18, 0.50),
    need(Concept::Gray, 0.30, 0.75),
];

/// From here on a colour is strong enough to catch the eye.
const STRIKING_CHROMA: f32 = 0.13;
/// What catches the eye needs only this share, and is obvious from the second on.
const STRIKING: (f32, f32) = (0.02, 0.08);
/// What is in the middle counts so much more than its share.
const CENTRE_GAIN: f32 = 1.6;

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

    fn activation(&self, need: &Need, all: f32, central: f32) -> f32 {
        let everywhere = through_half(self.everywhere / all, need.half, need.full);
        let centre = through_half(self.centre / central.max(1.0), need.half * 1.5, need.full * CENTRE_GAIN);
        let (half, full) = STRIKING;
        let striking = through_half(self.striking / all, half.min(need.half), full.min(need.full));
        everywhere.max(centre).max(striking)
    }
}

/// Sets all colours and their shades.
pub(super) fn see(cells: &Cells, activations: &mut Activations) {
    let mut shares = vec![[Shares::default(); 3]; Concept::ALL.len()];
    let mut central_cells = 0.0_f32;
    for (x, y, colour) in cells.placed() {
        let central = (0.25..=0.75).contains(&x) && (0.25..=0.75).contains(&y);
        central_cells += if central { 1.0 } else { 0.0 };
        let striking = colour.chroma > STRIKING_CHROMA;
        let mut last: Option<(Concept, f32)> = None;
        for named in naming::names(colour) {
            // Two regions of one name: the second only adds what it says more.
            let before = last.filter(|(name, _)| *name == named.name).map_or(0.0, |(_, fit)| fit);
            let fit = (named.fit - before).max(0.0);
            last = Some((named.name, named.fit.max(before)));
            let [dark, light] = naming::shades(named.name, colour);
            if let Some([whole, in_dark, in_light]) = shares.get_mut(named.name.place()) {
                whole.add(fit, central, striking);
                in_dark.add(fit * dark, central, striking && dark > 0.5);
                in_light.add(fit * light, central, striking && light > 0.5);
            }
        }
    }
    let all = cells.colours.len() as f32;
    for need in NEEDS {
        let Some([whole, dark, light]) = shares.get(need.colour.place()) else { continue };
        activations.set(need.colour, whole.activation(need, all, central_cells));
        if need.colour == Concept::Gold || need.colour == Concept::Beige {
            continue;
        }
        if let Some([in_dark, in_light]) = need.colour.shades() {
            // Of a shade less is enough.
            let need = Need { half: 0.7 * need.half, full: 0.7 * need.full, ..*need };
            activations.set(in_dark, dark.activation(&need, all, central_cells));
            activations.set(in_light, light.activation(&need, all, central_cells));
        }
    }
    // Light brown is what others call beige or tan.
    let light_brown = activations.get(Concept::LightBrown).max(0.8 * activations.get(Concept::Beige));
    activations.set(Concept::LightBrown, light_brown);
    // Dark yellow is what others call gold or mustard.
    let dark_yellow = activations.get(Concept::DarkYellow).max(0.8 * activations.get(Concept::Gold));
    activations.set(Concept::DarkYellow, dark_yellow);
}
