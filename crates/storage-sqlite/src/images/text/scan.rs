//! Searches among so few images that each can be looked at.

use std::{cmp::Reverse, collections::HashMap};

use diesel::{
    QueryableByName, SqliteConnection,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Binary, Double, Nullable, Text},
};
use domain::{Circle, Position};

use super::{
    super::{
        filter::ResolvedFilter,
        places::{self, latitudes},
    },
    candidates::POOL,
    expand::ExpandedWord,
    word_ids,
};
use crate::{error::SqliteError, schema::album_images, value::json_array};

/// An album of no more images, and a circle around which there are no more, are searched image by image.
pub(super) const MAX_SCANNED_IMAGES: usize = 2000;

/// The images of the album, or in the boxes around the circle; when they are more than [`MAX_SCANNED_IMAGES`], so many of them and one
/// more: the newest of the album, any in the boxes. Not all of them need pass the filter.
pub(super) fn within(
    c: &mut SqliteConnection,
    filter: &ResolvedFilter,
) -> Result<Option<Vec<i64>>, SqliteError> {
    match (filter.album_seq, filter.circle) {
        (Some(album_seq), _) => newest_of_album(c, album_seq, filter).map(Some),
        (None, Some(circle)) => {
            places::in_bounding_boxes(c, filter.account, circle, MAX_SCANNED_IMAGES).map(Some)
        }
        (None, None) => Ok(None),
    }
}

fn newest_of_album(
    c: &mut SqliteConnection,
    album_seq: i64,
    filter: &ResolvedFilter,
) -> Result<Vec<i64>, SqliteError> {
    let max = i64::try_from(MAX_SCANNED_IMAGES).unwrap_or(i64::MAX).saturating_add(1);
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

const CANDIDATES: &str = "
SELECT i.seq, i.captured_at_ms, w.words
FROM json_each(?1) AS few CROSS JOIN images AS i ON i.seq = few.value
    CROSS JOIN indexed_words AS w ON w.image_seq = i.seq
WHERE i.account_id = ?2 AND i.live = 1 AND i.captured_at_ms BETWEEN ?3 AND ?4
    AND (?5 IS NULL OR (
        i.latitude BETWEEN ?6 AND ?7 AND distance_m(?8, ?9, i.latitude, i.longitude) <= ?5
    ))";

/// Of few images those that pass the filter and have max of the words.
pub(super) fn candidates(
    c: &mut SqliteConnection,
    filter: &ResolvedFilter,
    seqs: &[i64],
    expanded: &[ExpandedWord],
    content_only: bool,
) -> Result<Vec<i64>, SqliteError> {
    let bounds = filter.circle.map(latitudes);
    let centre = filter.circle.map(Circle::centre);
    let indexed: Vec<CandidateRow> = sql_query(CANDIDATES)
        .bind::<Text, _>(json_array(seqs))
        .bind::<BigInt, _>(filter.account)
        .bind::<BigInt, _>(filter.start_ms)
        .bind::<BigInt, _>(filter.end_ms)
        .bind::<Nullable<Double>, _>(filter.circle.map(Circle::radius_m))
        .bind::<Nullable<Double>, _>(bounds.map(|(south, _)| south))
        .bind::<Nullable<Double>, _>(bounds.map(|(_, north)| north))
        .bind::<Nullable<Double>, _>(centre.map(Position::latitude))
        .bind::<Nullable<Double>, _>(centre.map(Position::longitude))
        .load(c)?;
    let needed = RequiredWords::of(expanded);
    let mut matching: Vec<_> = indexed
        .into_iter()
        .filter_map(|image| Some((needed.rank(&image.words, content_only)?, image.captured_at_ms, image.seq)))
        .collect();
    matching.sort_unstable_by_key(|found| Reverse(*found));
    Ok(matching.into_iter().take(POOL).map(|(_, _, seq)| seq).collect())
}

/// The words that images must have, 64 at max.
struct RequiredWords {
    /// Which of them a number stands for, and how well, in thousandths.
    by_number: HashMap<i64, Vec<(usize, u16)>>,
    /// How many they are.
    count: u32,
}

impl RequiredWords {
    fn of(expanded: &[ExpandedWord]) -> Self {
        let mut needed = Self { by_number: HashMap::new(), count: 0 };
        let words = expanded.iter().filter(|word| !word.word.optional).take(64);
        for (place, word) in words.enumerate() {
            for (number, quality) in word.qualities() {
                needed.by_number.entry(number).or_default().push((place, thousandths(quality)));
            }
            needed.count += 1;
        }
        needed
    }

    /// How well an image matches by its numbers, the higher the better: whether all words are in its content, whether all
    /// are anywhere, how many are in its content, how many anywhere, and how well what is there stands for them. `None`
    /// when it has none.
    fn rank(&self, words: &[u8], content_only: bool) -> Option<(bool, bool, u32, u32, u32)> {
        let (mut content, mut anywhere, mut best) = (0_u64, 0_u64, [0_u16; 64]);
        for (number, stands) in word_ids::read(words) {
            let counts = stands.in_content || !content_only;
            for &(place, quality) in self.by_number.get(&number).into_iter().flatten().filter(|_| counts) {
                anywhere |= 1 << place;
                content |= u64::from(stands.in_content) << place;
                if let Some(best) = best.get_mut(place) {
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
