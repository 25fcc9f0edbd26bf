//! Full-text search in any language: tokenizing, folding, stemming, typo tolerance and scoring.
//!
//! [`each_token`] splits a text into tokens: words and, in scripts without spaces between words, single characters and
//! overlapping pairs (bigrams). Tokens are folded ([`fold`]): letter case, accents, width and vowel points are ignored. For
//! an image, the index stores [`words_of`] its texts, and the [`stem_keys`] of each new word.
//!
//! A search splits the query ([`query_words`]), expands each word to the matching words of the stored vocabulary, and scores
//! the texts of the candidates ([`Scorer`]). Because the query is expanded, a text is stored once, as written, in any
//! language.
//!
//! This crate does no I/O, never panics, and its work is proportional to its input.

mod char_table;
mod chars;
mod english;
mod fields;
mod fold;
mod hits;
mod letters;
mod passage;
mod query;
mod score;
mod stem;
mod stop;
#[cfg(test)]
mod tests;
mod tokens;
mod typo;

pub use fields::{Fields, Occurrence, words_of};
pub use fold::{fold, fold_parts};
pub use query::{QueryWord, query_words};
pub use score::{Alternative, QueryTerm, Score, Scorer, Tier};
pub use stem::{Stems, plural_keys, same_stem, stem_keys};
pub use tokens::{MAX_TOKENS, MAX_WORD_CHARS, Token, TokenKind, each_token};
pub use typo::{MIN_TWO_TYPOS_CHARS, MIN_TYPO_CHARS, can_have_typos, is_typo_of, single_edits, typo_prefix};

/// The version of tokens and keys. Increase it with every change to the words of a text or the keys of a word: an index of
/// another version is rebuilt. The folded names of keywords and places are not: `places::REGIONS_VERSION` makes them anew.
pub const VERSION: u32 = 1;

pub const EXACT: f32 = 1.0;
/// The quality of another form of the word.
pub const SAME_STEM: f32 = 0.9;
/// The quality of a word that starts with the query's last word.
pub const PREFIX: f32 = 0.8;
/// The quality of a word that the query may have misspelt.
pub const TYPO: f32 = 0.6;
