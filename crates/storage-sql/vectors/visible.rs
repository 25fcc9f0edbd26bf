use std::collections::HashMap;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Text},
};
use domain::{Filter, Image, Timestamp};
use storage::{EncoderId, ImageKey, VectorId, Viewer, VisibleVector};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        filter::{ResolvedFilter, candidate_images},
        image_rows::{ImageRow, ImageRowWithOwner, Visibility},
        schema::images,
        statement,
        value::{RowReader, json_array},
    },
};

#[derive(QueryableByName)]
struct VisibleRow {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = BigInt)]
    captured_at_ms: i64,
    #[diesel(sql_type = Binary)]
    vector: Vec<u8>,
}

// The order of the joins makes the planner start with the vectors, which are few.
const VISIBLE: &str = concat!(
    "SELECT images.seq AS seq, images.captured_at_ms AS captured_at_ms, v.vector AS vector FROM ",
    integers!("$1"),
    " AS candidate ",
    join_after!("image_vectors", "v", "v.id = candidate.value"),
    " ",
    join_after!("images", "images", "images.seq = v.image_seq"),
    " WHERE v.encoder_id = $2 AND "
);

pub(super) fn vectors(
    c: &mut SqlConnection,
    viewer: Viewer,
    encoder: EncoderId,
    vectors: &[VectorId],
    filter: &Filter,
) -> Result<Vec<VisibleVector>, SqlError> {
    let Some(filter) = ResolvedFilter::resolve(c, viewer, filter)? else { return Ok(Vec::new()) };
    let ids: Vec<i64> = vectors.iter().map(|vector| vector.0).collect();
    let rows: Vec<VisibleRow> = statement(VISIBLE)
        .bind::<Text, _>(json_array(&ids))
        .bind::<BigInt, _>(encoder.0)
        .then(filter.conditions())
        .load(c)?;
    rows.into_iter()
        .map(|row| {
            let reader = RowReader::new("images", &row.seq);
            Ok(VisibleVector {
                image: ImageKey(row.seq),
                captured_at: reader.timestamp("captured_at_ms", row.captured_at_ms)?,
                vector: row.vector,
            })
        })
        .collect()
}

/// The capture time of the oldest visible image.
pub(super) fn since(c: &mut SqlConnection, viewer: Viewer) -> Result<Option<Timestamp>, SqlError> {
    let visibility = Visibility::of(c, viewer)?;
    Ok(visibility.and_then(|visibility| match visibility.oldest_ms {
        // No image is visible.
        i64::MAX => Some(Timestamp::MAX),
        oldest_ms => Timestamp::from_millis(oldest_ms),
    }))
}

/// The images of the album or the camera of a filter; `None` if the filter has neither, or if the camera has more than
/// `max` images.
pub(super) fn candidate_keys(
    c: &mut SqlConnection,
    viewer: Viewer,
    filter: &Filter,
    max: u32,
) -> Result<Option<Vec<ImageKey>>, SqlError> {
    let Some(filter) = ResolvedFilter::resolve(c, viewer, filter)? else { return Ok(Some(Vec::new())) };
    let max = if filter.album_seq.is_some() { i64::MAX } else { i64::from(max) };
    let seqs = candidate_images(c, &filter, max.saturating_add(1))?;
    let are_few = |seqs: &Vec<i64>| i64::try_from(seqs.len()).is_ok_and(|number| number <= max);
    Ok(seqs.filter(are_few).map(|seqs| seqs.into_iter().map(ImageKey).collect()))
}

pub(super) fn images(
    c: &mut SqlConnection,
    viewer: Viewer,
    keys: &[ImageKey],
) -> Result<Vec<(ImageKey, Image)>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let mut by_seq: HashMap<i64, ImageRow> = HashMap::with_capacity(keys.len());
    for batch in keys.chunks(500) {
        let rows: Vec<ImageRowWithOwner> = images::table
            .filter(images::seq.eq_any(batch.iter().map(|key| key.0)))
            .select(ImageRowWithOwner::as_select())
            .load(c)?;
        by_seq
            .extend(rows.into_iter().filter_map(|row| row.if_visible(visibility)).map(|row| (row.seq, row)));
    }
    keys.iter()
        .filter_map(|key| Some((*key, by_seq.remove(&key.0)?)))
        .map(|(key, row)| Ok((key, Image::try_from(row)?)))
        .collect()
}
