//! Adds the words of an image to the index and removes them.

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Nullable, Text},
};
use words::{Fields, Occurrence, words_of};

use super::{reindex, vocabulary, word_ids};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::images, statement, value::RowReader},
    word_index,
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
    word_index::add(c, seq, captured_at_ms, &words)
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
    let indexed: Option<IndexedRow> = statement(
        "SELECT i.account_id, w.key, w.words
        FROM indexed_words AS w JOIN images AS i ON i.seq = w.image_seq
        WHERE w.image_seq = $1",
    )
    .bind::<BigInt, _>(seq)
    .get_result(c)
    .optional()?;
    let Some(indexed) = indexed else { return Ok(()) };
    let words: Vec<(i64, Occurrence)> = word_ids::read(&indexed.words).collect();
    word_index::remove(c, seq, indexed.key, &words)?;
    vocabulary::remove_words(c, indexed.account_id, words.into_iter())
}
