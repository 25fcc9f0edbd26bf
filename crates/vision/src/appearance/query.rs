//! Parses the text of a search into concepts.

use super::{
    concept::Concept,
    vocabulary::{MAX_PHRASE_LENGTH, Meaning, Shade, Token, Vocabulary, is_katakana, tokens},
};
use crate::{Calibration, EncodedQuery};

/// Longer texts are truncated, in characters.
const MAX_QUERY_CHARS: usize = 2000;
const AMBIGUOUS_WEIGHT: f32 = 0.6;

/// The concepts in the text of a search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedQuery {
    /// Each concept once; `false` if it is negated.
    pub(super) concepts: Vec<(Concept, bool)>,
    /// The share of known words among all words that are not ignored.
    pub(super) known: f32,
}

#[derive(Debug, Clone, Copy)]
enum QueryPart {
    /// A phrase of the vocabulary.
    Known(Meaning),
    Unknown,
    /// A punctuation mark that ends a phrase.
    Break,
}

/// Parses the text of a search.
pub(super) fn parse(vocabulary: &Vocabulary, words: &str) -> ParsedQuery {
    let words: String = words.chars().take(MAX_QUERY_CHARS).collect();
    let tokens = tokens(&words);
    let mut parts = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();
    while let Some((first, others)) = rest.split_first() {
        match first {
            Token::Break => parts.push(QueryPart::Break),
            Token::Run(run) => parse_run(vocabulary, run, &mut parts),
            Token::Word(_) => {
                let (item, length) = longest_phrase(vocabulary, rest);
                parts.push(item);
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
        }
        rest = others;
    }
    interpret(&parts)
}

/// The longest known phrase at the start, and the number of its tokens.
fn longest_phrase(vocabulary: &Vocabulary, rest: &[Token]) -> (QueryPart, usize) {
    let mut phrase = String::new();
    let mut best = (QueryPart::Unknown, 1);
    for (length, token) in rest.iter().take(MAX_PHRASE_LENGTH).enumerate() {
        let Token::Word(word) = token else { break };
        if !phrase.is_empty() {
            phrase.push(' ');
        }
        phrase.push_str(word);
        if let Some(meaning) = vocabulary.meaning(&phrase) {
            best = (QueryPart::Known(meaning), length + 1);
        }
    }
    best
}

/// Parses a run of a script without spaces: finds the longest known phrase at each position. The characters between two
/// phrases are one unknown word.
fn parse_run(vocabulary: &Vocabulary, run: &[char], parts: &mut Vec<QueryPart>) {
    let mut position = 0;
    let mut in_unknown = false;
    while let Some(rest) = run.get(position..).filter(|rest| !rest.is_empty()) {
        let before = run.get(..position).and_then(<[char]>::last).copied();
        let found = (1..=MAX_PHRASE_LENGTH.min(rest.len())).rev().find_map(|length| {
            let (phrase, after) = rest.split_at(length);
            let meaning = vocabulary.meaning(&phrase.iter().collect::<String>())?;
            is_whole_word(vocabulary, before, phrase, after, in_unknown).then_some((meaning, length))
        });
        if let Some((meaning, length)) = found {
            parts.push(QueryPart::Known(meaning));
            in_unknown = false;
            position += length;
        } else {
            if !in_unknown {
                parts.push(QueryPart::Unknown);
            }
            in_unknown = true;
            position += 1;
        }
    }
}

/// Whether a phrase in a script without spaces is probably not part of a longer word. This concerns words of one
/// character and words in katakana.
fn is_whole_word(
    vocabulary: &Vocabulary,
    before: Option<char>,
    phrase: &[char],
    after: &[char],
    in_unknown: bool,
) -> bool {
    let next = after.first().copied();
    let joins = |one: Option<&char>, other: Option<char>| {
        one.copied().is_some_and(is_katakana) && other.is_some_and(is_katakana)
    };
    if joins(phrase.first(), before) || joins(phrase.last(), next) {
        return false;
    }
    if phrase.len() > 1 {
        return true;
    }
    let ignored = |text: &[char]| {
        vocabulary.meaning(&text.iter().collect::<String>()).is_some_and(|meaning| meaning.ignored)
    };
    let is_ignored = ignored(phrase);
    let ends = next.is_none()
        || ignored(after.get(..1).unwrap_or_default())
        || (2..=MAX_PHRASE_LENGTH).any(|length| {
            after
                .get(..length)
                .is_some_and(|next| vocabulary.meaning(&next.iter().collect::<String>()).is_some())
        });
    ends && (!in_unknown || is_ignored)
}

/// Combines shades with colours, and negations with concepts.
fn interpret(parts: &[QueryPart]) -> ParsedQuery {
    let mut concepts: Vec<(Concept, bool)> = Vec::new();
    let (mut known, mut all) = (0.0, 0.0);
    let mut negated = false;
    let mut rest = parts;
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        let QueryPart::Known(meaning) = first else {
            if matches!(first, QueryPart::Unknown) {
                all += 1.0;
                negated = false;
            }
            continue;
        };
        let next = match others.first() {
            Some(QueryPart::Known(next)) => Some(*next),
            _ => None,
        };
        let shaded = shaded(*meaning, next);
        if let Some(concept) = shaded.or(meaning.concept) {
            if shaded.is_some() {
                rest = others.get(1..).unwrap_or_default();
            }
            all += 1.0;
            known += if meaning.ambiguous && shaded.is_none() { AMBIGUOUS_WEIGHT } else { 1.0 };
            concepts.retain(|(other, _)| *other != concept);
            concepts.push((concept, !negated));
            negated = false;
        } else if meaning.negates {
            negated = true;
        } else if !meaning.ignored {
            all += 1.0;
            negated = false;
        }
    }
    ParsedQuery { concepts, known: known / f32::max(all, 1.0) }
}

/// The shade that two adjacent words name together.
fn shaded(meaning: Meaning, next: Option<Meaning>) -> Option<Concept> {
    let next = next?;
    let (colour, shade) = match (meaning.shades_next, next.concept) {
        (Some(shade), Some(colour)) if colour.is_colour() => (colour, shade),
        _ => (meaning.concept.filter(|colour| colour.is_colour())?, next.shades_last?),
    };
    Some(match (shade, colour.shades()) {
        (Shade::Dark, Some([dark, _])) => dark,
        (Shade::Light, Some([_, light])) => light,
        _ => colour,
    })
}

impl ParsedQuery {
    /// The encoded query; `None` without concepts.
    pub(super) fn to_query(&self) -> Option<EncodedQuery> {
        let count = self.concepts.len() as f32;
        let negative = self.concepts.iter().filter(|(_, is_required)| !is_required).count() as f32;
        if self.concepts.is_empty() {
            return None;
        }
        let mut vector = vec![0.0; Concept::ALL.len()];
        for (concept, is_required) in &self.concepts {
            if let Some(weight) = vector.get_mut(concept.index()) {
                *weight = if *is_required { 1.0 / count } else { -1.0 / count };
            }
        }
        // The similarity is the mean over all concepts. A picture with one of two concepts has 0.5, and a picture with
        // two of three has 0.67. Neither must match.
        let (midpoint, min_similarity) = match self.concepts.len() {
            1 if negative > 0.0 => (0.6, 0.5),
            1 => (0.5, 0.3),
            2 => (0.68, 0.57),
            _ => (0.78, 0.70),
        };
        // A negated concept counts as 1 minus its activation. The dot product lacks the constant 1, so it is subtracted
        // from both thresholds.
        let constant = negative / count;
        Some(EncodedQuery {
            vector,
            calibration: Calibration {
                midpoint: midpoint - constant,
                steepness: 4.0 / (1.0 - midpoint),
                max_score: self.known,
                min_similarity: min_similarity - constant,
            },
        })
    }
}
