//! What a picture's vector says, place by place.

/// Names the concepts once: the type, and all of them in the order of the vector.
macro_rules! concepts {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// One thing that a person may say of how a picture looks. Its number is its place in the vector.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Concept { $($(#[$doc])* $name,)+ }

        impl Concept {
            /// All of them in the order of the vector.
            pub const ALL: &[Self] = &[$(Self::$name,)+];
        }
    };
}

concepts! {
    /// Red.
    Red,
    /// Orange.
    Orange,
    /// Yellow.
    Yellow,
    /// Green.
    Green,
    /// Turquoise, teal or cyan: between green and blue.
    Turquoise,
    /// Blue.
    Blue,
    /// Purple or violet.
    Purple,
    /// Pink or magenta.
    Pink,
    /// Brown.
    Brown,
    /// Beige, tan or cream.
    Beige,
    /// The colour of gold.
    Gold,
    /// Black.
    Black,
    /// White.
    White,
    /// Gray.
    Gray,
    /// Dark red, such as maroon.
    DarkRed,
    /// Light red, such as salmon.
    LightRed,
    /// Dark orange, such as rust.
    DarkOrange,
    /// Light orange, such as peach.
    LightOrange,
    /// Dark yellow, such as mustard.
    DarkYellow,
    /// Light yellow, such as lemon cream.
    LightYellow,
    /// Dark green.
    DarkGreen,
    /// Light green.
    LightGreen,
    /// Dark turquoise, such as petrol.
    DarkTurquoise,
    /// Light turquoise, such as aqua.
    LightTurquoise,
    /// Dark blue, such as navy.
    DarkBlue,
    /// Light blue, such as that of the sky.
    LightBlue,
    /// Dark purple, such as aubergine.
    DarkPurple,
    /// Light purple, such as lavender.
    LightPurple,
    /// Dark or strong pink.
    DarkPink,
    /// Light pink.
    LightPink,
    /// Dark brown.
    DarkBrown,
    /// Light brown.
    LightBrown,
    /// Dark gray.
    DarkGray,
    /// Light gray.
    LightGray,
    /// Pale, light colours.
    Pastel,
    /// Glaring colours.
    Neon,
    /// Mostly dark.
    Dark,
    /// Mostly bright.
    Bright,
    /// Large parts are white without any detail.
    Overexposed,
    /// Deep shadows beside bright lights.
    HighContrast,
    /// All about equally light.
    LowContrast,
    /// As in fog or mist: light, dull and of little contrast.
    Hazy,
    /// Reddish and yellowish tones.
    Warm,
    /// Bluish tones.
    Cool,
    /// Strong colours.
    Vivid,
    /// Many different colours.
    Colourful,
    /// Dull colours, but colours.
    Muted,
    /// No colours: black, gray and white.
    Monochrome,
    /// Tones of brown only, as in an old photograph.
    Sepia,
    /// Few details.
    Smooth,
    /// Many details.
    Busy,
    /// Stripes from side to side, in whatever direction.
    Striped,
    /// Without any sharp edge.
    Blurry,
    /// Sharp edges.
    Sharp,
    /// Noise in what should be even.
    Grainy,
    /// About twice as wide as high or wider.
    Panorama,
    /// Higher than wide.
    Upright,
    /// Wider than high.
    Sideways,
    /// As wide as high.
    Square,
    /// The left half mirrors the right one.
    Symmetric,
    /// Something sharp before something blurred.
    BlurredBackground,
    /// Little on an even background.
    Minimal,
    /// Small dark marks on a light page.
    Page,
    /// Even areas with hard edges, as drawn by a computer.
    Graphic,
    /// A warm glow in the sky above something darker.
    Sunset,
    /// A large bright area without much colour at the bottom.
    Snow,
    /// Dark, with some small lights.
    Night,
    /// The blue of late dusk over everything.
    BlueHour,
    /// Clear blue at the top.
    BlueSky,
    /// Even gray at the top.
    Overcast,
    /// Dark shapes before something bright.
    Silhouette,
}

impl Concept {
    /// The place in the vector.
    pub(super) const fn place(self) -> usize {
        self as usize
    }

    /// The dark and the light shade of a colour that has both.
    pub(super) fn shades(self) -> Option<[Self; 2]> {
        Some(match self {
            Self::Red => [Self::DarkRed, Self::LightRed],
            Self::Orange => [Self::DarkOrange, Self::LightOrange],
            Self::Yellow | Self::Gold => [Self::DarkYellow, Self::LightYellow],
            Self::Green => [Self::DarkGreen, Self::LightGreen],
            Self::Turquoise => [Self::DarkTurquoise, Self::LightTurquoise],
            Self::Blue => [Self::DarkBlue, Self::LightBlue],
            Self::Purple => [Self::DarkPurple, Self::LightPurple],
            Self::Pink => [Self::DarkPink, Self::LightPink],
            Self::Brown | Self::Beige => [Self::DarkBrown, Self::LightBrown],
            Self::Gray => [Self::DarkGray, Self::LightGray],
            _ => return None,
        })
    }

    /// Whether it is a colour without a shade.
    pub(super) fn is_colour(self) -> bool {
        self.shades().is_some() || matches!(self, Self::Black | Self::White)
    }
}

/// How far each concept holds, from 0 (not at all) over 0.5 (a person might say so) to 1 (clearly).
#[derive(Debug, Clone)]
pub(super) struct Activations(Vec<f32>);

impl Activations {
    /// Nothing holds.
    pub(super) fn none() -> Self {
        Self(vec![0.0; Concept::ALL.len()])
    }

    /// Sets one, brought between 0 and 1.
    pub(super) fn set(&mut self, concept: Concept, value: f32) {
        if let Some(place) = self.0.get_mut(concept.place()) {
            // What is not a number is no match.
            *place = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
    }

    /// One of them.
    pub(super) fn get(&self, concept: Concept) -> f32 {
        self.0.get(concept.place()).copied().unwrap_or_default()
    }

    /// All of them in the order of the vector.
    pub(super) fn into_vec(self) -> Vec<f32> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_concept_has_its_own_place() {
        for (place, concept) in Concept::ALL.iter().enumerate() {
            assert_eq!(concept.place(), place, "{concept:?}");
        }
    }

    #[test]
    fn activations_stay_between_0_and_1() {
        let mut activations = Activations::none();
        for (value, expect) in [(0.4, 0.4), (7.0, 1.0), (-1.0, 0.0), (f32::NAN, 0.0)] {
            activations.set(Concept::Sepia, value);
            assert!((activations.get(Concept::Sepia) - expect).abs() < f32::EPSILON, "{value}");
        }
    }
}
