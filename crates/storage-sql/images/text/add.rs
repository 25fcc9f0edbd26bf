//! Adds the words of an image to the index and removes them.

use diesel::{
    OptionalExtension, QueryableByName,
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
    SqlConnection,
    error::SqlError,
    sql::{
        schema::images,
        value::{RowReader, json_array},
    },
};

/// The searchable texts of an image.
#[derive(Debug, Queryable, Selectable, QueryableByName)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
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

/// Adds the words of an image to the index, unless it is deleted: a deleted image is added when it is restored.
pub(crate) fn add_text(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let (account, live, text): (i64, bool, ImageText) = images::table
        .find(seq)
        .select((images::account_id, images::live, ImageText::as_select()))
        .get_result(c)?;
    if !live {
        return Ok(());
    }
    let captured_at_ms = RowReader::new("images", &seq).required("captured_at_ms", text.captured_at_ms)?;
    let words = vocabulary::add_words(c, account, &words_of(&text.fields()))?;
    reindex::mark_for_newer_version(c, seq)?;
    if words.is_empty() {
        return Ok(());
    }
    let key = free_key(c, seq, captured_at_ms)?;
    sql_query("INSERT INTO indexed_words (image_seq, key, words) VALUES (?, ?, ?)")
        .bind::<BigInt, _>(seq)
        .bind::<BigInt, _>(key)
        .bind::<Binary, _>(word_ids::write(&words))
        .execute(c)?;
    sql_query("INSERT INTO image_words (rowid, words) VALUES (?, ?)")
        .bind::<BigInt, _>(key)
        .bind::<Text, _>(postings(&words))
        .execute(c)?;
    Ok(())
}

fn postings(words: &[(i64, Occurrence)]) -> String {
    let mut tokens = Vec::with_capacity(words.len());
    for &(id, occurrence) in words {
        tokens.extend(occurrence.in_content.then(|| posting(CONTENT, id)));
        tokens.extend(occurrence.in_context.then(|| posting(CONTEXT, id)));
    }
    tokens.join(" ")
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

/// Removes the words of an image from the index, if they are in it.
pub(crate) fn remove_text(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
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

/// Number of keys per millisecond. Images of different accounts may have the same capture time.
const KEYS_PER_MS: i64 = 16;

/// Maximum distance of a key from its millisecond when the keys there are taken.
const MAX_DRIFT: i64 = 1 << 20;

/// The range of keys of the images captured between two moments. It includes a few others.
pub(super) fn keys_between(start_ms: i64, end_ms: i64) -> (i64, i64) {
    let last = end_ms.saturating_add(1).saturating_mul(KEYS_PER_MS);
    (start_ms.saturating_mul(KEYS_PER_MS), last.saturating_add(MAX_DRIFT))
}

/// An unused key. Keys are ordered by capture time: an image gets a key of its millisecond, or one near it when many
/// accounts have images of that moment.
fn free_key(c: &mut SqlConnection, seq: i64, captured_at_ms: i64) -> Result<i64, SqlError> {
    let first = captured_at_ms.saturating_mul(KEYS_PER_MS);
    let mut range = KEYS_PER_MS;
    let mut random = fastrand::Rng::with_seed(seq.cast_unsigned());
    loop {
        let candidates: Vec<i64> = (0..4).map(|_| first.saturating_add(random.i64(0..range))).collect();
        let free: Option<IndexKey> = sql_query(
            "SELECT value AS key FROM json_each(?)
            WHERE value NOT IN (SELECT key FROM indexed_words WHERE key = value) LIMIT 1",
        )
        .bind::<Text, _>(json_array(&candidates))
        .get_result(c)
        .optional()?;
        if let Some(free) = free {
            return Ok(free.key);
        }
        range = range.saturating_mul(4).min(MAX_DRIFT);
    }
}

/// The key of an image in the index.
#[derive(QueryableByName)]
pub(super) struct IndexKey {
    #[diesel(sql_type = BigInt)]
    pub(super) key: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_by_capture_time() {
        let (first, last) = keys_between(5, 9);
        assert_eq!(first, 80);
        assert!(last >= 9 * 16 + 15 + MAX_DRIFT);
        assert_eq!(keys_between(i64::MIN, i64::MAX), (i64::MIN, i64::MAX));
    }
}
