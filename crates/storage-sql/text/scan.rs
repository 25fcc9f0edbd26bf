//! Searches albums, circles and cameras with few images by scanning them all.

use std::{cmp::Reverse, collections::HashMap};

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Text},
};

use super::{candidates::POOL, expand::ExpandedWord, word_ids};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{filter::ResolvedFilter, statement, value::json_array},
};

/// Albums, circles and cameras with at most this many images are scanned.
pub(super) const MAX_SCANNED_IMAGES: usize = 2000;

#[derive(QueryableByName)]
struct CandidateRow {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = BigInt)]
    captured_at_ms: i64,
    #[diesel(sql_type = Binary)]
    words: Vec<u8>,
}

const CANDIDATES: &str = concat!(
    "SELECT images.seq AS seq, images.captured_at_ms AS captured_at_ms, w.words AS words FROM ",
    integers!("$1"),
    " AS candidate ",
    join_after!("images", "images", "images.seq = candidate.value"),
    " ",
    join_after!("indexed_words", "w", "w.image_seq = images.seq"),
    " WHERE "
);

/// The images among these that pass the filter and have any of the words, best first. If the filter has an album, all
/// of these images must be in it.
pub(super) fn candidates(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    seqs: &[i64],
    expanded: &[ExpandedWord],
    content_only: bool,
) -> Result<Vec<i64>, SqlError> {
    let indexed: Vec<CandidateRow> = statement(CANDIDATES)
        .bind::<Text, _>(json_array(seqs))
        .then(filter.conditions_within_album())
        .load(c)?;
    let required = RequiredWords::of(expanded);
    let mut matching: Vec<_> = indexed
        .into_iter()
        .filter_map(|image| {
            Some((required.rank(&image.words, content_only)?, image.captured_at_ms, image.seq))
        })
        .collect();
    matching.sort_unstable_by_key(|found| Reverse(*found));
    Ok(matching.into_iter().take(POOL).map(|(_, _, seq)| seq).collect())
}

/// The words of a query that are not optional, at most 64.
struct RequiredWords {
    /// By the id of a vocabulary word: the positions of the words that it matches, with the qualities in thousandths.
    by_id: HashMap<i64, Vec<(usize, u16)>>,
    count: u32,
}

impl RequiredWords {
    fn of(expanded: &[ExpandedWord]) -> Self {
        let mut required = Self { by_id: HashMap::new(), count: 0 };
        let words = expanded.iter().filter(|word| !word.word.optional).take(64);
        for (position, word) in words.enumerate() {
            for (id, quality) in word.qualities() {
                required.by_id.entry(id).or_default().push((position, thousandths(quality)));
            }
            required.count += 1;
        }
        required
    }

    /// How well an image matches according to the ids of its words, higher is better: whether all words are in its
    /// content, whether all are in any text, how many are in its content, how many are in any text, and the sum of
    /// their qualities. `None` when it has none of the words.
    fn rank(&self, words: &[u8], content_only: bool) -> Option<(bool, bool, u32, u32, u32)> {
        let (mut content, mut anywhere, mut best) = (0_u64, 0_u64, [0_u16; 64]);
        for (id, occurrence) in word_ids::read(words) {
            let counts = occurrence.in_content || !content_only;
            for &(position, quality) in self.by_id.get(&id).into_iter().flatten().filter(|_| counts) {
                anywhere |= 1 << position;
                content |= u64::from(occurrence.in_content) << position;
                if let Some(best) = best.get_mut(position) {
                    *best = quality.max(*best);
                }
            }
        }
        let (content, anywhere) = (content.count_ones(), anywhere.count_ones());
        let quality = best.iter().map(|quality| u32::from(*quality)).sum();
        (anywhere > 0).then_some((content == self.count, anywhere == self.count, content, anywhere, quality))
    }
}

/// A quality from 0 to 1 as a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
fn thousandths(quality: f32) -> u16 {
    (quality.clamp(0.0, 1.0) * 1000.0) as u16
}
