//! Words of any language as a search index needs them.
//!
//! A text is cut into tokens ([`each_token`]): words, and where a script puts no spaces between words, its characters
//! one by one and in overlapping pairs. Tokens are folded ([`fold`]): letter case, accents, width and points do not
//! count. What is stored of an image is [`words_of`] its texts, and for each new word its [`stem_keys`].
//!
//! A search takes the query apart ([`query_words`]), looks up in the library's own vocabulary which stored words may
//! stand for each of them, and scores the texts of candidates ([`Search`]). It is the vocabulary that is expanded, not
//! the texts: a text is stored once, as it is written, whatever its language.
//!
//! This crate does no input or output, never panics, and does work in proportion to what it is given.
#![deny(missing_docs)]

mod chars;
mod english;
mod fields;
mod fold;
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
pub use fold::fold;
pub use query::{QueryWord, query_words};
pub use score::{Alternative, QueryTerm, Score, Scorer, Tier};
pub use stem::{Stems, plural_keys, same_stem, stem_keys};
pub use tokens::{MAX_TOKENS, MAX_WORD_CHARS, Token, TokenKind, each_token};
pub use typo::{MIN_TWO_TYPOS_CHARS, MIN_TYPO_CHARS, can_have_typos, is_typo_of, single_edits, typo_prefix};

/// The version of everything here that decides which words a text has, and which keys a word. An index whose words were
/// made by another version has to be made anew.
pub const VERSION: u32 = 1;

/// How much an alternative counts that is the query's word itself.
pub const EXACT: f32 = 1.0;
/// How much another form of the word counts.
pub const SAME_STEM: f32 = 0.9;
/// How much a word counts that begins with the query's last word.
pub const PREFIX: f32 = 0.8;
/// How much a word counts that the query's word may be a slip of.
pub const TYPO: f32 = 0.6;
