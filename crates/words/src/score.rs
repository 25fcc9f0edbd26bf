//! How well a text matches a query.

use std::collections::HashMap;

use crate::{
    fields::{CONTENT_FIELDS, Fields},
    passage,
    query::QueryWord,
    tokens::each_token,
};

/// A stored word that may stand for a word of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The stored word, folded.
    pub word: String,
    /// How much it counts, above 0 and at most 1.
    pub quality: f32,
}

/// A word of a query and what may stand for it in texts.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The word.
    pub word: QueryWord,
    /// What may stand for it; nothing when no text has it.
    pub alternatives: Vec<Alternative>,
    /// The share of the texts in which one of them stands, above 0 and at most 1: rare words weigh more.
    pub document_frequency: f64,
}

/// How well words match, best first. Only words that are not optional count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Every word stands in the description or the OCR text.
    AllInContent,
    /// Every word stands somewhere, counting place and file name.
    AllAnywhere,
    /// Some word stands in the description or the OCR text.
    SomeInContent,
    /// Some word stands somewhere.
    SomeAnywhere,
}

/// How well a text matches a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Which of the words stand where.
    pub tier: Tier,
    /// How well they do, above 0 and at most 1. It can be compared between queries.
    pub strength: f64,
}

/// A word of the query that stands in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) word: usize,
    quality: f32,
    pub(crate) position: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What of a query stands in one field.
#[derive(Default)]
pub(crate) struct Hits {
    pub(crate) hits: Vec<Hit>,
    /// How many words the field has.
    pub(crate) length: u32,
    /// Which words stand in it, a bit for each.
    pub(crate) words: u64,
}

struct Asked {
    optional: bool,
    weight: f64,
    rarity: f64,
}

/// A query that texts are scored by.
pub struct Scorer {
    asked: Vec<Asked>,
    weight: f64,
    /// The words of the query that an alternative stands for, and how well.
    alternatives: HashMap<String, Vec<(usize, f32)>>,
    /// By their first byte, the lengths that alternatives have, a bit for each: most words of a text are told not to be
    /// among them by this alone.
    lengths: [u64; 256],
}

/// What a word counts that says little.
const OPTIONAL_WEIGHT: f64 = 0.15;

/// What the fields count: description, OCR text, place, file name.
const FIELD_WEIGHTS: [f64; 4] = [1.0, 0.97, 0.85, 0.75];

/// What of the strength each of these makes up: that the words stand there at all, that they stand together, that
/// little else is said, and that they are rare.
const SHARES: [f64; 4] = [0.55, 0.22, 0.13, 0.10];

impl Scorer {
    /// Takes a query's words; 64 of them at most count.
    pub fn new(wanted: &[QueryTerm]) -> Self {
        let mut search =
            Self { asked: Vec::new(), weight: 0.0, alternatives: HashMap::new(), lengths: [0; 256] };
        for (number, wanted) in wanted.iter().take(64).enumerate() {
            let share =
                if wanted.document_frequency > 0.0 { wanted.document_frequency.min(1.0) } else { 1.0 };
            let rarity = (1.0 + 1.0 / share).ln();
            let weight = rarity * if wanted.word.optional { OPTIONAL_WEIGHT } else { 1.0 };
            search.asked.push(Asked { optional: wanted.word.optional, weight, rarity });
            search.weight += weight;
            for alternative in &wanted.alternatives {
                search.add(number, alternative);
            }
        }
        search
    }

    fn add(&mut self, number: usize, alternative: &Alternative) {
        let quality = if alternative.quality > 0.0 { alternative.quality.min(1.0) } else { return };
        if let Some(lengths) = lengths_of(&mut self.lengths, &alternative.word) {
            *lengths |= length_bit(&alternative.word);
        }
        let stands_for = self.alternatives.entry(alternative.word.clone()).or_default();
        match stands_for.iter_mut().find(|(other, _)| *other == number) {
            Some((_, known)) => *known = known.max(quality),
            None => stands_for.push((number, quality)),
        }
    }

    /// What of the query stands in a text.
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

    /// What of the query stands in a text, without the words that say little: they stand everywhere.
    fn needed_hits(&self, text: &str) -> Hits {
        let mut found = self.hits(text);
        found.words &= self.needed();
        found.hits.retain(|hit| found.words >> hit.word & 1 == 1);
        found
    }

    /// The words that are not optional, a bit for each.
    fn needed(&self) -> u64 {
        let needed = self.asked.iter().enumerate().filter(|(_, asked)| !asked.optional);
        needed.fold(0, |bits, (number, _)| bits | 1 << number)
    }

    /// How well what is written about an image matches; `None` when no word stands there but optional ones.
    pub fn score(&self, fields: &Fields<'_>) -> Option<Score> {
        let found = fields.in_order().map(|text| text.map(|text| self.hits(text)).unwrap_or_default());
        let content = found.iter().take(CONTENT_FIELDS).fold(0, |words, field| words | field.words);
        let anywhere = found.iter().fold(0, |words, field| words | field.words);
        let tier = self.tier(content, anywhere)?;
        let mut best = vec![0.0_f64; self.asked.len()];
        for (field, weight) in found.iter().zip(FIELD_WEIGHTS) {
            for hit in &field.hits {
                if let Some(best) = best.get_mut(hit.word) {
                    *best = best.max(f64::from(hit.quality) * weight);
                }
            }
        }
        let matched: f64 = self.asked.iter().zip(&best).map(|(asked, best)| asked.weight * best).sum();
        let coverage = matched / self.weight;
        let fullest = found.iter().rev().max_by_key(|field| field.words.count_ones())?;
        let rarest = self.asked.iter().zip(&best).filter(|(_, best)| **best > 0.0);
        let rarity = rarest.map(|(asked, _)| asked.rarity).fold(0.0, f64::max);
        let parts = [1.0, self.nearness(fullest), brevity(fullest.length), (rarity / 9.0).min(1.0)];
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

    /// How near to each other a field's words stand and whether in the query's order: 1 when they are all and follow
    /// one another as in the query.
    fn nearness(&self, field: &Hits) -> f64 {
        let words = self.asked.len();
        if words < 2 {
            return 1.0;
        }
        let Some((first, last)) = closest(field) else { return 0.0 };
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

    /// The part of the description or of the OCR text in which the query's words stand, in its own spelling, with `…`
    /// where it was cut; all of it when it is short. `None` when neither has any of them but optional ones.
    pub fn passage(&self, fields: &Fields<'_>) -> Option<String> {
        let mut best: Option<(&str, Hits)> = None;
        for text in [fields.description, fields.ocr_text].into_iter().flatten() {
            let hits = self.needed_hits(text);
            let more = best.as_ref().map_or(0, |(_, best)| best.words.count_ones());
            if hits.words.count_ones() > more {
                best = Some((text, hits));
            }
        }
        let (text, hits) = best?;
        let (first, last) = closest(&hits)?;
        Some(passage::cut(text, hits.hits.get(first..=last)?))
    }
}

fn lengths_of<'a>(lengths: &'a mut [u64; 256], word: &str) -> Option<&'a mut u64> {
    lengths.get_mut(usize::from(*word.as_bytes().first()?))
}

fn length_bit(word: &str) -> u64 {
    1 << word.len().min(63)
}

/// A short text says the same with more weight.
fn brevity(words: u32) -> f64 {
    1.0 / (1.0 + (1.0 + f64::from(words) / 12.0).ln() / 2.0)
}

/// The first and the last of the hits of the shortest part that has all of a field's words.
fn closest(field: &Hits) -> Option<(usize, usize)> {
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
