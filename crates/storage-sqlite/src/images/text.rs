use std::collections::HashMap;

use diesel::{
    QueryableByName, SqliteConnection,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Double, Nullable, Text},
};
use domain::{Circle, Limit, Position};
use storage::{Found, TextColumns, TextMatch, TextTier, Viewer};

use super::{
    filter::{Narrowed, OwnedFilter},
    places::latitudes,
    row::{found, load_in_order},
};
use crate::{error::Failure, value::json_array};

/// Adds the words of an image that was just stored to the index.
pub(crate) fn add_text(c: &mut SqliteConnection, seq: i64) -> Result<(), Failure> {
    sql_query(
        "INSERT INTO image_text (rowid, description, ocr_text, place, file_name)
        SELECT seq, description, ocr_text, place, file_name FROM images WHERE seq = ?",
    )
    .bind::<BigInt, _>(seq)
    .execute(c)?;
    Ok(())
}

/// Takes the words of an image that is still stored out of the index.
pub(crate) fn remove_text(c: &mut SqliteConnection, seq: i64) -> Result<(), Failure> {
    sql_query("DELETE FROM image_text WHERE rowid = ?").bind::<BigInt, _>(seq).execute(c)?;
    Ok(())
}

/// Where and how strictly words are looked for, best first.
const TIERS: [(TextTier, &str, &str); 4] = [
    (TextTier::AllInContent, CONTENT, " AND "),
    (TextTier::AllAnywhere, ANYWHERE, " AND "),
    (TextTier::SomeInContent, CONTENT, " OR "),
    (TextTier::SomeAnywhere, ANYWHERE, " OR "),
];
const CONTENT: &str = "{description ocr_text}";
const ANYWHERE: &str = "{description ocr_text place file_name}";

/// The tiers to try. With one word, some of the words is all of them.
fn tiers(columns: TextColumns, words: usize) -> impl Iterator<Item = (TextTier, &'static str, &'static str)> {
    TIERS.into_iter().filter(move |(_, searched, joined)| {
        (columns == TextColumns::ContentAndContext || *searched == CONTENT)
            && (words > 1 || *joined == " AND ")
    })
}

/// The images that match words, by tier.
pub(super) fn matches(
    c: &mut SqliteConnection,
    viewer: Viewer,
    words: &[String],
    columns: TextColumns,
    filter: &OwnedFilter,
    limit: Limit,
) -> Result<Vec<TextMatch>, Failure> {
    let Some(filter) = filter.narrow(c, viewer)? else { return Ok(Vec::new()) };
    let words = quoted(words);
    let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
    let mut matches = Vec::new();
    let mut given = Vec::new();
    for (tier, searched, joined) in tiers(columns, words.len()) {
        if words.is_empty() || given.len() >= limit {
            break;
        }
        let expression = format!("{searched} : ({})", words.join(joined));
        let hits = ranked(c, &expression, &filter, &given, limit - given.len())?;
        matches.extend(described(c, &expression, tier, &hits, &filter)?);
        given.extend(hits.iter().map(|hit| hit.seq));
    }
    Ok(matches)
}

/// Words as strings of the index's own query language, in which nothing within a string is syntax. A word of
/// several tokens is looked for as a phrase; one without any is left out.
fn quoted(words: &[String]) -> Vec<String> {
    words
        .iter()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| format!("\"{}\"", word.replace('\0', " ").replace('"', "\"\"")))
        .collect()
}

#[derive(QueryableByName)]
struct Hit {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Double)]
    score: f64,
}

// The index comes first whatever the planner thinks of it; `score` is better the lower it is.
const RANKED: &str = "
SELECT image_text.rowid AS seq, bm25(image_text) AS score
FROM image_text CROSS JOIN images AS i ON i.seq = image_text.rowid
WHERE image_text MATCH ?1 AND i.account_id = ?2 AND i.live = 1 AND i.captured_at_ms BETWEEN ?3 AND ?4
    AND (?5 IS NULL OR EXISTS (
        SELECT 1 FROM album_images AS a WHERE a.album_seq = ?5 AND a.image_seq = i.seq
    ))
    AND (?6 IS NULL OR (
        i.latitude BETWEEN ?7 AND ?8 AND distance_m(?9, ?10, i.latitude, i.longitude) <= ?6
    ))
    AND i.seq NOT IN (SELECT value FROM json_each(?11))
ORDER BY score, i.captured_at_ms DESC
LIMIT ?12";

fn ranked(
    c: &mut SqliteConnection,
    expression: &str,
    filter: &Narrowed,
    given: &[i64],
    limit: usize,
) -> Result<Vec<Hit>, Failure> {
    let bounds = filter.circle.map(latitudes);
    let centre = filter.circle.map(Circle::centre);
    Ok(sql_query(RANKED)
        .bind::<Text, _>(expression)
        .bind::<BigInt, _>(filter.account)
        .bind::<BigInt, _>(filter.start_ms)
        .bind::<BigInt, _>(filter.end_ms)
        .bind::<Nullable<BigInt>, _>(filter.album_seq)
        .bind::<Nullable<Double>, _>(filter.circle.map(Circle::radius_m))
        .bind::<Nullable<Double>, _>(bounds.map(|(south, _)| south))
        .bind::<Nullable<Double>, _>(bounds.map(|(_, north)| north))
        .bind::<Nullable<Double>, _>(centre.map(Position::latitude))
        .bind::<Nullable<Double>, _>(centre.map(Position::longitude))
        .bind::<Text, _>(json_array(given))
        .bind::<BigInt, _>(i64::try_from(limit).unwrap_or(i64::MAX))
        .load(c)?)
}

/// Stands before each matched word of a snippet until the columns were compared.
const MARK: char = '\u{2}';

#[derive(QueryableByName)]
struct Snippets {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Nullable<Text>)]
    description: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    ocr_text: Option<String>,
}

// Apart from the ranking, because a snippet is dear and only those of the page are wanted.
const SNIPPETS: &str = "
SELECT image_text.rowid AS seq,
    snippet(image_text, 0, char(2), '', '…', 32) AS description,
    snippet(image_text, 1, char(2), '', '…', 32) AS ocr_text
FROM json_each(?) AS hit CROSS JOIN image_text
WHERE image_text MATCH ? AND image_text.rowid = hit.value";

/// The images of hits, with the part of their content that matched.
fn described(
    c: &mut SqliteConnection,
    expression: &str,
    tier: TextTier,
    hits: &[Hit],
    filter: &Narrowed,
) -> Result<Vec<TextMatch>, Failure> {
    if hits.is_empty() {
        return Ok(Vec::new());
    }
    let seqs: Vec<i64> = hits.iter().map(|hit| hit.seq).collect();
    let snippets: Vec<Snippets> =
        sql_query(SNIPPETS).bind::<Text, _>(json_array(&seqs)).bind::<Text, _>(expression).load(c)?;
    let mut texts: HashMap<i64, String> = snippets
        .into_iter()
        .filter_map(|row| Some((row.seq, better(row.description, row.ocr_text)?)))
        .collect();
    hits.iter()
        .zip(load_in_order(c, &seqs)?)
        .map(|(hit, row)| {
            let Found { image, distance_m } = found(row, filter.circle)?;
            // The index's weights are below 0 by its own definition; a tie with 0 would break the port's.
            let relevance = (-hit.score).max(f64::MIN_POSITIVE);
            Ok(TextMatch { image, distance_m, tier, relevance, matched_text: texts.remove(&hit.seq) })
        })
        .collect()
}

/// The snippet in which more words matched, without marks; `None` when none did.
fn better(description: Option<String>, ocr_text: Option<String>) -> Option<String> {
    let marks = |text: &String| text.matches(MARK).count();
    let best = [ocr_text, description].into_iter().flatten().max_by_key(marks)?;
    (marks(&best) > 0).then(|| best.replace(MARK, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_with_more_matches_is_shown() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(better(text("a \u{2}red car"), text("\u{2}red \u{2}car")), text("red car"));
        assert_eq!(better(text("\u{2}red"), text("\u{2}car")), text("red"), "the description on a tie");
        assert_eq!(better(text("red"), None), None);
        assert_eq!(better(None, None), None);
    }

    #[test]
    fn tiers_that_can_add_nothing_are_left_out() {
        let names = |columns, words| tiers(columns, words).map(|(tier, ..)| tier).collect::<Vec<_>>();
        use TextColumns::{Content, ContentAndContext};
        use TextTier::{AllAnywhere, AllInContent, SomeAnywhere, SomeInContent};
        assert_eq!(names(Content, 1), [AllInContent]);
        assert_eq!(names(Content, 2), [AllInContent, SomeInContent]);
        assert_eq!(names(ContentAndContext, 1), [AllInContent, AllAnywhere]);
        assert_eq!(names(ContentAndContext, 2), [AllInContent, AllAnywhere, SomeInContent, SomeAnywhere]);
    }
}
