//! Searches albums, circles and cameras with few images by scanning them all.

use std::{cmp::Reverse, collections::HashMap};

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Double, Nullable, Text},
};
use domain::{Circle, Position};

use super::{candidates::POOL, expand::ExpandedWord, word_ids};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        filter::{ResolvedFilter, cameras, places, places::latitudes},
        schema::album_images,
        statement,
        value::json_array,
    },
};

/// Albums, circles and cameras with at most this many images are scanned.
pub(super) const MAX_SCANNED_IMAGES: usize = 2000;

/// The images of the album, in the bounding boxes of the circle, or of the camera. If there are more than
/// [`MAX_SCANNED_IMAGES`], more than that many of them: the newest of the album or the camera, or any in the boxes. Some
/// may not pass the filter.
pub(super) fn within(c: &mut SqlConnection, filter: &ResolvedFilter) -> Result<Option<Vec<i64>>, SqlError> {
    let one_more = i64::try_from(MAX_SCANNED_IMAGES).unwrap_or(i64::MAX).saturating_add(1);
    match (filter.album_seq, filter.circle, &filter.camera) {
        (Some(album_seq), ..) => newest_of_album(c, album_seq, filter, one_more).map(Some),
        (None, Some(circle), _) => {
            places::in_bounding_boxes(c, filter.account, circle, MAX_SCANNED_IMAGES).map(Some)
        }
        (None, None, Some(camera)) => {
            let range_ms = (filter.start_ms, filter.end_ms);
            cameras::newest(c, filter.account, camera, range_ms, one_more).map(Some)
        }
        (None, None, None) => Ok(None),
    }
}

fn newest_of_album(
    c: &mut SqlConnection,
    album_seq: i64,
    filter: &ResolvedFilter,
    max: i64,
) -> Result<Vec<i64>, SqlError> {
    Ok(album_images::table
        .filter(album_images::album_seq.eq(album_seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.between(filter.start_ms, filter.end_ms))
        .order(album_images::captured_at_ms.desc())
        .limit(max)
        .select(album_images::image_seq)
        .load(c)?)
}

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
    "SELECT i.seq, i.captured_at_ms, w.words FROM ",
    integers!("$1"),
    " AS candidate ",
    join_after!("images", "i", "i.seq = candidate.value"),
    " ",
    join_after!("indexed_words", "w", "w.image_seq = i.seq"),
    "
WHERE i.account_id = $2 AND i.live = TRUE AND i.captured_at_ms BETWEEN $3 AND $4
    AND ($5 IS NULL OR (
        i.latitude BETWEEN $6 AND $7 AND distance_m($8, $9, i.latitude, i.longitude) <= $5
    ))
    AND ($10 IS NULL OR i.camera = $10)"
);

/// The images among these that pass the filter and have any of the words, best first.
pub(super) fn candidates(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    seqs: &[i64],
    expanded: &[ExpandedWord],
    content_only: bool,
) -> Result<Vec<i64>, SqlError> {
    let bounds = filter.circle.map(latitudes);
    let centre = filter.circle.map(Circle::centre);
    let indexed: Vec<CandidateRow> = statement(CANDIDATES)
        .bind::<Text, _>(json_array(seqs))
        .bind::<BigInt, _>(filter.account)
        .bind::<BigInt, _>(filter.start_ms)
        .bind::<BigInt, _>(filter.end_ms)
        .bind::<Nullable<Double>, _>(filter.circle.map(Circle::radius_m))
        .bind::<Nullable<Double>, _>(bounds.map(|(south, _)| south))
        .bind::<Nullable<Double>, _>(bounds.map(|(_, north)| north))
        .bind::<Nullable<Double>, _>(centre.map(Position::latitude))
        .bind::<Nullable<Double>, _>(centre.map(Position::longitude))
        .bind::<Nullable<Text>, _>(filter.camera.as_deref())
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
    /// Their number.
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
