//! Words for appearance, one table per language.
//!
//! Each row has a concept and the words for it, separated by commas. A tilde stands for the endings of the language: "rot~"
//! includes "roter". A question mark means that the word is ambiguous ("rose?"), so that it scores lower. Case, accents and
//! hyphens are ignored. Words that mostly name things are left out.

mod east;
mod english;
mod germanic;
mod romance;
mod slavic;

use super::concept::Concept;

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    /// The endings for which a tilde stands, separated by commas.
    pub(super) endings: &'static str,
    /// Whether a tilde also stands for no ending.
    pub(super) stems_are_words: bool,
    /// Words for concepts.
    pub(super) concepts: &'static [(Concept, &'static str)],
    /// Words that make a colour a dark one.
    pub(super) dark: &'static str,
    /// Words that make a colour a light one.
    pub(super) light: &'static str,
    /// Words that do not change a colour ("bright red").
    pub(super) plain: &'static str,
    /// Whether the words of the three lists above follow the colour instead of preceding it.
    pub(super) shades_follow: bool,
    /// Words that negate the next one.
    pub(super) negations: &'static str,
    /// Words without a meaning for the search.
    pub(super) ignored: &'static str,
}

/// All languages. If several have a word, the first one determines its meaning.
pub(super) const ALL: &[Language] = &[
    english::ENGLISH,
    germanic::GERMAN,
    germanic::DUTCH,
    romance::FRENCH,
    romance::SPANISH,
    romance::ITALIAN,
    romance::PORTUGUESE,
    slavic::POLISH,
    slavic::RUSSIAN,
    east::JAPANESE,
    east::CHINESE,
];
