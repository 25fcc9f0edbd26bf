//! The built-in encoder: says what a picture looks like from its pixels alone, without a model.
//!
//! A picture's vector holds one number for each [`Concept`]: how far it holds, from 0 over 0.5 (a person might say so) to
//! 1 (clearly so). A search is answered when it has words of appearance ("red", "at night", "schwarz-weiß"); what things
//! are ("boat") is not known and never guessed.
//!
//! To teach it a word, add the word to the tables in `words`. To teach it something to see, add a [`Concept`] and set it
//! where its like is set (`colours`, `tone`, `texture`, `layout`, `scene`), and raise the version in the encoder's name.

mod cells;
mod colours;
mod concept;
mod curve;
mod detail;
mod layout;
mod naming;
mod query;
mod scene;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pictures are made of formulas")]
mod tests;
mod texture;
mod tone;
mod vocabulary;
mod words;

use std::sync::LazyLock;

use cells::{Cells, Spread};
use concept::Activations;
pub use concept::Concept;
use detail::Detail;
use vocabulary::Vocabulary;

use crate::{EncodeError, EncodedQuery, Picture, VisualEncoder};

/// The name of the vectors. It ends with [`Appearance::VERSION`].
const NAME: &str = "appearance-1";

/// Sees colours, tone, texture and layout. It needs no model, and a few milliseconds per picture.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltInEncoder;

impl BuiltInEncoder {
    /// Raised whenever the vectors change.
    pub const VERSION: u32 = 1;

    /// The encoder; it holds nothing.
    pub const fn new() -> Self {
        Self
    }
}

/// All words, made when the first search needs them.
static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::of_all_languages);

impl VisualEncoder for BuiltInEncoder {
    fn name(&self) -> &str {
        NAME
    }

    fn dimensions(&self) -> usize {
        Concept::ALL.len()
    }

    fn longest_side_px(&self) -> u32 {
        detail::LONGEST_SIDE
    }

    fn encode_picture(&self, picture: &Picture) -> Result<Vec<f32>, EncodeError> {
        let cells = Cells::of(picture);
        let lightness = Spread::of(&cells, |colour| colour.lightness);
        let detail = Detail::of(picture);
        let mut activations = Activations::none();
        colours::see(&cells, &mut activations);
        tone::see(&cells, &lightness, &mut activations);
        texture::see(&cells, &lightness, &detail, &mut activations);
        layout::see(picture, &cells, &lightness, &detail, &mut activations);
        scene::see(&cells, &lightness, &detail, &mut activations);
        Ok(activations.into_vec())
    }

    fn encode_query(&self, words: &str) -> Result<Option<EncodedQuery>, EncodeError> {
        Ok(query::read(&VOCABULARY, words).to_query())
    }

    fn encodes_queries_quickly(&self) -> bool {
        true
    }
}
