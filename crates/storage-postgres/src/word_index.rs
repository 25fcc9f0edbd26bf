//! The index of words: one row for each word of an image, ordered by word and capture time.

use std::fmt::Write as _;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Text},
};
use words::Occurrence;

use crate::{
    SqlConnection,
    sql::{
        AddedWords, IndexedWords, SqlError, encode_word_ids,
        expression::{AnyWord, Expression},
        json_array, json_text, statement,
    },
};

/// The keys of the images captured between two moments. An account has no two images of one millisecond, so the capture
/// time is the key.
pub(crate) fn keys_between(start_ms: i64, end_ms: i64) -> (i64, i64) {
    (start_ms, end_ms)
}

const ADD_POSTINGS: &str = concat!(
    "INSERT INTO word_postings (word_id, key, image_seq, in_content)
    SELECT added.second, w.key, w.image_seq, added.third <> 0 FROM ",
    integer_triples!("$1"),
    " AS added ",
    join_after!("indexed_words", "w", "w.image_seq = added.first")
);

pub(crate) fn add(c: &mut SqlConnection, images: &[AddedWords]) -> Result<(), SqlError> {
    let mut postings: Vec<(i64, i64, i64)> = Vec::new();
    for AddedWords { seq, captured_at_ms, words } in images {
        statement("INSERT INTO indexed_words (image_seq, key, words) VALUES ($1, $2, $3)")
            .bind::<BigInt, _>(*seq)
            .bind::<BigInt, _>(*captured_at_ms)
            .bind::<Binary, _>(encode_word_ids(words))
            .execute(c)?;
        postings.extend(words.iter().map(|(id, occurrence)| (*seq, *id, i64::from(occurrence.in_content))));
    }
    statement(ADD_POSTINGS).bind::<Text, _>(json_text(&postings)).execute(c)?;
    Ok(())
}

const REMOVE_POSTINGS: &str = concat!(
    "DELETE FROM word_postings AS p USING ",
    integer_pairs!("$1"),
    " AS removed WHERE p.word_id = removed.first AND p.key = removed.second"
);

pub(crate) fn remove(c: &mut SqlConnection, images: &[IndexedWords]) -> Result<(), SqlError> {
    let postings: Vec<(i64, i64)> =
        images.iter().flat_map(|image| image.words.iter().map(|(id, _)| (*id, image.key))).collect();
    let seqs: Vec<i64> = images.iter().map(|image| image.seq).collect();
    statement(REMOVE_POSTINGS).bind::<Text, _>(json_text(&postings)).execute(c)?;
    statement(concat!(
        "DELETE FROM indexed_words WHERE image_seq IN (SELECT value FROM ",
        integers!("$1"),
        " AS removed)"
    ))
    .bind::<Text, _>(json_array(&seqs))
    .execute(c)?;
    Ok(())
}

fn ids(words: &[(i64, Occurrence)]) -> Vec<i64> {
    words.iter().map(|(id, _)| *id).collect()
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

const COUNT_POSTINGS: &str = concat!(
    "SELECT count(*) AS count FROM word_postings WHERE key = $1 AND word_id IN (SELECT value FROM ",
    integers!("$2"),
    " AS words)"
);

/// Whether the index has the words of an image.
pub(crate) fn has_postings(
    c: &mut SqlConnection,
    key: i64,
    words: &[(i64, Occurrence)],
) -> Result<bool, SqlError> {
    let found: Count = statement(COUNT_POSTINGS)
        .bind::<BigInt, _>(key)
        .bind::<Text, _>(json_array(&ids(words)))
        .get_result(c)?;
    Ok(usize::try_from(found.count).is_ok_and(|count| count == words.len()))
}

/// A query for the images that match an expression, with keys in a range: their `key` and `seq`, newest first.
///
/// It walks over the postings of each word of the rarest list, newest first, and looks the other lists up by key. Each
/// walk ends at the limit, so the common words of a large library cost no more than the rare ones of a small one.
pub(crate) fn newest(
    expression: &Expression,
    (first, last): (i64, i64),
    (limit, offset): (i64, i64),
) -> String {
    let Some((rarest, others)) = expression.0.split_first() else {
        return "SELECT CAST(NULL AS BIGINT) AS key, CAST(NULL AS BIGINT) AS seq WHERE FALSE".to_owned();
    };
    let conditions: String = others.iter().map(|words| has_any(words)).collect();
    let walked = limit.saturating_add(offset);
    format!(
        "SELECT DISTINCT key, seq
        FROM (VALUES {}) AS word (id, anywhere) CROSS JOIN LATERAL (
            SELECT p.key, p.image_seq AS seq FROM word_postings AS p
            WHERE p.word_id = word.id AND p.key BETWEEN {first} AND {last} AND (p.in_content OR word.anywhere){conditions}
            ORDER BY p.key DESC LIMIT {walked}
        ) AS hit
        ORDER BY key DESC LIMIT {limit} OFFSET {offset}",
        values(rarest)
    )
}

/// Words as SQL rows: the id, and whether place and file name count, too.
fn values(words: &[AnyWord]) -> String {
    let mut rows = String::new();
    for word in words {
        let separator = if rows.is_empty() { "" } else { ", " };
        let _ = write!(rows, "{separator}(CAST({} AS BIGINT), {})", word.id, word.in_context);
    }
    rows
}

/// The condition that the image of the posting `p` has any of these words. All of them are one list, so that the index
/// finds them by word and key.
fn has_any(words: &[AnyWord]) -> String {
    let ids = |words: &mut dyn Iterator<Item = &AnyWord>| {
        words.map(|word| word.id.to_string()).collect::<Vec<_>>().join(", ")
    };
    let all = ids(&mut words.iter());
    let in_context = ids(&mut words.iter().filter(|word| word.in_context));
    let of_field = if in_context.is_empty() {
        " AND o.in_content".to_owned()
    } else if words.iter().all(|word| word.in_context) {
        String::new()
    } else {
        format!(" AND (o.in_content OR o.word_id IN ({in_context}))")
    };
    format!(
        " AND EXISTS (SELECT 1 FROM word_postings AS o WHERE o.key = p.key AND o.word_id IN ({all}){of_field})"
    )
}
