//! How the words of an image come into the index and leave it.

use diesel::{
    OptionalExtension, QueryableByName, SqliteConnection,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Binary, Nullable, Text},
};
use words::{Fields, Occurrence, words_of};

use super::{
    reindex, vocabulary,
    word_ids::{self, CONTENT, CONTEXT, posting},
};
use crate::{
    error::SqliteError,
    schema::images,
    value::{RowReader, json_array},
};

/// What is written about an image.
#[derive(Debug, Queryable, Selectable, QueryableByName)]
#[diesel(table_name = images, check_for_backend(diesel::sqlite::Sqlite))]
pub(super) struct ImageText {
    #[diesel(sql_type = BigInt)]
    pub(super) seq: i64,
    #[diesel(sql_type = Text)]
    pub(super) id: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(super) captured_at_ms: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    description: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    ocr_text: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    place: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    file_name: Option<String>,
}

impl ImageText {
    pub(super) fn fields(&self) -> Fields<'_> {
        Fields {
            description: self.description.as_deref(),
            ocr_text: self.ocr_text.as_deref(),
            place: self.place.as_deref(),
            file_name: self.file_name.as_deref(),
        }
    }
}

/// Adds the words of an image that is not in the index, unless it is deleted: then it is added when it comes back.
pub(crate) fn add_text(c: &mut SqliteConnection, seq: i64) -> Result<(), SqliteError> {
    let (account, live, written): (i64, bool, ImageText) = images::table
        .find(seq)
        .select((images::account_id, images::live, ImageText::as_select()))
        .get_result(c)?;
    if !live {
        return Ok(());
    }
    let captured_at_ms = RowReader::new("images", &seq).required("captured_at_ms", written.captured_at_ms)?;
    let numbers = vocabulary::add_words(c, account, &words_of(&written.fields()))?;
    reindex::mark_for_newer_version(c, seq)?;
    if numbers.is_empty() {
        return Ok(());
    }
    let key = free_key(c, seq, captured_at_ms)?;
    sql_query("INSERT INTO indexed_words (image_seq, key, words) VALUES (?, ?, ?)")
        .bind::<BigInt, _>(seq)
        .bind::<BigInt, _>(key)
        .bind::<Binary, _>(word_ids::write(&numbers))
        .execute(c)?;
    sql_query("INSERT INTO image_words (rowid, words) VALUES (?, ?)")
        .bind::<BigInt, _>(key)
        .bind::<Text, _>(postings(&numbers))
        .execute(c)?;
    Ok(())
}

fn postings(numbers: &[(i64, Occurrence)]) -> String {
    let mut names = Vec::with_capacity(numbers.len());
    for &(number, stands) in numbers {
        names.extend(stands.in_content.then(|| posting(CONTENT, number)));
        names.extend(stands.in_context.then(|| posting(CONTEXT, number)));
    }
    names.join(" ")
}

#[derive(QueryableByName)]
struct IndexedRow {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = BigInt)]
    key: i64,
    #[diesel(sql_type = Binary)]
    words: Vec<u8>,
}

/// Takes the words of an image out of the index, if they are in it.
pub(crate) fn remove_text(c: &mut SqliteConnection, seq: i64) -> Result<(), SqliteError> {
    let indexed: Option<IndexedRow> = sql_query(
        "SELECT i.account_id, w.key, w.words
        FROM indexed_words AS w CROSS JOIN images AS i ON i.seq = w.image_seq
        WHERE w.image_seq = ?",
    )
    .bind::<BigInt, _>(seq)
    .get_result(c)
    .optional()?;
    let Some(indexed) = indexed else { return Ok(()) };
    sql_query("DELETE FROM image_words WHERE rowid = ?").bind::<BigInt, _>(indexed.key).execute(c)?;
    sql_query("DELETE FROM indexed_words WHERE image_seq = ?").bind::<BigInt, _>(seq).execute(c)?;
    vocabulary::remove_words(c, indexed.account_id, word_ids::read(&indexed.words))
}

/// Keys for each millisecond. Images of several accounts may have the same.
const KEYS_PER_MS: i64 = 16;

/// How far from its place a key may lie when those at its place are taken.
const MAX_DRIFT: i64 = 1 << 20;

/// The keys of images that were captured between two moments, and of few others.
pub(super) fn keys_between(start_ms: i64, end_ms: i64) -> (i64, i64) {
    let last = end_ms.saturating_add(1).saturating_mul(KEYS_PER_MS);
    (start_ms.saturating_mul(KEYS_PER_MS), last.saturating_add(MAX_DRIFT))
}

/// A key that no image has, in the order of capture times: one of those of its millisecond, or one near them when many
/// accounts have images of that very moment.
fn free_key(c: &mut SqliteConnection, seq: i64, captured_at_ms: i64) -> Result<i64, SqliteError> {
    let first = captured_at_ms.saturating_mul(KEYS_PER_MS);
    let mut room = KEYS_PER_MS;
    let mut random = fastrand::Rng::with_seed(seq.cast_unsigned());
    loop {
        let candidates: Vec<i64> = (0..4).map(|_| first.saturating_add(random.i64(0..room))).collect();
        let free: Option<Key> = sql_query(
            "SELECT value AS key FROM json_each(?)
            WHERE value NOT IN (SELECT key FROM indexed_words WHERE key = value) LIMIT 1",
        )
        .bind::<Text, _>(json_array(&candidates))
        .get_result(c)
        .optional()?;
        if let Some(free) = free {
            return Ok(free.key);
        }
        room = room.saturating_mul(4).min(MAX_DRIFT);
    }
}

#[derive(QueryableByName)]
struct Key {
    #[diesel(sql_type = BigInt)]
    key: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_moments() {
        let (first, last) = keys_between(5, 9);
        assert_eq!(first, 80);
        assert!(last >= 9 * 16 + 15 + MAX_DRIFT);
        assert_eq!(keys_between(i64::MIN, i64::MAX), (i64::MIN, i64::MAX));
    }
}
