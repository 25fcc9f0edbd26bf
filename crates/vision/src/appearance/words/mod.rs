//! The words of appearance, a table per language.
//!
//! Each row gives a concept and the words for it, separated by commas. Words with a tilde take the endings of the
//! language ("rot~" is also "roter"). Words with a question mark often mean something else ("rose?"), so that a match on
//! them is worth less. Case, accents and hyphens make no difference. Words that are mostly names of things stay out.

mod east;
mod english;
mod germanic;
mod romance;
mod slavic;

use super::concept::Concept;

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    /// What may stand in place of a tilde, separated by commas.
    pub(super) endings: &'static str,
    /// Whether nothing may stand there, too: whether stems are words.
    pub(super) stems_are_words: bool,
    /// Words for concepts.
    pub(super) concepts: &'static [(Concept, &'static str)],
    /// Words that make a colour a dark one.
    pub(super) dark: &'static str,
    /// Words that make a colour a light one.
    pub(super) light: &'static str,
    /// Words that leave a colour as it is ("bright red").
    pub(super) plain: &'static str,
    /// Whether words of the three lists above stand after the colour; else before it.
    pub(super) shades_follow: bool,
    /// Words that turn the next one round.
    pub(super) negations: &'static str,
    /// Words that say nothing.
    pub(super) ignored: &'static str,
}

/// All languages; where they share a word, the first one that has it gives its meaning.
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
