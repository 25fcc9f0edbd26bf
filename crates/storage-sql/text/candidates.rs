//! Selects the images that a search scores.

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use storage::MAX_TEXT_MATCHES;
use words::{EXACT, SAME_STEM};

use super::{
    add::{ImageText, text_columns},
    expand::ExpandedWord,
    scan,
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        expression::{AnyWord, Expression},
        filter::{ResolvedFilter, images_to_scan},
        statement, unprepared,
        value::json_array,
    },
    word_index,
};

/// Maximum number of images that are scored.
pub(super) const POOL: usize = MAX_TEXT_MATCHES as usize;

/// Maximum number of index hits that are checked against a filter. Later hits are found in another way or not at all.
const MAX_HITS: i64 = 5000;

/// To intersect common words, the index scans all images of the rarest one, even when no image has all the words. The
/// scan ends after this many images.
const MAX_SCAN: i64 = 20_000;

/// Maximum number of query words that are looked up one by one, rarest first.
const MAX_SINGLES: usize = 8;

/// With more words than this, images that have all words but one are not looked up separately.
const MAX_LEAVING_OUT: usize = 5;

/// The images that match best according to the index, and some others. With `content_only`, place and file name are
/// ignored.
pub(super) fn candidates(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    expanded: &[ExpandedWord],
    content_only: bool,
    max: usize,
) -> Result<Vec<ImageText>, SqlError> {
    let within = images_to_scan(c, filter, scan::MAX_SCANNED_IMAGES)?;
    if let Some(seqs) = within.as_ref().filter(|seqs| seqs.len() <= scan::MAX_SCANNED_IMAGES) {
        let best = scan::candidates(c, filter, seqs, expanded, content_only)?;
        return load_texts(c, &best);
    }
    let mut pool: Vec<ImageText> = Vec::new();
    let mut oldest = None;
    for query in queries(expanded, content_only) {
        let wanted = if query.all { max } else { POOL };
        if pool.len() >= wanted {
            break;
        }
        let (mut first, last) = word_index::keys_between(filter.start_ms, filter.end_ms);
        if let Some(rarest) = &query.rarest {
            let known = match oldest {
                Some(known) => known,
                None => *oldest.insert(scan_end(c, rarest, (first, last))?),
            };
            first = first.max(known);
        }
        pool.extend(hits(c, filter, &query.expression, (first, last), &pool)?);
    }
    // All checked hits of a common word may be outside the album or the circle, or of other cameras.
    let is_common = |word: &ExpandedWord| word.images() > MAX_HITS;
    if let Some(seqs) = within.filter(|_| pool.len() < max && expanded.iter().any(is_common)) {
        let mut best = scan::candidates(c, filter, &seqs, expanded, content_only)?;
        best.retain(|seq| pool.iter().all(|known| known.seq != *seq));
        best.truncate(remaining(&pool));
        pool.extend(load_texts(c, &best)?);
    }
    Ok(pool)
}

/// How many more images can be scored.
fn remaining(pool: &[ImageText]) -> usize {
    POOL.saturating_sub(pool.len())
}

fn load_texts(c: &mut SqlConnection, seqs: &[i64]) -> Result<Vec<ImageText>, SqlError> {
    Ok(statement(concat!(
        "SELECT ",
        text_columns!("i"),
        " FROM ",
        integers!("$1"),
        " AS candidate ",
        join_after!("images", "i", "i.seq = candidate.value")
    ))
    .bind::<Text, _>(json_array(seqs))
    .load(c)?)
}

#[derive(Debug, PartialEq, Eq)]
struct IndexQuery {
    expression: Expression,
    /// Whether its hits have all words, so that one page of them is enough.
    all: bool,
    /// The expression of the rarest of several words, if it is so common that the scan must be limited.
    rarest: Option<Expression>,
}

impl IndexQuery {
    fn new(expression: Expression) -> Self {
        Self { expression, all: false, rarest: None }
    }
}

/// The queries of the index, best first: images with all words; with all but one; with one, the rarest word first.
fn queries(expanded: &[ExpandedWord], content_only: bool) -> Vec<IndexQuery> {
    let needed: Vec<&ExpandedWord> = expanded.iter().filter(|word| !word.word.optional).collect();
    let mut known: Vec<&ExpandedWord> = needed.iter().copied().filter(|word| word.is_known()).collect();
    known.sort_by_key(|word| word.images());
    let mut queries = Vec::new();
    let all = known.len() == needed.len();
    let is_common = |word: &ExpandedWord| word.images() > MAX_SCAN;
    let rarest = known.first().filter(|rarest| known.len() > 1 && is_common(rarest));
    let rarest = rarest.and_then(|rarest| all_of(&[*rarest], !content_only, 0.0));
    for expression in content_then_anywhere(&known, content_only) {
        queries.push(IndexQuery { expression, all, rarest: rarest.clone() });
    }
    if known.len() < 2 {
        return queries;
    }
    if (3..=MAX_LEAVING_OUT).contains(&known.len()) {
        // Leave out the most common word first, so that the remaining words are the rarest.
        for left_out in (0..known.len()).rev() {
            let others: Vec<&ExpandedWord> =
                known.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, word)| *word).collect();
            if others.first().is_none_or(|rarest| !is_common(rarest)) {
                queries.extend(all_of(&others, !content_only, 0.0).map(IndexQuery::new));
            }
        }
    }
    for word in known.iter().take(MAX_SINGLES) {
        queries.extend(content_then_anywhere(&[*word], content_only).into_iter().map(IndexQuery::new));
    }
    queries
}

/// Expressions for images that have each of these words in their content, then in any text, if that may find others. If
/// more images may match than are scored, exact words come first, then other inflections, then longer words with this
/// prefix.
fn content_then_anywhere(words: &[&ExpandedWord], content_only: bool) -> Vec<Expression> {
    let few = words.iter().any(|word| word.images() <= i64::from(MAX_TEXT_MATCHES));
    let qualities: &[f32] = if few { &[0.0] } else { &[EXACT, SAME_STEM, 0.0] };
    let mut expressions = Vec::new();
    for anywhere in [false, !content_only] {
        for min_quality in qualities {
            let expression = all_of(words, anywhere, *min_quality);
            expressions.extend(expression.filter(|expression| !expressions.contains(expression)));
        }
    }
    expressions
}

/// The expression for images that have each of these words or an alternative of at least this quality; all
/// alternatives of a word count if none has that quality. `None` for no words.
fn all_of(words: &[&ExpandedWord], anywhere: bool, min_quality: f32) -> Option<Expression> {
    let any_of = |word: &&ExpandedWord| {
        word.ids(min_quality)
            .map(|(id, in_context)| AnyWord { id, in_context: anywhere && in_context })
            .collect()
    };
    (!words.is_empty()).then(|| Expression(words.iter().map(any_of).collect()))
}

// The index is read first and with a limit, because it finds hits one by one in the order of its keys.
fn hits_of(newest: &str) -> String {
    format!(
        "SELECT {} FROM ({newest}) AS hit {} WHERE images.seq NOT IN (SELECT value FROM {} AS known) AND ",
        text_columns!("images"),
        join_after!("images", "images", "images.seq = hit.seq"),
        integers!("$1")
    )
}

#[derive(QueryableByName)]
struct HitKey {
    #[diesel(sql_type = BigInt)]
    key: i64,
}

/// The key at which the scan of the images of a common word ends.
fn scan_end(
    c: &mut SqlConnection,
    expression: &Expression,
    (first, last): (i64, i64),
) -> Result<i64, SqlError> {
    let query = word_index::newest(expression, (first, last), (1, MAX_SCAN));
    let end: Option<HitKey> = sql_query(query).get_result(c).optional()?;
    Ok(end.map_or(first, |end| end.key))
}

/// The newest images that match an expression, pass the filter and are not in the pool yet: as many as still fit into
/// the pool.
fn hits(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    expression: &Expression,
    (first, last): (i64, i64),
    pool: &[ImageText],
) -> Result<Vec<ImageText>, SqlError> {
    let known: Vec<i64> = pool.iter().map(|image| image.seq).collect();
    let newest = word_index::newest(expression, (first, last), (MAX_HITS, 0));
    Ok(unprepared(hits_of(&newest))
        .bind::<Text, _>(json_array(&known))
        .then(filter.conditions())
        .then_sql(" LIMIT ")
        .then_value::<BigInt, _>(i64::try_from(remaining(pool)).unwrap_or(i64::MAX))
        .load(c)?)
}

#[cfg(test)]
mod tests {
    use words::{QueryWord, query_words};

    use super::*;

    fn text_of(expression: &Expression) -> String {
        let any_of = |words: &Vec<AnyWord>| {
            let of_word = |word: &AnyWord| {
                let context = if word.in_context { format!(" OR x{}", word.id) } else { String::new() };
                format!("c{}{context}", word.id)
            };
            format!("({})", words.iter().map(of_word).collect::<Vec<_>>().join(" OR "))
        };
        expression.0.iter().map(any_of).collect::<Vec<_>>().join(" AND ")
    }

    /// The index queries of a search whose words are in this many images each. These numbers are also the ids of the
    /// words.
    fn queries_of(query: &str, images: &[i64], content_only: bool) -> Vec<String> {
        let words: Vec<QueryWord> = query_words(query);
        let expanded: Vec<ExpandedWord> =
            words.into_iter().zip(images).map(|(word, images)| ExpandedWord::of(word, *images)).collect();
        queries(&expanded, content_only)
            .into_iter()
            .map(|query| {
                let all = if query.all { "!" } else { "" };
                let rarest =
                    query.rarest.map(|rarest| format!(" from {}", text_of(&rarest))).unwrap_or_default();
                format!("{}{all}{rarest}", text_of(&query.expression))
            })
            .collect()
    }

    #[test]
    fn images_with_all_words_come_first_and_rare_words_next() {
        assert_eq!(queries_of("red", &[7], true), ["(c7)!"]);
        assert_eq!(queries_of("red", &[7], false), ["(c7)!", "(c7 OR x7)!"]);
        assert_eq!(queries_of("red", &[8], false), ["(c8)!"], "the word is in no place or file name");
        assert_eq!(queries_of("red", &[0], false), [""; 0]);
        assert_eq!(queries_of("the red", &[9, 7], true), ["(c7)!"], "stop words are optional");
        assert_eq!(queries_of("red car", &[7, 3], true), ["(c3) AND (c7)!", "(c3)", "(c7)"]);
        assert_eq!(queries_of("red car", &[7, 0], true), ["(c7)"]);
        let three = [
            "(c1) AND (c2) AND (c3)!",
            "(c1) AND (c2)",
            "(c1) AND (c3)",
            "(c2) AND (c3)",
            "(c1)",
            "(c2)",
            "(c3)",
        ];
        assert_eq!(queries_of("red car sea", &[1, 2, 3], true), three);
    }

    #[test]
    fn exact_words_come_before_inflections_and_prefix_matches() {
        let [sun] = query_words("sun").try_into().unwrap();
        let of = |each: i64| {
            let word = ExpandedWord::of(sun.clone(), each).or(each + 2, SAME_STEM).or(each + 4, 0.5);
            queries(&[word], true).into_iter().map(|query| text_of(&query.expression)).collect::<Vec<_>>()
        };
        assert_eq!(of(10), ["(c10 OR c12 OR c14)"], "all are scored");
        assert_eq!(of(216), ["(c216)", "(c216 OR c218)", "(c216 OR c218 OR c220)"]);
    }

    #[test]
    fn scans_of_common_words_are_limited() {
        let common = MAX_SCAN + 1;
        let (name, other) = (format!("c{common}"), format!("c{}", common + 1));
        assert_eq!(queries_of("red", &[common], true), [format!("({name})!")], "one word needs no scan");
        assert_eq!(
            queries_of("red car", &[common + 1, common], true),
            [format!("({name}) AND ({other})! from ({name})"), format!("({name})"), format!("({other})")]
        );
        let with_rare = queries_of("red car sea", &[common + 1, common, 3], true);
        assert_eq!(with_rare[0], format!("(c3) AND ({name}) AND ({other})!"));
        assert_eq!(with_rare[1..3], [format!("(c3) AND ({name})"), format!("(c3) AND ({other})")]);
        assert_eq!(with_rare[3..].len(), 3, "the two common words are not intersected");
    }
}
