use std::collections::HashMap;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Binary, Double, Nullable, Text},
};
use domain::{AlbumId, Circle, DateRange, Image, Position, Timestamp};
use storage::{EncoderId, ImageKey, VectorId, Viewer, VisibleVector};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        filter::{OwnedFilter, cameras, places::latitudes},
        image_rows::{ImageRow, ImageRowWithOwner, Visibility},
        schema::{album_images, albums, images},
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
    "
SELECT i.seq AS seq, i.captured_at_ms AS captured_at_ms, v.vector AS vector
FROM ",
    integers!("$1"),
    " AS candidate
",
    join_after!("image_vectors", "v", "v.id = candidate.value"),
    "
",
    join_after!("images", "i", "i.seq = v.image_seq"),
    "
WHERE v.encoder_id = $2 AND i.account_id = $3 AND i.live = TRUE AND i.captured_at_ms BETWEEN $4 AND $5
    AND ($6 IS NULL OR EXISTS (
        SELECT 1 FROM album_images AS a WHERE a.album_seq = $6 AND a.image_seq = i.seq
    ))
    AND ($7 IS NULL OR (
        i.latitude BETWEEN $8 AND $9 AND distance_m($10, $11, i.latitude, i.longitude) <= $7
    ))
    AND ($12 IS NULL OR i.camera = $12)"
);

pub(super) fn vectors(
    c: &mut SqlConnection,
    viewer: Viewer,
    encoder: EncoderId,
    vectors: &[VectorId],
    filter: &OwnedFilter,
) -> Result<Vec<VisibleVector>, SqlError> {
    let Some(filter) = filter.resolve(c, viewer)? else { return Ok(Vec::new()) };
    let ids: Vec<i64> = vectors.iter().map(|vector| vector.0).collect();
    let bounds = filter.circle.map(latitudes);
    let centre = filter.circle.map(Circle::centre);
    let rows: Vec<VisibleRow> = statement(VISIBLE)
        .bind::<Text, _>(json_array(&ids))
        .bind::<BigInt, _>(encoder.0)
        .bind::<BigInt, _>(filter.account)
        .bind::<BigInt, _>(filter.start_ms)
        .bind::<BigInt, _>(filter.end_ms)
        .bind::<Nullable<BigInt>, _>(filter.album_seq)
        .bind::<Nullable<Double>, _>(filter.circle.map(Circle::radius_m))
        .bind::<Nullable<Double>, _>(bounds.map(|(south, _)| south))
        .bind::<Nullable<Double>, _>(bounds.map(|(_, north)| north))
        .bind::<Nullable<Double>, _>(centre.map(Position::latitude))
        .bind::<Nullable<Double>, _>(centre.map(Position::longitude))
        .bind::<Nullable<Text>, _>(filter.camera.as_deref())
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

pub(super) fn album_keys(
    c: &mut SqlConnection,
    viewer: Viewer,
    album: &AlbumId,
) -> Result<Vec<ImageKey>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let of_album = albums::table
        .filter(albums::id.eq(album.as_str()))
        .filter(albums::account_id.eq(visibility.account))
        .select(albums::seq);
    let seqs: Vec<i64> = album_images::table
        .filter(album_images::album_seq.eq_any(of_album))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.ge(visibility.oldest_ms))
        .select(album_images::image_seq)
        .load(c)?;
    Ok(seqs.into_iter().map(ImageKey).collect())
}

/// The images of a camera; `None` if there are more than `max`.
pub(super) fn camera_keys(
    c: &mut SqlConnection,
    viewer: Viewer,
    camera: &str,
    range: DateRange,
    max: u32,
) -> Result<Option<Vec<ImageKey>>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Some(Vec::new())) };
    let limit = i64::from(max) + 1;
    let seqs = cameras::newest(c, visibility.account, camera, visibility.range_ms(range), limit)?;
    let are_few = seqs.len() <= usize::try_from(max).unwrap_or(usize::MAX);
    Ok(are_few.then(|| seqs.into_iter().map(ImageKey).collect()))
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
