//! Adds the words of an image to the index and removes them.

use std::collections::BTreeMap;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Nullable, Text},
};
use words::{Fields, Occurrence, words_of};

use super::{reindex, vocabulary, word_ids};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        marks::KeywordsOfImage,
        schema::images,
        statement,
        value::{RowReader, json_array},
    },
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
    #[diesel(sql_type = Nullable<Text>)]
    #[diesel(select_expression = KeywordsOfImage, select_expression_type = KeywordsOfImage)]
    keywords: Option<String>,
}

impl ImageText {
    pub(super) fn fields(&self) -> Fields<'_> {
        Fields {
            description: self.description.as_deref(),
            ocr_text: self.ocr_text.as_deref(),
            place: self.place.as_deref(),
            file_name: self.file_name.as_deref(),
            keywords: self.keywords.as_deref(),
        }
    }
}

#[derive(QueryableByName)]
struct TextOfAccount {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(embed)]
    text: ImageText,
}

/// The columns of [`ImageText`] of an image.
macro_rules! text_columns {
    ($i:literal) => {
        concat!(
            $i,
            ".seq, ",
            $i,
            ".id, ",
            $i,
            ".captured_at_ms, ",
            $i,
            ".description, ",
            $i,
            ".ocr_text, ",
            $i,
            ".place, ",
            $i,
            ".file_name, (SELECT m.keywords FROM image_marks AS m WHERE m.image_seq = ",
            $i,
            ".seq) AS keywords"
        )
    };
}
pub(super) use text_columns;

const TEXTS_AMONG: &str = concat!(
    "SELECT i.account_id, ",
    text_columns!("i"),
    " FROM ",
    integers!("$1"),
    " AS chosen ",
    join_after!("images", "i", "i.seq = chosen.value"),
    " WHERE i.live = TRUE"
);

/// An image whose words are added to the index.
pub(crate) struct AddedWords {
    pub(crate) seq: i64,
    pub(crate) captured_at_ms: i64,
    pub(crate) words: Vec<(i64, Occurrence)>,
}

/// Adds the words of images to the index. Deleted images are left out: they are added when they are restored.
///
/// Each word of the vocabulary is counted once for all images, and the adapter's index is written last and in one go,
/// because both cost much more if they are done for each image separately.
pub(crate) fn add_text(c: &mut SqlConnection, seqs: &[i64]) -> Result<(), SqlError> {
    let rows: Vec<TextOfAccount> = statement(TEXTS_AMONG).bind::<Text, _>(json_array(seqs)).load(c)?;
    let mut by_account: BTreeMap<i64, Vec<ImageText>> = BTreeMap::new();
    for TextOfAccount { account_id, text } in rows {
        by_account.entry(account_id).or_default().push(text);
    }
    let mut added = Vec::new();
    for (account, texts) in by_account {
        let found: Vec<BTreeMap<String, Occurrence>> =
            texts.iter().map(|text| words_of(&text.fields())).collect();
        let ids = vocabulary::add_words(c, account, &found)?;
        reindex::mark_for_newer_version(c, texts.iter().map(|text| text.seq))?;
        for (text, found) in texts.iter().zip(&found).filter(|(_, found)| !found.is_empty()) {
            let captured_at_ms =
                RowReader::new("images", &text.seq).required("captured_at_ms", text.captured_at_ms)?;
            let with_id = |(word, occurrence): (&String, &Occurrence)| Some((*ids.get(word)?, *occurrence));
            let mut words: Vec<(i64, Occurrence)> = found.iter().filter_map(with_id).collect();
            words.sort_unstable_by_key(|(id, _)| *id);
            added.push(AddedWords { seq: text.seq, captured_at_ms, words });
        }
    }
    if added.is_empty() {
        return Ok(());
    }
    word_index::add(c, &added)
}

/// The words of an image in the index.
pub(crate) struct IndexedWords {
    pub(crate) seq: i64,
    /// The key in the adapter's index.
    pub(crate) key: i64,
    pub(crate) words: Vec<(i64, Occurrence)>,
}

#[derive(QueryableByName)]
struct IndexedRow {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = BigInt)]
    image_seq: i64,
    #[diesel(sql_type = BigInt)]
    key: i64,
    #[diesel(sql_type = Binary)]
    words: Vec<u8>,
}

const INDEXED_AMONG: &str = concat!(
    "SELECT i.account_id AS account_id, w.image_seq AS image_seq, w.key AS key, w.words AS words FROM ",
    integers!("$1"),
    " AS chosen ",
    join_after!("indexed_words", "w", "w.image_seq = chosen.value"),
    " ",
    join_after!("images", "i", "i.seq = w.image_seq")
);

/// Removes the words of images from the index, if they are in it.
pub(crate) fn remove_text(c: &mut SqlConnection, seqs: &[i64]) -> Result<(), SqlError> {
    let rows: Vec<IndexedRow> = statement(INDEXED_AMONG).bind::<Text, _>(json_array(seqs)).load(c)?;
    if rows.is_empty() {
        return Ok(());
    }
    let mut by_account: BTreeMap<i64, Vec<IndexedWords>> = BTreeMap::new();
    for IndexedRow { account_id, image_seq, key, words } in rows {
        let words = word_ids::read(&words).collect();
        by_account.entry(account_id).or_default().push(IndexedWords { seq: image_seq, key, words });
    }
    for (account, indexed) in by_account {
        word_index::remove(c, &indexed)?;
        vocabulary::remove_words(c, account, indexed.into_iter().flat_map(|image| image.words))?;
    }
    Ok(())
}
