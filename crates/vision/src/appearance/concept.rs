//! The concepts, which are the dimensions of the vectors.

/// Declares the enum and the list of all concepts in the order of the vector.
macro_rules! concepts {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// A property of appearance that a person may name. Its number is its index in the vector.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Concept { $($(#[$doc])* $name,)+ }

        impl Concept {
            /// All of them in the order of the vector.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)+];
        }
    };
}

concepts! {
    Red,
    Orange,
    Yellow,
    Green,
    /// Turquoise, teal or cyan: between green and blue.
    Turquoise,
    Blue,
    /// Purple or violet.
    Purple,
    /// Pink or magenta.
    Pink,
    Brown,
    /// Beige, tan or cream.
    Beige,
    /// The colour of gold.
    Gold,
    Black,
    White,
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
    DarkGreen,
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
    LightPink,
    DarkBrown,
    LightBrown,
    DarkGray,
    LightGray,
    /// Pale, light colours.
    Pastel,
    /// Glaring colours.
    Neon,
    /// Mostly dark.
    Dark,
    /// Mostly bright.
    Bright,
    /// Large parts are white without detail.
    Overexposed,
    /// Deep shadows beside bright lights.
    HighContrast,
    /// Little difference between light and dark.
    LowContrast,
    /// As in fog: light, dull, with little contrast.
    Hazy,
    /// Reddish and yellowish tones.
    Warm,
    /// Bluish tones.
    Cool,
    /// Strong colours.
    Vivid,
    /// Many different colours.
    Colourful,
    /// Weak colours.
    Muted,
    /// Only black, gray and white.
    Monochrome,
    /// Only tones of brown, as in an old photograph.
    Sepia,
    /// Few details.
    Smooth,
    /// Many details.
    Busy,
    /// Stripes in any direction over the whole picture.
    Striped,
    /// No sharp edges.
    Blurry,
    /// Sharp edges.
    Sharp,
    /// Visible noise.
    Grainy,
    /// At least about twice as wide as high.
    Panorama,
    /// Higher than wide.
    Upright,
    /// Wider than high.
    Sideways,
    /// As wide as high.
    Square,
    /// The left half mirrors the right one.
    Symmetric,
    /// A sharp subject before a blurred background.
    BlurredBackground,
    /// A small subject on an even background.
    Minimal,
    /// Small dark marks on a light page.
    Page,
    /// Even areas with hard edges, as in computer graphics.
    Graphic,
    /// A warm glow in the sky above a darker ground.
    Sunset,
    /// A large bright area without much colour at the bottom.
    Snow,
    /// Dark, with some small lights.
    Night,
    /// Dark and blue all over, as in late dusk.
    BlueHour,
    /// Clear blue at the top.
    BlueSky,
    /// Even gray at the top.
    Overcast,
    /// Dark shapes before a bright background.
    Silhouette,
}

impl Concept {
    pub(super) const fn index(self) -> usize {
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

    /// Whether it is a colour, not a shade of one.
    pub(super) fn is_colour(self) -> bool {
        self.shades().is_some() || matches!(self, Self::Black | Self::White)
    }
}

/// The activation of each concept, 0 to 1.
#[derive(Debug, Clone)]
pub(super) struct Activations(Vec<f32>);

impl Activations {
    /// All zero.
    pub(super) fn none() -> Self {
        Self(vec![0.0; Concept::ALL.len()])
    }

    /// Sets an activation, clamped to 0..=1.
    pub(super) fn set(&mut self, concept: Concept, value: f32) {
        if let Some(slot) = self.0.get_mut(concept.index()) {
            // NaN becomes 0.
            *slot = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
    }

    pub(super) fn get(&self, concept: Concept) -> f32 {
        self.0.get(concept.index()).copied().unwrap_or_default()
    }

    pub(super) fn into_vec(self) -> Vec<f32> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_is_the_position_in_the_list() {
        for (index, concept) in Concept::ALL.iter().enumerate() {
            assert_eq!(concept.index(), index, "{concept:?}");
        }
    }

    #[test]
    fn activations_are_clamped() {
        let mut activations = Activations::none();
        for (value, expect) in [(0.4, 0.4), (7.0, 1.0), (-1.0, 0.0), (f32::NAN, 0.0)] {
            activations.set(Concept::Sepia, value);
            assert!((activations.get(Concept::Sepia) - expect).abs() < f32::EPSILON, "{value}");
        }
    }
}
