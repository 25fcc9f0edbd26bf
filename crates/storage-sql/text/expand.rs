//! Expands the words of a query to words of an account's vocabulary.

use std::collections::{HashMap, HashSet};

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use words::{
    Alternative, EXACT, PREFIX, QueryTerm, QueryWord, SAME_STEM, Stems, TYPO, can_have_typos, is_typo_of,
    plural_keys, single_edits, typo_prefix,
};

use super::vocabulary::VocabularyWord;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{statement, value::json_text},
};

/// Maximum number of alternatives for all words of a query together. Each word gets an equal share, within these
/// limits.
const MAX_ALTERNATIVES: usize = 96;
const MAX_PER_WORD: usize = 24;
const MIN_PER_WORD: usize = 3;

/// Maximum number of query words whose typos are corrected.
const MAX_CORRECTED_WORDS: usize = 4;

/// Maximum number of vocabulary words that are read by a stem or a prefix.
const MAX_SCANNED_WORDS: i64 = 1024;

/// Maximum number of vocabulary words that are read because they share a prefix with a word within edit distance 2.
/// Most of them are excluded by their length.
const MAX_TYPO_CANDIDATES: i64 = 4096;

/// A word of a query with its alternatives in the vocabulary.
pub(super) struct ExpandedWord {
    pub(super) word: QueryWord,
    /// The words that match it and their qualities, best first.
    alternatives: Vec<(VocabularyWord, f32)>,
}

impl ExpandedWord {
    /// A word that is in this many images. The number is also its id.
    #[cfg(test)]
    pub(super) fn of(word: QueryWord, images: i64) -> Self {
        // Words with an odd id are also in some place or file name.
        let known = VocabularyWord { id: images, word: word.word.clone(), images, context: images % 2 };
        Self { word, alternatives: (images > 0).then_some((known, EXACT)).into_iter().collect() }
    }

    /// Adds an alternative.
    #[cfg(test)]
    pub(super) fn or(mut self, images: i64, quality: f32) -> Self {
        let known = VocabularyWord { id: images, word: images.to_string(), images, context: images % 2 };
        self.alternatives.push((known, quality));
        self
    }

    /// The ids of the alternatives with at least this quality, or of all if none has it; and whether each is in any
    /// place or file name.
    pub(super) fn ids(&self, min_quality: f32) -> impl Iterator<Item = (i64, bool)> + '_ {
        let suffices = move |quality: f32| quality >= min_quality;
        let any = self.alternatives.iter().any(|(_, quality)| suffices(*quality));
        let alternatives = self.alternatives.iter().filter(move |(_, quality)| !any || suffices(*quality));
        alternatives.map(|(known, _)| (known.id, known.context > 0))
    }

    /// The ids and qualities of the alternatives.
    pub(super) fn qualities(&self) -> impl Iterator<Item = (i64, f32)> + '_ {
        self.alternatives.iter().map(|(known, quality)| (known.id, *quality))
    }

    pub(super) fn is_known(&self) -> bool {
        !self.alternatives.is_empty()
    }

    /// An upper bound on the number of images that have any of the alternatives.
    pub(super) fn images(&self) -> i64 {
        self.alternatives.iter().fold(0, |sum, (known, _)| sum.saturating_add(known.images))
    }

    /// The term for the scorer, in a library of this many images.
    pub(super) fn term(&self, total: i64) -> QueryTerm {
        let alternative = |(known, quality): &(VocabularyWord, f32)| Alternative {
            word: known.word.clone(),
            quality: *quality,
        };
        let total = total.max(1);
        let images = self.images().clamp(1, total);
        QueryTerm {
            word: self.word.clone(),
            alternatives: self.alternatives.iter().map(alternative).collect(),
            document_frequency: count(images) / count(total),
        }
    }
}

fn count(number: i64) -> f64 {
    i32::try_from(number).map_or(f64::from(i32::MAX), f64::from)
}

/// Looks up the alternatives for each word of a query. With `content_only`, place and file name are ignored.
pub(super) fn expand(
    c: &mut SqlConnection,
    account: i64,
    query: Vec<QueryWord>,
    content_only: bool,
) -> Result<Vec<ExpandedWord>, SqlError> {
    let max = (MAX_ALTERNATIVES / query.len().max(1)).clamp(MIN_PER_WORD, MAX_PER_WORD);
    let forms = WordForms::look_up(c, account, &query)?;
    let mut expanded = Vec::with_capacity(query.len());
    let mut corrected = 0;
    for word in query {
        let mut alternatives = forms.of(&word);
        if word.is_prefix {
            alternatives.extend(words_with_prefix(c, account, &word.word)?);
        }
        let correctable = word.is_word && !word.optional && can_have_typos(&word.word);
        // With `content_only`, a word that is only in places or file names does not count as known.
        let is_known = alternatives.iter().any(|(known, _)| !content_only || known.images > known.context);
        if !is_known && correctable && corrected < MAX_CORRECTED_WORDS {
            corrected += 1;
            alternatives.extend(typo_corrections(c, account, &word.word)?);
        }
        expanded.push(ExpandedWord { word, alternatives: best(alternatives, max) });
    }
    Ok(expanded)
}

/// The best alternatives, each once, by quality and then by number of images.
fn best(mut alternatives: Vec<(VocabularyWord, f32)>, max: usize) -> Vec<(VocabularyWord, f32)> {
    alternatives.sort_by(|(a, quality), (b, other)| {
        other.total_cmp(quality).then(b.images.cmp(&a.images)).then(a.id.cmp(&b.id))
    });
    let mut seen = HashSet::new();
    alternatives.retain(|(known, _)| seen.insert(known.id));
    alternatives.truncate(max);
    alternatives
}

/// The vocabulary words that equal words of a query or are inflections of them.
struct WordForms {
    by_word: HashMap<String, VocabularyWord>,
    by_stem: HashMap<String, Vec<VocabularyWord>>,
    stems: HashMap<String, Stems>,
}

impl WordForms {
    fn look_up(c: &mut SqlConnection, account: i64, query: &[QueryWord]) -> Result<Self, SqlError> {
        let mut words = HashSet::new();
        let mut stems = HashSet::new();
        let mut stems_of_words = HashMap::new();
        for term in query {
            words.insert(term.word.clone());
            if term.is_word {
                let stems_of_word = Stems::new(&term.word);
                let keys = stems_of_word.keys();
                words.extend(keys.iter().cloned().chain(plural_keys(&term.word)));
                stems.extend(keys.into_iter().chain([term.word.clone()]));
                stems_of_words.insert(term.word.clone(), stems_of_word);
            }
        }
        let by_word =
            words_by_text(c, account, words)?.into_iter().map(|known| (known.word.clone(), known)).collect();
        let mut by_stem: HashMap<String, Vec<VocabularyWord>> = HashMap::new();
        for found in words_by_stem(c, account, stems)? {
            let StemRow { id, word, images, context, stem } = found;
            by_stem.entry(stem).or_default().push(VocabularyWord { id, word, images, context });
        }
        Ok(Self { by_word, by_stem, stems: stems_of_words })
    }

    /// The word itself and its other inflections.
    fn of(&self, term: &QueryWord) -> Vec<(VocabularyWord, f32)> {
        let exact = self.by_word.get(&term.word).map(|known| (known.clone(), EXACT));
        let Some(stems) = self.stems.get(&term.word) else { return exact.into_iter().collect() };
        let keys = stems.keys();
        let with_stem = keys.iter().chain([&term.word]).filter_map(|key| self.by_stem.get(key)).flatten();
        let equal_to_key = plural_keys(&term.word).into_iter().chain(keys.iter().cloned());
        let equal_to_key = equal_to_key.filter_map(|key| self.by_word.get(&key));
        let mut seen = HashSet::new();
        let inflections = with_stem
            .chain(equal_to_key)
            .filter(|known| known.word != term.word && seen.insert(known.id))
            .filter(|known| stems.matches(&known.word))
            .map(|known| (known.clone(), SAME_STEM));
        inflections.chain(exact).collect()
    }
}

fn words_by_text(
    c: &mut SqlConnection,
    account: i64,
    words: impl IntoIterator<Item = String>,
) -> Result<Vec<VocabularyWord>, SqlError> {
    let words: Vec<String> = words.into_iter().collect();
    Ok(statement(concat!(
        "SELECT w.id, w.word, w.images, w.context FROM ",
        strings!("$1"),
        " AS term ",
        join_after!("words", "w", "w.account_id = $2 AND w.word = term.value")
    ))
    .bind::<Text, _>(json_text(&words))
    .bind::<BigInt, _>(account)
    .load(c)?)
}

#[derive(QueryableByName)]
struct StemRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    word: String,
    #[diesel(sql_type = BigInt)]
    images: i64,
    #[diesel(sql_type = BigInt)]
    context: i64,
    #[diesel(sql_type = Text)]
    stem: String,
}

fn words_by_stem(
    c: &mut SqlConnection,
    account: i64,
    stems: HashSet<String>,
) -> Result<Vec<StemRow>, SqlError> {
    if stems.is_empty() {
        return Ok(Vec::new());
    }
    let stems: Vec<String> = stems.into_iter().collect();
    Ok(statement(concat!(
        "SELECT w.id, w.word, w.images, w.context, s.stem FROM ",
        strings!("$1"),
        " AS term ",
        join_after!("word_stems", "s", "s.account_id = $2 AND s.stem = term.value"),
        " ",
        join_after!("words", "w", "w.id = s.word_id"),
        " ORDER BY s.stem, s.word_id LIMIT $3"
    ))
    .bind::<Text, _>(json_text(&stems))
    .bind::<BigInt, _>(account)
    .bind::<BigInt, _>(MAX_SCANNED_WORDS)
    .load(c)?)
}

/// Words with a prefix, common ones first. The fewer characters they add, the higher their quality.
fn words_with_prefix(
    c: &mut SqlConnection,
    account: i64,
    prefix: &str,
) -> Result<Vec<(VocabularyWord, f32)>, SqlError> {
    let (first, end) = prefix_range(prefix);
    let max = i64::try_from(MAX_PER_WORD).unwrap_or(i64::MAX);
    let mut found: Vec<VocabularyWord> = Vec::new();
    // A short prefix may have more words than are read, so the common ones are read first.
    for query in [COMMON_WORDS_WITH_PREFIX, WORDS_WITH_PREFIX] {
        found.extend(
            statement(query)
                .bind::<BigInt, _>(account)
                .bind::<Text, _>(first)
                .bind::<Text, _>(&end)
                .bind::<BigInt, _>(MAX_SCANNED_WORDS)
                .bind::<BigInt, _>(max)
                .load::<VocabularyWord>(c)?,
        );
    }
    let length = prefix.chars().count();
    let quality = |known: &VocabularyWord| {
        let share = f64::from(u32::try_from(length).unwrap_or(1))
            / f64::from(u32::try_from(known.word.chars().count()).unwrap_or(1)).max(1.0);
        PREFIX * to_f32(share.sqrt().min(1.0))
    };
    let longer = found.into_iter().filter(|known| known.word != prefix);
    Ok(longer.map(|known| (known.clone(), quality(&known))).collect())
}

/// Single precision is enough for a quality.
#[expect(clippy::cast_possible_truncation, reason = "the value is from 0 to 1")]
fn to_f32(share: f64) -> f32 {
    share as f32
}

const COMMON_WORDS_WITH_PREFIX: &str = concat!(
    "SELECT id, word, images, context FROM (
    SELECT id, word, images, context FROM words ",
    by_index!("words_common"),
    "
    WHERE account_id = $1 AND word >= $2 AND word < $3 AND images >= 16 ORDER BY word LIMIT $4
) AS common ORDER BY images DESC LIMIT $5"
);

const WORDS_WITH_PREFIX: &str = "
SELECT id, word, images, context FROM (
    SELECT id, word, images, context FROM words WHERE account_id = $1 AND word >= $2 AND word < $3 ORDER BY word LIMIT $4
) AS longer ORDER BY images DESC LIMIT $5";

/// The range of words with a prefix: from the first value, to below the second.
fn prefix_range(prefix: &str) -> (&str, String) {
    (prefix, format!("{prefix}{}", char::MAX))
}

/// Corrections of a typo: words within edit distance 1, or if there are none and the word is long, within 2.
fn typo_corrections(
    c: &mut SqlConnection,
    account: i64,
    word: &str,
) -> Result<Vec<(VocabularyWord, f32)>, SqlError> {
    let mut found = words_by_text(c, account, single_edits(word))?;
    if found.is_empty()
        && let Some(prefix) = typo_prefix(word)
    {
        let (first, end) = prefix_range(prefix);
        let length = i64::try_from(word.chars().count()).unwrap_or(i64::MAX);
        found = statement(
            "SELECT id, word, images, context FROM words WHERE id IN (
                SELECT id FROM (
                    SELECT id, word FROM words WHERE account_id = $1 AND word >= $2 AND word < $3 ORDER BY word LIMIT $4
                ) AS longer WHERE length(word) BETWEEN $5 AND $6
            )",
        )
        .bind::<BigInt, _>(account)
        .bind::<Text, _>(first)
        .bind::<Text, _>(&end)
        .bind::<BigInt, _>(MAX_TYPO_CANDIDATES)
        .bind::<BigInt, _>(length.saturating_sub(2))
        .bind::<BigInt, _>(length.saturating_add(2))
        .load(c)?;
        found.retain(|known| is_typo_of(word, &known.word));
    }
    // A typo of a word also matches the inflections of that word.
    let corrections: Vec<QueryWord> = found
        .iter()
        .map(|known| QueryWord { word: known.word.clone(), is_word: true, optional: false, is_prefix: false })
        .take(MIN_PER_WORD)
        .collect();
    let forms = WordForms::look_up(c, account, &corrections)?;
    let inflections =
        corrections.iter().flat_map(|word| forms.of(word)).map(|(known, quality)| (known, quality * TYPO));
    let found = found.iter().map(|known| (known.clone(), TYPO));
    Ok(found.chain(inflections).collect())
}
