//! The vocabulary of an account: its distinct words with their ids, frequencies and stems.

use std::collections::{BTreeMap, HashMap};

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use words::Occurrence;

use super::reindex::{self, IndexVersion};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        statement,
        value::{json_array, json_text},
    },
};

/// A word of an account's vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, QueryableByName)]
pub(super) struct VocabularyWord {
    #[diesel(sql_type = BigInt)]
    pub(super) id: i64,
    #[diesel(sql_type = Text)]
    pub(super) word: String,
    /// Number of images that have it.
    #[diesel(sql_type = BigInt)]
    pub(super) images: i64,
    /// Number of images that have it in place or file name.
    #[diesel(sql_type = BigInt)]
    pub(super) context: i64,
}

const ADD_WORDS: &str = concat!(
    "INSERT INTO words (account_id, word, images, context)
    SELECT $1, name, first, second FROM ",
    named_integer_pairs!("$2"),
    " AS found WHERE true
    ON CONFLICT (account_id, word) DO UPDATE
    SET images = words.images + excluded.images, context = words.context + excluded.context
    RETURNING id, word, images, context"
);

#[derive(QueryableByName)]
struct LastWord {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Whether no account has a word.
pub(super) fn is_empty(c: &mut SqlConnection) -> Result<bool, SqlError> {
    // Each database reads the end of an index for this.
    let last: LastWord = statement("SELECT coalesce(max(id), 0) AS id FROM words").get_result(c)?;
    Ok(last.id == 0)
}

/// Counts more images, each with its words. Returns the ids of the words.
pub(super) fn add_words(
    c: &mut SqlConnection,
    account: i64,
    images: &[BTreeMap<String, Occurrence>],
) -> Result<HashMap<String, i64>, SqlError> {
    // By word: the number of images with it, and the number of images with it in place or file name.
    let mut counts: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (word, occurrence) in images.iter().flatten() {
        let (images, context) = counts.entry(word).or_default();
        *images += 1;
        *context += i64::from(occurrence.in_context);
    }
    if counts.is_empty() {
        return Ok(HashMap::new());
    }
    let version = reindex::index_version(c)?;
    let words: Vec<(&str, i64, i64)> =
        counts.iter().map(|(word, (images, context))| (*word, *images, *context)).collect();
    let known: Vec<VocabularyWord> =
        statement(ADD_WORDS).bind::<BigInt, _>(account).bind::<Text, _>(json_text(&words)).load(c)?;
    let is_new =
        |known: &VocabularyWord| counts.get(&*known.word).is_some_and(|(images, _)| *images == known.images);
    let needs_stems = |known: &&VocabularyWord| match version {
        IndexVersion::Current { stale_to } => is_new(known) || known.id <= stale_to,
        IndexVersion::Other => false,
    };
    let stems = stems_of(known.iter().filter(needs_stems));
    if !stems.is_empty() {
        statement(concat!(
            "INSERT INTO word_stems (account_id, stem, word_id) SELECT $1, name, number FROM ",
            named_integers!("$2"),
            " AS stems WHERE true ON CONFLICT DO NOTHING"
        ))
        .bind::<BigInt, _>(account)
        .bind::<Text, _>(json_text(&stems))
        .execute(c)?;
    }
    Ok(known.into_iter().map(|known| (known.word, known.id)).collect())
}

/// The stems of words, with the ids of the words.
fn stems_of<'a>(words: impl Iterator<Item = &'a VocabularyWord>) -> Vec<(String, i64)> {
    words.flat_map(|known| words::stem_keys(&known.word).into_iter().map(|stem| (stem, known.id))).collect()
}

/// Removes occurrences of words in images from the counts, and deletes words that no image has any more.
pub(super) fn remove_words(
    c: &mut SqlConnection,
    account: i64,
    words: impl Iterator<Item = (i64, Occurrence)>,
) -> Result<(), SqlError> {
    // By id: the number of images with the word, and the number of images with it in place or file name.
    let mut counts: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for (id, occurrence) in words {
        let (images, context) = counts.entry(id).or_default();
        *images += 1;
        *context += i64::from(occurrence.in_context);
    }
    let words: Vec<(i64, i64, i64)> =
        counts.into_iter().map(|(id, (images, context))| (id, images, context)).collect();
    if words.is_empty() {
        return Ok(());
    }
    let version = reindex::index_version(c)?;
    let known: Vec<VocabularyWord> = statement(concat!(
        "UPDATE words SET images = images - removed.second, context = context - removed.third FROM ",
        integer_triples!("$1"),
        " AS removed WHERE words.id = removed.first
            RETURNING words.id AS id, words.word AS word, words.images AS images, words.context AS context"
    ))
    .bind::<Text, _>(json_text(&words))
    .load(c)?;
    let unused = || known.iter().filter(|known| known.images == 0);
    if unused().next().is_none() {
        return Ok(());
    }
    let ids = json_array(&unused().map(|known| known.id).collect::<Vec<i64>>());
    let (delete_stems, stems) = match version {
        IndexVersion::Current { .. } => (
            concat!(
                "DELETE FROM word_stems WHERE (account_id, stem, word_id) IN (SELECT $1, name, number FROM ",
                named_integers!("$2"),
                " AS stems)"
            ),
            json_text(&stems_of(unused())),
        ),
        IndexVersion::Other => (
            concat!(
                "DELETE FROM word_stems WHERE account_id = $1 AND word_id IN (SELECT value FROM ",
                integers!("$2"),
                " AS unused)"
            ),
            ids.clone(),
        ),
    };
    statement(delete_stems).bind::<BigInt, _>(account).bind::<Text, _>(stems).execute(c)?;
    statement(concat!("DELETE FROM words WHERE id IN (SELECT value FROM ", integers!("$1"), " AS unused)"))
        .bind::<Text, _>(ids)
        .execute(c)?;
    Ok(())
}
