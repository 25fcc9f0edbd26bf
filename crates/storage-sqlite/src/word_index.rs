//! The index of words: an FTS5 table that contains only postings. Its rows are ordered by capture time.

use std::fmt::Write as _;

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Text},
};
use words::Occurrence;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        AddedWords, IndexedWords, encode_word_ids, expression::Expression, json_array, json_text, statement,
    },
};

/// Number of keys per millisecond. Images of different accounts may have the same capture time.
const KEYS_PER_MS: i64 = 16;

/// Maximum distance of a key from its millisecond when the keys there are taken.
const MAX_DRIFT: i64 = 1 << 20;

/// The range of keys of the images captured between two moments. The range may include keys of a few other images.
pub(crate) fn keys_between(start_ms: i64, end_ms: i64) -> (i64, i64) {
    let last = end_ms.saturating_add(1).saturating_mul(KEYS_PER_MS);
    (start_ms.saturating_mul(KEYS_PER_MS), last.saturating_add(MAX_DRIFT))
}

const ADD_POSTINGS: &str = concat!(
    "INSERT INTO image_words (rowid, words) SELECT number, name FROM ",
    named_integers!("$1"),
    " AS added ORDER BY number"
);

/// Adds the words of images.
///
/// FTS5 collects rows in memory and writes them as one segment. It begins another one before a key that is not higher than
/// the last, and before each later statement that may change several rows. So all rows are added by one statement, in the
/// order of their keys.
pub(crate) fn add(c: &mut SqlConnection, images: &[AddedWords]) -> Result<(), SqlError> {
    let mut rows = Vec::with_capacity(images.len());
    for AddedWords { seq, captured_at_ms, words } in images {
        let key = free_key(c, *seq, *captured_at_ms)?;
        statement("INSERT INTO indexed_words (image_seq, key, words) VALUES ($1, $2, $3)")
            .bind::<BigInt, _>(*seq)
            .bind::<BigInt, _>(key)
            .bind::<Binary, _>(encode_word_ids(words))
            .execute(c)?;
        rows.push((postings(words), key));
    }
    statement(ADD_POSTINGS).bind::<Text, _>(json_text(&rows)).execute(c)?;
    Ok(())
}

pub(crate) fn remove(c: &mut SqlConnection, images: &[IndexedWords]) -> Result<(), SqlError> {
    let keys: Vec<i64> = images.iter().map(|image| image.key).collect();
    let seqs: Vec<i64> = images.iter().map(|image| image.seq).collect();
    statement(concat!("DELETE FROM image_words WHERE rowid IN (SELECT value FROM ", integers!("$1"), ")"))
        .bind::<Text, _>(json_array(&keys))
        .execute(c)?;
    statement(concat!(
        "DELETE FROM indexed_words WHERE image_seq IN (SELECT value FROM ",
        integers!("$1"),
        ")"
    ))
    .bind::<Text, _>(json_array(&seqs))
    .execute(c)?;
    Ok(())
}

/// Whether the index has the words of an image.
pub(crate) fn has_postings(
    c: &mut SqlConnection,
    key: i64,
    _words: &[(i64, Occurrence)],
) -> Result<bool, SqlError> {
    let posted: Option<Key> = statement("SELECT rowid AS key FROM image_words WHERE rowid = $1")
        .bind::<BigInt, _>(key)
        .get_result(c)
        .optional()?;
    Ok(posted.is_some())
}

/// A query for the images that match an expression, with keys in a range: their `key` and `seq`, newest first.
pub(crate) fn newest(
    expression: &Expression,
    (first, last): (i64, i64),
    (limit, offset): (i64, i64),
) -> String {
    let expression = match_expression(expression);
    format!(
        "SELECT hit.key AS key, w.image_seq AS seq
        FROM (
            SELECT rowid AS key FROM image_words
            WHERE image_words MATCH '{expression}' AND rowid BETWEEN {first} AND {last}
            ORDER BY rowid DESC LIMIT {limit} OFFSET {offset}
        ) AS hit
        CROSS JOIN indexed_words AS w ON w.key = hit.key"
    )
}

/// The expression in the query language of FTS5.
fn match_expression(expression: &Expression) -> String {
    let mut text = String::new();
    for words in &expression.0 {
        let separator = if text.is_empty() { "(" } else { " AND (" };
        text.push_str(separator);
        for (at, word) in words.iter().enumerate() {
            let separator = if at > 0 { " OR " } else { "" };
            let _ = write!(text, "{separator}{}", posting(CONTENT, word.id));
            if word.in_context {
                let _ = write!(text, " OR {}", posting(CONTEXT, word.id));
            }
        }
        text.push(')');
    }
    text
}

/// An unused key. Keys are ordered by capture time: an image gets a key of its millisecond, or one near it when many
/// accounts have images of that moment.
fn free_key(c: &mut SqlConnection, seq: i64, captured_at_ms: i64) -> Result<i64, SqlError> {
    let first = captured_at_ms.saturating_mul(KEYS_PER_MS);
    let mut range = KEYS_PER_MS;
    let mut random = fastrand::Rng::with_seed(seq.cast_unsigned());
    loop {
        let candidates: Vec<i64> = (0..4).map(|_| first.saturating_add(random.i64(0..range))).collect();
        let free: Option<Key> = statement(
            "SELECT value AS key FROM json_each($1)
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

#[derive(QueryableByName)]
struct Key {
    #[diesel(sql_type = BigInt)]
    key: i64,
}

fn postings(words: &[(i64, Occurrence)]) -> String {
    let mut tokens = Vec::with_capacity(words.len());
    for &(id, occurrence) in words {
        tokens.extend(occurrence.in_content.then(|| posting(CONTENT, id)));
        tokens.extend(occurrence.in_context.then(|| posting(CONTEXT, id)));
    }
    tokens.join(" ")
}

/// The kind of words in description and OCR text.
const CONTENT: char = 'c';

/// The kind of words in place and file name.
const CONTEXT: char = 'x';

/// The token of a word in the FTS5 table: the kind, then the id in base 36.
fn posting(kind: char, id: i64) -> String {
    let mut digits = Vec::new();
    let mut left = id.unsigned_abs();
    loop {
        let digit = u32::try_from(left % 36).unwrap_or(0);
        digits.extend(char::from_digit(digit, 36));
        left /= 36;
        if left == 0 {
            break;
        }
    }
    digits.push(kind);
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::expression::AnyWord;

    #[test]
    fn keys_are_ordered_by_capture_time() {
        let (first, last) = keys_between(5, 9);
        assert_eq!(first, 80);
        assert!(last >= 9 * 16 + 15 + MAX_DRIFT);
        assert_eq!(keys_between(i64::MIN, i64::MAX), (i64::MIN, i64::MAX));
    }

    #[test]
    fn postings_are_base_36() {
        assert_eq!(posting(CONTENT, 0), "c0");
        assert_eq!(posting(CONTEXT, 36), "x10");
        assert_eq!(posting(CONTENT, 1_000_000), "clfls");
    }

    #[test]
    fn expressions_are_in_the_query_language_of_fts5() {
        let word = |id, in_context| AnyWord { id, in_context };
        let expression = Expression(vec![vec![word(7, true), word(36, false)], vec![word(3, false)]]);
        assert_eq!(match_expression(&expression), "(c7 OR x7 OR c10) AND (c3)");
    }
}
