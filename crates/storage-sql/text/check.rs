//! Compares the index with the texts of the images.

use std::collections::BTreeSet;

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Text},
};
use words::words_of;

use super::{
    add::{ImageText, IndexedWords},
    reindex::{self, ComparableImages},
    vocabulary, word_ids,
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{accounts, images},
        statement,
        value::json_array,
    },
    word_index,
};

#[derive(QueryableByName)]
struct IndexedRow {
    #[diesel(sql_type = BigInt)]
    key: i64,
    #[diesel(sql_type = Binary)]
    words: Vec<u8>,
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    word: String,
}

/// The images in a range whose words in the index are wrong, each with a description of the error. Images that a
/// rebuild has yet to index are left out.
pub(crate) fn outdated_words(
    c: &mut SqlConnection,
    after: i64,
    last: i64,
) -> Result<Vec<(i64, &'static str)>, SqlError> {
    let comparable = reindex::comparable_images(c)?;
    let rows: Vec<(bool, ImageText)> = images::table
        .inner_join(accounts::table)
        .filter(images::seq.gt(after))
        .filter(images::seq.le(last))
        .filter(accounts::deleted_at_ms.is_null())
        .order(images::seq)
        .select((images::live, ImageText::as_select()))
        .load(c)?;
    let mut outdated = Vec::new();
    for (live, text) in rows {
        if let Some(wrong) = wrong_entry(c, live, &text, &comparable)? {
            outdated.push((text.seq, wrong));
        }
    }
    Ok(outdated)
}

fn wrong_entry(
    c: &mut SqlConnection,
    live: bool,
    text: &ImageText,
    comparable: &ComparableImages,
) -> Result<Option<&'static str>, SqlError> {
    let Some(entry) = entry(c, text.seq)? else {
        let missing = live && comparable.contains(text.seq) && !words_of(&text.fields()).is_empty();
        return Ok(missing.then_some("its words are missing"));
    };
    if !live {
        return Ok(Some("the index has its words although it is not visible"));
    }
    if !word_index::has_postings(c, entry.key, &word_ids::read(&entry.words).collect::<Vec<_>>())? {
        return Ok(Some("the postings of its words are missing"));
    }
    if !comparable.contains(text.seq) {
        return Ok(None);
    }
    let indexed = words_with_ids(c, &entry.words)?;
    let expected: BTreeSet<String> = words_of(&text.fields()).into_keys().collect();
    Ok((indexed != expected).then_some("the index has other words than its text"))
}

fn entry(c: &mut SqlConnection, seq: i64) -> Result<Option<IndexedRow>, SqlError> {
    Ok(statement("SELECT key, words FROM indexed_words WHERE image_seq = $1")
        .bind::<BigInt, _>(seq)
        .get_result(c)
        .optional()?)
}

fn words_with_ids(c: &mut SqlConnection, ids: &[u8]) -> Result<BTreeSet<String>, SqlError> {
    Ok(load_words(c, ids)?.into_iter().map(|word| word.word).collect())
}

fn load_words(c: &mut SqlConnection, ids: &[u8]) -> Result<Vec<Word>, SqlError> {
    let ids: Vec<i64> = word_ids::read(ids).map(|(id, _)| id).collect();
    Ok(statement(concat!(
        "SELECT account_id, word FROM words WHERE id IN (SELECT value FROM ",
        integers!("$1"),
        " AS known)"
    ))
    .bind::<Text, _>(json_array(&ids))
    .load(c)?)
}

/// Removes words of an image that does not exist. It does nothing when the image exists.
pub(crate) fn forget_words(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let image = images::table.find(seq).select(images::seq).get_result::<i64>(c).optional()?;
    let (None, Some(entry)) = (image, entry(c, seq)?) else { return Ok(()) };
    let indexed = IndexedWords { seq, key: entry.key, words: word_ids::read(&entry.words).collect() };
    word_index::remove(c, &[indexed])?;
    // The account is read from the words, because the row of the image is gone.
    let account = load_words(c, &entry.words)?.first().map(|word| word.account_id);
    match account {
        Some(account) => vocabulary::remove_words(c, account, word_ids::read(&entry.words)),
        None => Ok(()),
    }
}
