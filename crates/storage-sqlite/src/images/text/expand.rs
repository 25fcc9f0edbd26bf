//! Which words of an account's vocabulary may stand for the words of a query.

use std::collections::{HashMap, HashSet};

use diesel::{
    QueryableByName, SqliteConnection,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use words::{
    Alternative, EXACT, PREFIX, QueryTerm, QueryWord, SAME_STEM, Stems, TYPO, can_have_typos, is_typo_of,
    plural_keys, single_edits, typo_prefix,
};

use super::vocabulary::VocabularyWord;
use crate::{error::SqliteError, value::json_text};

/// The most words that stand for all words of a query together, and for each of them: the more words a query has, the
/// fewer for each.
const MAX_ALTERNATIVES: usize = 96;
const MAX_PER_WORD: usize = 24;
const MIN_PER_WORD: usize = 3;

/// The most words of a query whose slips are forgiven.
const MAX_CORRECTED_WORDS: usize = 4;

/// The most words that are looked at because they have a stem or a beginning.
const MAX_SCANNED_WORDS: i64 = 1024;

/// The most words that are looked at because they begin as one does in which two slips are looked for. Most of them are
/// with_hint by their length.
const MAX_TYPO_CANDIDATES: i64 = 4096;

/// A word of a query and what stands for it in the account's texts.
pub(super) struct ExpandedWord {
    pub(super) word: QueryWord,
    /// What stands for it, best first.
    alternatives: Vec<(VocabularyWord, f32)>,
}

impl ExpandedWord {
    /// A word that so many images have, and which has the same number.
    #[cfg(test)]
    pub(super) fn of(word: QueryWord, images: i64) -> Self {
        // Those that are odd stand in some context.
        let known = VocabularyWord { id: images, word: word.word.clone(), images, context: images % 2 };
        Self { word, alternatives: (images > 0).then_some((known, EXACT)).into_iter().collect() }
    }

    /// With one more that stands for it.
    #[cfg(test)]
    pub(super) fn or(mut self, images: i64, quality: f32) -> Self {
        let known = VocabularyWord { id: images, word: images.to_string(), images, context: images % 2 };
        self.alternatives.push((known, quality));
        self
    }

    /// The numbers of the alternatives that count so much at least, or of all when none does; and whether they stand in
    /// any place or file name.
    pub(super) fn numbers(&self, least: f32) -> impl Iterator<Item = (i64, bool)> + '_ {
        let counts = move |quality: f32| quality >= least;
        let any = self.alternatives.iter().any(|(_, quality)| counts(*quality));
        let alternatives = self.alternatives.iter().filter(move |(_, quality)| !any || counts(*quality));
        alternatives.map(|(known, _)| (known.id, known.context > 0))
    }

    /// The numbers of the alternatives, and how much they count.
    pub(super) fn qualities(&self) -> impl Iterator<Item = (i64, f32)> + '_ {
        self.alternatives.iter().map(|(known, quality)| (known.id, *quality))
    }

    pub(super) fn is_known(&self) -> bool {
        !self.alternatives.is_empty()
    }

    /// How many images have any of the alternatives, at most.
    pub(super) fn images(&self) -> i64 {
        self.alternatives.iter().fold(0, |sum, (known, _)| sum.saturating_add(known.images))
    }

    /// What the scorer has to know, in a library of so many images.
    pub(super) fn wanted(&self, of: i64) -> QueryTerm {
        let alternative = |(known, quality): &(VocabularyWord, f32)| Alternative {
            word: known.word.clone(),
            quality: *quality,
        };
        let of = of.max(1);
        let images = self.images().clamp(1, of);
        QueryTerm {
            word: self.word.clone(),
            alternatives: self.alternatives.iter().map(alternative).collect(),
            document_frequency: count(images) / count(of),
        }
    }
}

fn count(number: i64) -> f64 {
    i32::try_from(number).map_or(f64::from(i32::MAX), f64::from)
}

/// Looks up what may stand for each word of a query. With `content_only` place and file name do not count.
pub(super) fn expand(
    c: &mut SqliteConnection,
    account: i64,
    query: Vec<QueryWord>,
    content_only: bool,
) -> Result<Vec<ExpandedWord>, SqliteError> {
    let most = (MAX_ALTERNATIVES / query.len().max(1)).clamp(MIN_PER_WORD, MAX_PER_WORD);
    let forms = WordForms::look_up(c, account, &query)?;
    let mut expanded = Vec::with_capacity(query.len());
    let mut corrected = 0;
    for word in query {
        let mut alternatives = forms.of(&word);
        if word.is_prefix {
            alternatives.extend(words_with_prefix(c, account, &word.word)?);
        }
        let worth_it = word.is_word && !word.optional && can_have_typos(&word.word);
        // A word that may stand in file names alone is none where these do not count.
        let is_known = alternatives.iter().any(|(known, _)| !content_only || known.images > known.context);
        if !is_known && worth_it && corrected < MAX_CORRECTED_WORDS {
            corrected += 1;
            alternatives.extend(typo_corrections(c, account, &word.word)?);
        }
        expanded.push(ExpandedWord { word, alternatives: best(alternatives, most) });
    }
    Ok(expanded)
}

/// The best of alternatives, each once: those that count most, of those the commonest.
fn best(mut alternatives: Vec<(VocabularyWord, f32)>, most: usize) -> Vec<(VocabularyWord, f32)> {
    alternatives.sort_by(|(a, quality), (b, other)| {
        other.total_cmp(quality).then(b.images.cmp(&a.images)).then(a.id.cmp(&b.id))
    });
    let mut met = HashSet::new();
    alternatives.retain(|(known, _)| met.insert(known.id));
    alternatives.truncate(most);
    alternatives
}

/// The words of a query themselves and their other forms.
struct WordForms {
    by_word: HashMap<String, VocabularyWord>,
    by_stem: HashMap<String, Vec<VocabularyWord>>,
    stems: HashMap<String, Stems>,
}

impl WordForms {
    fn look_up(c: &mut SqliteConnection, account: i64, query: &[QueryWord]) -> Result<Self, SqliteError> {
        let mut words = HashSet::new();
        let mut stems = HashSet::new();
        let mut of_words = HashMap::new();
        for asked in query {
            words.insert(asked.word.clone());
            if asked.is_word {
                let of_word = Stems::new(&asked.word);
                let keys = of_word.keys();
                words.extend(keys.iter().cloned().chain(plural_keys(&asked.word)));
                stems.extend(keys.into_iter().chain([asked.word.clone()]));
                of_words.insert(asked.word.clone(), of_word);
            }
        }
        let by_word =
            words_by_text(c, account, words)?.into_iter().map(|known| (known.word.clone(), known)).collect();
        let mut by_stem: HashMap<String, Vec<VocabularyWord>> = HashMap::new();
        for found in words_by_stem(c, account, stems)? {
            let StemRow { id, word, images, context, stem } = found;
            by_stem.entry(stem).or_default().push(VocabularyWord { id, word, images, context });
        }
        Ok(Self { by_word, by_stem, stems: of_words })
    }

    /// The word itself and the other forms of it.
    fn of(&self, asked: &QueryWord) -> Vec<(VocabularyWord, f32)> {
        let itself = self.by_word.get(&asked.word).map(|known| (known.clone(), EXACT));
        let Some(stems) = self.stems.get(&asked.word) else { return itself.into_iter().collect() };
        let keys = stems.keys();
        let is_key = keys.iter().chain([&asked.word]).filter_map(|key| self.by_stem.get(key)).flatten();
        let has_key = plural_keys(&asked.word).into_iter().chain(keys.iter().cloned());
        let has_key = has_key.filter_map(|key| self.by_word.get(&key));
        let mut met = HashSet::new();
        let forms = is_key
            .chain(has_key)
            .filter(|known| known.word != asked.word && met.insert(known.id))
            .filter(|known| stems.matches(&known.word))
            .map(|known| (known.clone(), SAME_STEM));
        forms.chain(itself).collect()
    }
}

fn words_by_text(
    c: &mut SqliteConnection,
    account: i64,
    words: impl IntoIterator<Item = String>,
) -> Result<Vec<VocabularyWord>, SqliteError> {
    let words: Vec<String> = words.into_iter().collect();
    Ok(sql_query(
        "SELECT w.id, w.word, w.images, w.context
        FROM json_each(?1) AS asked CROSS JOIN words AS w ON w.account_id = ?2 AND w.word = asked.value",
    )
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
    c: &mut SqliteConnection,
    account: i64,
    stems: HashSet<String>,
) -> Result<Vec<StemRow>, SqliteError> {
    if stems.is_empty() {
        return Ok(Vec::new());
    }
    let stems: Vec<String> = stems.into_iter().collect();
    Ok(sql_query(
        "SELECT w.id, w.word, w.images, w.context, s.stem
        FROM json_each(?1) AS asked
            CROSS JOIN word_stems AS s ON s.account_id = ?2 AND s.stem = asked.value
            CROSS JOIN words AS w ON w.id = s.word_id
        LIMIT ?3",
    )
    .bind::<Text, _>(json_text(&stems))
    .bind::<BigInt, _>(account)
    .bind::<BigInt, _>(MAX_SCANNED_WORDS)
    .load(c)?)
}

/// Words that begin with one, common ones first. The less is added, the more they count.
fn words_with_prefix(
    c: &mut SqliteConnection,
    account: i64,
    start: &str,
) -> Result<Vec<(VocabularyWord, f32)>, SqliteError> {
    let (first, end) = prefix_range(start);
    let most = i64::try_from(MAX_PER_WORD).unwrap_or(i64::MAX);
    let mut found: Vec<VocabularyWord> = Vec::new();
    // Of a short beginning there may be more words than are looked at: then the common ones are.
    for query in [COMMON_WORDS_WITH_PREFIX, WORDS_WITH_PREFIX] {
        found.extend(
            sql_query(query)
                .bind::<BigInt, _>(account)
                .bind::<Text, _>(first)
                .bind::<Text, _>(&end)
                .bind::<BigInt, _>(MAX_SCANNED_WORDS)
                .bind::<BigInt, _>(most)
                .load::<VocabularyWord>(c)?,
        );
    }
    let length = start.chars().count();
    let quality = |known: &VocabularyWord| {
        let share = f64::from(u32::try_from(length).unwrap_or(1))
            / f64::from(u32::try_from(known.word.chars().count()).unwrap_or(1)).max(1.0);
        PREFIX * to_f32(share.sqrt().min(1.0))
    };
    let longer = found.into_iter().filter(|known| known.word != start);
    Ok(longer.map(|known| (known.clone(), quality(&known))).collect())
}

/// Half the precision is plenty for a quality.
#[expect(clippy::cast_possible_truncation, reason = "a share of 1 has no magnitude to lose")]
fn to_f32(share: f64) -> f32 {
    share as f32
}

const COMMON_WORDS_WITH_PREFIX: &str = "
SELECT id, word, images, context FROM (
    SELECT id, word, images, context FROM words INDEXED BY words_common
    WHERE account_id = ? AND word >= ? AND word < ? AND images >= 16 LIMIT ?
) ORDER BY images DESC LIMIT ?";

const WORDS_WITH_PREFIX: &str = "
SELECT id, word, images, context FROM (
    SELECT id, word, images, context FROM words WHERE account_id = ? AND word >= ? AND word < ? LIMIT ?
) ORDER BY images DESC LIMIT ?";

/// All words that begin so lie from the first to below the second.
fn prefix_range(start: &str) -> (&str, String) {
    (start, format!("{start}{}", char::MAX))
}

/// The words that one may be a slip of: those one slip away, or if there are none and it is long, two slips.
fn typo_corrections(
    c: &mut SqliteConnection,
    account: i64,
    word: &str,
) -> Result<Vec<(VocabularyWord, f32)>, SqliteError> {
    let mut found = words_by_text(c, account, single_edits(word))?;
    if found.is_empty()
        && let Some(start) = typo_prefix(word)
    {
        let (first, end) = prefix_range(start);
        let length = i64::try_from(word.chars().count()).unwrap_or(i64::MAX);
        found = sql_query(
            "SELECT id, word, images, context FROM words WHERE id IN (
                SELECT id FROM (
                    SELECT id, word FROM words WHERE account_id = ? AND word >= ? AND word < ? LIMIT ?
                ) WHERE length(word) BETWEEN ? AND ?
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
    // The other forms of a word are meant by a slip of it as well.
    let meant: Vec<QueryWord> = found
        .iter()
        .map(|known| QueryWord { word: known.word.clone(), is_word: true, optional: false, is_prefix: false })
        .take(MIN_PER_WORD)
        .collect();
    let forms = WordForms::look_up(c, account, &meant)?;
    let forms = meant.iter().flat_map(|word| forms.of(word)).map(|(known, quality)| (known, quality * TYPO));
    let found = found.iter().map(|known| (known.clone(), TYPO));
    Ok(found.chain(forms).collect())
}
