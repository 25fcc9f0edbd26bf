//! Names of colours: soft regions of OKLCh, derived from colours with common names.

use super::{
    cells::Colour,
    concept::Concept,
    curve::{plateau, ramp},
};

/// The region of a name: the product of three plateaus, each with four rising borders.
struct Region {
    name: Concept,
    /// Degrees. A border below 0 or above 360 wraps around.
    hue: [f32; 4],
    chroma: [f32; 4],
    lightness: [f32; 4],
}

/// A plateau without an upper border.
const fn from(none: f32, full: f32) -> [f32; 4] {
    [none, full, 1.0, 2.0]
}

const fn region(name: Concept, hue: [f32; 4], chroma: [f32; 4], lightness: [f32; 4]) -> Region {
    Region { name, hue, chroma, lightness }
}

/// The regions of chromatic colours. Where regions of one name overlap, the larger value counts.
const REGIONS: &[Region] = &[
    region(Concept::Red, [-2.0, 8.0, 34.0, 42.0], from(0.10, 0.15), [0.20, 0.30, 0.66, 0.74]),
    region(Concept::Orange, [36.0, 46.0, 78.0, 90.0], from(0.115, 0.14), [0.40, 0.50, 0.92, 0.97]),
    region(Concept::Yellow, [80.0, 90.0, 116.0, 124.0], from(0.08, 0.12), [0.68, 0.76, 1.0, 1.1]),
    region(Concept::Gold, [66.0, 76.0, 97.0, 105.0], from(0.09, 0.12), [0.55, 0.62, 0.87, 0.93]),
    region(Concept::Green, [112.0, 120.0, 164.0, 176.0], from(0.035, 0.07), [0.18, 0.26, 1.0, 1.1]),
    // Leaves are often yellowish.
    region(Concept::Green, [98.0, 108.0, 122.0, 130.0], from(0.045, 0.075), [0.2, 0.28, 0.66, 0.76]),
    // In the shade, leaves have a low chroma.
    region(Concept::Green, [98.0, 110.0, 164.0, 178.0], from(0.022, 0.045), [0.14, 0.2, 0.44, 0.54]),
    region(Concept::Turquoise, [166.0, 176.0, 217.0, 231.0], from(0.045, 0.075), [0.28, 0.38, 0.96, 1.0]),
    region(Concept::Blue, [214.0, 230.0, 284.0, 295.0], from(0.035, 0.07), [0.13, 0.22, 0.92, 0.97]),
    region(Concept::Purple, [284.0, 293.0, 330.0, 344.0], from(0.045, 0.08), [0.18, 0.26, 0.84, 0.92]),
    region(Concept::Pink, [322.0, 336.0, 372.0, 384.0], from(0.045, 0.08), [0.52, 0.62, 0.95, 0.98]),
    region(Concept::Pink, [368.0, 375.0, 388.0, 394.0], from(0.05, 0.08), [0.68, 0.75, 0.95, 0.98]),
    // Between pink and purple, light enough for both.
    region(Concept::Pink, [313.0, 324.0, 338.0, 346.0], from(0.03, 0.06), [0.66, 0.74, 0.95, 0.98]),
    region(Concept::Brown, [29.0, 40.0, 78.0, 92.0], [0.025, 0.042, 0.125, 0.16], [0.2, 0.26, 0.54, 0.64]),
    region(Concept::Beige, [50.0, 64.0, 104.0, 114.0], [0.016, 0.03, 0.075, 0.10], [0.60, 0.70, 0.95, 0.985]),
];

/// The lightness at the borders of the shades: [fully dark, not dark, not light, fully light].
const SHADES: &[(Concept, [f32; 4])] = &[
    (Concept::Red, [0.40, 0.48, 0.62, 0.68]),
    (Concept::Orange, [0.60, 0.66, 0.77, 0.82]),
    (Concept::Yellow, [0.76, 0.82, 0.92, 0.95]),
    (Concept::Green, [0.40, 0.50, 0.62, 0.72]),
    (Concept::Turquoise, [0.48, 0.56, 0.72, 0.80]),
    (Concept::Blue, [0.36, 0.46, 0.56, 0.66]),
    (Concept::Purple, [0.36, 0.44, 0.58, 0.66]),
    (Concept::Pink, [0.64, 0.70, 0.76, 0.82]),
    (Concept::Brown, [0.34, 0.40, 0.46, 0.52]),
    (Concept::Gray, [0.46, 0.54, 0.64, 0.72]),
];

/// How well a name fits a colour, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NameFit {
    pub(super) name: Concept,
    pub(super) fit: f32,
}

/// All names that fit. A name may occur twice.
pub(super) fn names(colour: &Colour) -> impl Iterator<Item = NameFit> + '_ {
    neutral(colour)
        .into_iter()
        .chain(REGIONS.iter().map(|region| region.fit(colour)))
        // Weak fits would add up over a whole picture.
        .map(|named| NameFit { fit: ramp(named.fit, 0.1, 0.7), ..named })
        .filter(|named| named.fit > 0.0)
}

fn neutral(colour: &Colour) -> [NameFit; 3] {
    // People see no hue in very dark colours, and see a tinted white as white.
    let black = ramp(colour.lightness, 0.31, 0.22) * ramp(colour.chroma, 0.08, 0.04);
    let white = ramp(colour.lightness, 0.80, 0.90) * ramp(colour.chroma, 0.05, 0.025);
    let gray = plateau(colour.lightness, [0.27, 0.35, 0.80, 0.88]) * ramp(colour.chroma, 0.030, 0.014);
    [(Concept::Black, black), (Concept::White, white), (Concept::Gray, gray)]
        .map(|(name, fit)| NameFit { name, fit })
}

impl Region {
    fn fit(&self, colour: &Colour) -> NameFit {
        let [first, .., last] = self.hue;
        let hue = if colour.hue > last {
            colour.hue - 360.0
        } else if colour.hue < first {
            colour.hue + 360.0
        } else {
            colour.hue
        };
        let inside = hue > first && hue < last;
        let fit = || {
            plateau(hue, self.hue)
                * plateau(colour.chroma, self.chroma)
                * plateau(colour.lightness, self.lightness)
        };
        NameFit { name: self.name, fit: if inside { fit() } else { 0.0 } }
    }
}

/// How much a colour is a dark and a light shade of its name, 0 to 1 each; both 0 if the name has no shades.
pub(super) fn shades(name: Concept, colour: &Colour) -> [f32; 2] {
    if name == Concept::Beige {
        return [0.0, 0.0];
    }
    SHADES.iter().find(|(named, _)| *named == name).map_or(
        [0.0, 0.0],
        |(_, [dark, not_dark, not_light, light])| {
            [ramp(colour.lightness, *not_dark, *dark), ramp(colour.lightness, *not_light, *light)]
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(rgb: [u8; 3]) -> Option<Concept> {
        let colour = Colour::from_srgb(rgb);
        names(&colour).max_by(|one, other| one.fit.total_cmp(&other.fit)).map(|named| named.name)
    }

    #[test]
    fn common_colours_have_their_names() {
        for (rgb, expect) in [
            ([255, 0, 0], Concept::Red),
            ([220, 20, 60], Concept::Red),
            ([128, 0, 0], Concept::Red),
            ([178, 34, 34], Concept::Red),
            ([255, 165, 0], Concept::Orange),
            ([255, 127, 0], Concept::Orange),
            ([255, 255, 0], Concept::Yellow),
            ([255, 240, 100], Concept::Yellow),
            ([218, 165, 32], Concept::Gold),
            ([0, 128, 0], Concept::Green),
            ([0, 255, 0], Concept::Green),
            ([85, 107, 47], Concept::Green),
            ([144, 238, 144], Concept::Green),
            ([0, 128, 128], Concept::Turquoise),
            ([64, 224, 208], Concept::Turquoise),
            ([0, 255, 255], Concept::Turquoise),
            ([0, 0, 255], Concept::Blue),
            ([0, 0, 128], Concept::Blue),
            ([135, 206, 235], Concept::Blue),
            ([70, 130, 180], Concept::Blue),
            ([128, 0, 128], Concept::Purple),
            ([138, 43, 226], Concept::Purple),
            ([255, 192, 203], Concept::Pink),
            ([255, 105, 180], Concept::Pink),
            ([139, 69, 19], Concept::Brown),
            ([101, 67, 33], Concept::Brown),
            ([210, 180, 140], Concept::Beige),
            ([245, 235, 210], Concept::Beige),
            ([0, 0, 0], Concept::Black),
            ([20, 20, 24], Concept::Black),
            ([255, 255, 255], Concept::White),
            ([240, 240, 238], Concept::White),
            ([128, 128, 128], Concept::Gray),
            ([190, 190, 190], Concept::Gray),
        ] {
            assert_eq!(best(rgb), Some(expect), "{rgb:?} {:?}", Colour::from_srgb(rgb));
        }
    }

    #[test]
    fn shades_are_dark_or_light() {
        for (name, rgb, expect) in [
            (Concept::Blue, [0, 0, 110], [1.0, 0.0]),
            (Concept::Blue, [173, 216, 230], [0.0, 1.0]),
            (Concept::Blue, [30, 90, 210], [0.0, 0.0]),
            (Concept::Red, [110, 0, 0], [1.0, 0.0]),
            (Concept::Black, [0, 0, 0], [0.0, 0.0]),
        ] {
            assert_eq!(shades(name, &Colour::from_srgb(rgb)), expect, "{name:?} {rgb:?}");
        }
    }
}
