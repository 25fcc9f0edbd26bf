//! Scores how well texts match a query.

use std::collections::HashMap;

use crate::{
    fields::{CONTENT_FIELDS, Fields},
    hits::{Hit, Hits},
    passage,
    query::QueryWord,
    tokens::each_token,
};

/// A stored word that matches a word of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The stored word, folded.
    pub word: String,
    /// The quality of the match, above 0 and at most 1.
    pub quality: f32,
}

/// A word of a query with the stored words that match it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    pub word: QueryWord,
    /// The stored words that match; empty if no text contains one.
    pub alternatives: Vec<Alternative>,
    /// The share of the texts that contain an alternative, above 0 and at most 1. Rare words have a higher weight.
    pub document_frequency: f64,
}

/// Which words match in which fields, best first. Optional words do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// All words are in the description or the OCR text.
    AllInContent,
    /// All words are in some field, including place, file name and keywords.
    AllAnywhere,
    /// Some words are in the description or the OCR text.
    SomeInContent,
    /// Some words are in the place, the file name or a keyword.
    SomeAnywhere,
}

/// How well an image's texts match a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    pub tier: Tier,
    /// The strength within the tier, above 0 and at most 1. It is comparable between queries.
    pub strength: f64,
}

struct WeightedTerm {
    optional: bool,
    weight: f64,
    rarity: f64,
}

/// Scores texts by a query.
pub struct Scorer {
    terms: Vec<WeightedTerm>,
    /// The sum of the terms' weights.
    weight: f64,
    /// The terms that an alternative matches, with the quality of the match.
    alternatives: HashMap<String, Vec<(usize, f32)>>,
    /// The lengths of the alternatives by their first byte, as bit sets. This rejects most words of a text without a hash
    /// look-up.
    lengths: [u64; 256],
}

/// The factor for the weight of an optional word.
const OPTIONAL_WEIGHT: f64 = 0.15;

/// The weights of description, OCR text, place, file name and keywords.
const FIELD_WEIGHTS: [f64; 5] = [1.0, 0.97, 0.85, 0.75, 0.9];

/// The shares of the strength: that the words occur, that they are close to each other, that the text is short, and that
/// the words are rare.
const SHARES: [f64; 4] = [0.55, 0.22, 0.13, 0.10];

impl Scorer {
    /// Prepares a query; only its first 64 terms count.
    pub fn new(terms: &[QueryTerm]) -> Self {
        let mut scorer =
            Self { terms: Vec::new(), weight: 0.0, alternatives: HashMap::new(), lengths: [0; 256] };
        for (number, term) in terms.iter().take(64).enumerate() {
            let frequency =
                if term.document_frequency > 0.0 { term.document_frequency.min(1.0) } else { 1.0 };
            let rarity = (1.0 + 1.0 / frequency).ln();
            let weight = rarity * if term.word.optional { OPTIONAL_WEIGHT } else { 1.0 };
            scorer.terms.push(WeightedTerm { optional: term.word.optional, weight, rarity });
            scorer.weight += weight;
            for alternative in &term.alternatives {
                scorer.add(number, alternative);
            }
        }
        scorer
    }

    fn add(&mut self, number: usize, alternative: &Alternative) {
        let quality = if alternative.quality > 0.0 { alternative.quality.min(1.0) } else { return };
        if let Some(lengths) = lengths_of(&mut self.lengths, &alternative.word) {
            *lengths |= length_bit(&alternative.word);
        }
        let terms = self.alternatives.entry(alternative.word.clone()).or_default();
        match terms.iter_mut().find(|(other, _)| *other == number) {
            Some((_, known)) => *known = known.max(quality),
            None => terms.push((number, quality)),
        }
    }

    pub(crate) fn hits(&self, text: &str) -> Hits {
        let mut found = Hits::default();
        each_token(text, |token| {
            found.length = token.position.saturating_add(1);
            let first = token.folded.as_bytes().first().copied().unwrap_or_default();
            let lengths = self.lengths.get(usize::from(first)).copied().unwrap_or_default();
            if lengths & length_bit(token.folded) == 0 {
                return;
            }
            for &(word, quality) in self.alternatives.get(token.folded).into_iter().flatten() {
                found.words |= 1 << word;
                let (position, start, end) = (token.position, token.start, token.end);
                found.hits.push(Hit { word, quality, position, start, end });
            }
        });
        found
    }

    /// The matches of the words that are not optional in a text.
    fn needed_hits(&self, text: &str) -> Hits {
        let mut found = self.hits(text);
        found.words &= self.needed();
        found.hits.retain(|hit| found.words >> hit.word & 1 == 1);
        found
    }

    /// The words that are not optional, as a bit set.
    fn needed(&self) -> u64 {
        let needed = self.terms.iter().enumerate().filter(|(_, term)| !term.optional);
        needed.fold(0, |bits, (number, _)| bits | 1 << number)
    }

    /// Scores the texts of an image; `None` if they contain none of the words that are not optional.
    pub fn score(&self, fields: &Fields<'_>) -> Option<Score> {
        let found = fields.in_order().map(|text| text.map(|text| self.hits(text)).unwrap_or_default());
        let content = found.iter().take(CONTENT_FIELDS).fold(0, |words, field| words | field.words);
        let anywhere = found.iter().fold(0, |words, field| words | field.words);
        let tier = self.tier(content, anywhere)?;
        let mut best = vec![0.0_f64; self.terms.len()];
        for (field, weight) in found.iter().zip(FIELD_WEIGHTS) {
            for hit in &field.hits {
                if let Some(best) = best.get_mut(hit.word) {
                    *best = best.max(f64::from(hit.quality) * weight);
                }
            }
        }
        let matched: f64 = self.terms.iter().zip(&best).map(|(term, best)| term.weight * best).sum();
        let coverage = matched / self.weight;
        let fullest = found.iter().rev().max_by_key(|field| field.words.count_ones())?;
        let matching = self.terms.iter().zip(&best).filter(|(_, best)| **best > 0.0);
        let rarity = matching.map(|(term, _)| term.rarity).fold(0.0, f64::max);
        let parts = [1.0, self.proximity(fullest), brevity(fullest.length), (rarity / 9.0).min(1.0)];
        let quality: f64 = parts.iter().zip(SHARES).map(|(part, share)| part * share).sum();
        Some(Score { tier, strength: (coverage * quality).clamp(f64::MIN_POSITIVE, 1.0) })
    }

    fn tier(&self, content: u64, anywhere: u64) -> Option<Tier> {
        let needed = self.needed();
        if needed & anywhere == 0 {
            None
        } else if needed & content == needed {
            Some(Tier::AllInContent)
        } else if needed & anywhere == needed {
            Some(Tier::AllAnywhere)
        } else if needed & content != 0 {
            Some(Tier::SomeInContent)
        } else {
            Some(Tier::SomeAnywhere)
        }
    }

    /// How close to each other the words are in a field: 1 if all words are adjacent and in the query's order.
    fn proximity(&self, field: &Hits) -> f64 {
        let words = self.terms.len();
        if words < 2 {
            return 1.0;
        }
        let Some((first, last)) = smallest_window(field) else { return 0.0 };
        let window = field.hits.get(first..=last).unwrap_or_default();
        let distinct = f64::from(field.words.count_ones());
        if distinct < 2.0 {
            return 0.0;
        }
        let ends = window.first().zip(window.last());
        let span = ends.map_or(0, |(first, last)| last.position.saturating_sub(first.position));
        let tight = ((distinct - 1.0) / f64::from(span).max(1.0)).min(1.0);
        let in_order = window.is_sorted_by_key(|hit| hit.word);
        let share = distinct / f64::from(u32::try_from(words).unwrap_or(u32::MAX));
        share * tight * if in_order { 1.0 } else { 0.85 }
    }

    /// The part of the description or the OCR text that matches, in its original spelling, with `…` where it was cut; a
    /// short text is returned whole. `None` if neither contains any of the words that are not optional.
    pub fn passage(&self, fields: &Fields<'_>) -> Option<String> {
        let (text, hits) = self.fullest([fields.description, fields.ocr_text])?;
        let (first, last) = smallest_window(&hits)?;
        Some(passage::cut(text, hits.hits.get(first..=last)?))
    }

    /// The place, the keywords or the file name, whichever contains most of the words. `None` if none contains any of the
    /// words that are not optional.
    pub fn context<'a>(&self, fields: &Fields<'a>) -> Option<&'a str> {
        Some(self.fullest([fields.place, fields.keywords, fields.file_name])?.0)
    }

    /// The text that contains the most words that are not optional, with its matches. If several contain equally many,
    /// the first of them. `None` if no text has any of them.
    fn fullest<'a, const N: usize>(&self, texts: [Option<&'a str>; N]) -> Option<(&'a str, Hits)> {
        let with_hits = texts.into_iter().flatten().map(|text| (text, self.needed_hits(text)));
        let found = with_hits.filter(|(_, hits)| hits.words != 0);
        found.rev().max_by_key(|(_, hits)| hits.words.count_ones())
    }
}

fn lengths_of<'a>(lengths: &'a mut [u64; 256], word: &str) -> Option<&'a mut u64> {
    lengths.get_mut(usize::from(*word.as_bytes().first()?))
}

fn length_bit(word: &str) -> u64 {
    1 << word.len().min(63)
}

/// From 1 for a short text towards 0 for a long one.
fn brevity(words: u32) -> f64 {
    1.0 / (1.0 + (1.0 + f64::from(words) / 12.0).ln() / 2.0)
}

/// The first and last hit of the smallest window that contains all matching words of a field.
fn smallest_window(field: &Hits) -> Option<(usize, usize)> {
    let mut counts = [0_u32; 64];
    let mut missing = field.words.count_ones();
    let mut first = 0;
    let mut best: Option<(u32, usize, usize)> = None;
    for (last, hit) in field.hits.iter().enumerate() {
        let count = counts.get_mut(hit.word)?;
        missing -= u32::from(*count == 0);
        *count += 1;
        while missing == 0 {
            let begin = field.hits.get(first)?;
            let span = hit.position.saturating_sub(begin.position);
            if best.is_none_or(|(known, _, _)| span < known) {
                best = Some((span, first, last));
            }
            let count = counts.get_mut(begin.word)?;
            *count -= 1;
            missing += u32::from(*count == 0);
            first += 1;
        }
    }
    best.map(|(_, first, last)| (first, last))
}
