//! The newest images that pass a filter, and all of them if they are few.

use diesel::prelude::*;
use domain::Limit;

use super::{
    ResolvedFilter,
    places::{in_bounding_boxes, newest_in_circle},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{ImageRow, load_in_order},
        schema::{album_images, images},
    },
};

/// The newest images that pass a filter.
pub(crate) fn newest_images(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    limit: Limit,
) -> Result<Vec<ImageRow>, SqlError> {
    if let Some(circle) = filter.circle() {
        let seqs = newest_in_circle(c, filter, circle, limit)?;
        return load_in_order(c, &seqs);
    }
    let limit = i64::from(limit.get());
    Ok(match filter.album_seq {
        Some(album_seq) => album_images::table
            .inner_join(images::table)
            .filter(album_images::album_seq.eq(album_seq))
            .filter(album_images::live.eq(true))
            .filter(album_images::captured_at_ms.between(filter.start_ms, filter.end_ms))
            .filter(filter.conditions_within_album_range())
            .order(album_images::captured_at_ms.desc())
            .limit(limit)
            .select(ImageRow::as_select())
            .load(c)?,
        None => images::table
            .filter(filter.conditions())
            .order(images::captured_at_ms.desc())
            .limit(limit)
            .select(ImageRow::as_select())
            .load(c)?,
    })
}

/// The newest images of the album or the camera of a filter in its range, at most `max`; `None` if the filter has
/// neither. Images of an album may fail the other conditions of the filter.
pub(crate) fn candidate_images(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    max: i64,
) -> Result<Option<Vec<i64>>, SqlError> {
    match (filter.album_seq, &filter.camera) {
        (Some(album_seq), _) => newest_of_album(c, filter, album_seq, max).map(Some),
        (None, Some(_)) => {
            let anywhere = ResolvedFilter { area: None, ..filter.clone() };
            let found = images::table.filter(anywhere.conditions());
            let newest = found.order(images::captured_at_ms.desc()).limit(max).select(images::seq);
            Ok(Some(newest.load(c)?))
        }
        (None, None) => Ok(None),
    }
}

/// The images of the album, in the bounding boxes of the circle, or of the camera; `None` if the filter has none of
/// these. If there are more than `max` images, more than `max` of them are returned, perhaps not all: the newest of the
/// album or the camera, or any in the boxes. Some may not pass the filter.
pub(crate) fn images_to_scan(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    max: usize,
) -> Result<Option<Vec<i64>>, SqlError> {
    match (filter.album_seq, filter.circle()) {
        (None, Some(circle)) => in_bounding_boxes(c, filter.account, circle, max).map(Some),
        _ => candidate_images(c, filter, i64::try_from(max).unwrap_or(i64::MAX).saturating_add(1)),
    }
}

fn newest_of_album(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    album_seq: i64,
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
