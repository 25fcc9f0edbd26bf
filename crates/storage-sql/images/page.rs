use diesel::{dsl::exists, prelude::*};
use domain::{AccountId, Circle, DateRange, Limit, ListQuery, MAX_CIRCLE_CANDIDATES};
use storage::{FoundImage, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        filter::{OwnedFilter, ResolvedFilter, cameras, places},
        image_rows::{ImageRow, Visibility, found_image, load_in_order},
        schema::{accounts, album_images, images},
        value::RowReader,
    },
};

/// A page of the timeline.
pub(super) fn page(
    c: &mut SqlConnection,
    viewer: Viewer,
    query: &ListQuery,
) -> Result<Vec<FoundImage>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let (start_ms, end_ms) = visibility.range_ms(query.range);
    let rows = match query.circle {
        None => timeline(c, visibility.account, (start_ms, end_ms), query.limit)?,
        Some(circle) => {
            let seqs = newest_in_circle(c, visibility.account, (start_ms, end_ms), circle, query.limit)?;
            load_in_order(c, &seqs)?
        }
    };
    rows.into_iter().map(|row| found_image(row, query.circle)).collect()
}

/// A page of the timeline of an account without a free window.
pub(super) fn unlimited(
    c: &mut SqlConnection,
    account: AccountId,
    range: DateRange,
    limit: Limit,
) -> Result<Vec<FoundImage>, SqlError> {
    let active = accounts::table.find(account.0).filter(accounts::deleted_at_ms.is_null());
    let rows: Vec<ImageRow> = images::table
        .filter(images::account_id.eq(account.0))
        .filter(images::live.eq(true))
        .filter(images::captured_at_ms.between(range.start().millis(), range.end().millis()))
        .filter(exists(active))
        .order(images::captured_at_ms.desc())
        .limit(i64::from(limit.get()))
        .select(ImageRow::as_select())
        .load(c)?;
    rows.into_iter().map(|row| found_image(row, None)).collect()
}

/// The newest images that pass a filter.
pub(super) fn search(
    c: &mut SqlConnection,
    viewer: Viewer,
    filter: &OwnedFilter,
    limit: Limit,
) -> Result<Vec<FoundImage>, SqlError> {
    let Some(filter) = filter.resolve(c, viewer)? else { return Ok(Vec::new()) };
    let rows = match (filter.album_seq, &filter.camera, filter.circle) {
        (None, None, None) => timeline(c, filter.account, (filter.start_ms, filter.end_ms), limit)?,
        (None, Some(camera), None) => cameras::page(c, camera, &filter, limit)?,
        (Some(album_seq), _, None) => album(c, album_seq, &filter, limit)?,
        (_, _, Some(circle)) => {
            let seqs = places::in_circle(c, &filter, circle, limit)?;
            load_in_order(c, &seqs)?
        }
    };
    rows.into_iter().map(|row| found_image(row, filter.circle)).collect()
}

// Ranges use BETWEEN: with two comparisons the planner prefers the index that also contains deleted images.

fn timeline(
    c: &mut SqlConnection,
    account: i64,
    (start_ms, end_ms): (i64, i64),
    limit: Limit,
) -> Result<Vec<ImageRow>, SqlError> {
    Ok(images::table
        .filter(images::account_id.eq(account))
        .filter(images::live.eq(true))
        .filter(images::captured_at_ms.between(start_ms, end_ms))
        .order(images::captured_at_ms.desc())
        .limit(i64::from(limit.get()))
        .select(ImageRow::as_select())
        .load(c)?)
}

/// The first images in the circle among the newest of the range, as List images defines it.
fn newest_in_circle(
    c: &mut SqlConnection,
    account: i64,
    (start_ms, end_ms): (i64, i64),
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    let newest: Vec<(i64, Option<f64>, Option<f64>)> = images::table
        .filter(images::account_id.eq(account))
        .filter(images::live.eq(true))
        .filter(images::captured_at_ms.between(start_ms, end_ms))
        .order(images::captured_at_ms.desc())
        .limit(i64::from(MAX_CIRCLE_CANDIDATES))
        .select((images::seq, images::latitude, images::longitude))
        .load(c)?;
    let mut seqs = Vec::new();
    for (seq, latitude, longitude) in newest {
        let position = RowReader::new("images", &seq).position(latitude, longitude)?;
        if position.is_some_and(|position| circle.contains(position)) {
            seqs.push(seq);
        }
        if seqs.len() == usize::try_from(limit.get()).unwrap_or(usize::MAX) {
            break;
        }
    }
    Ok(seqs)
}

fn album(
    c: &mut SqlConnection,
    album_seq: i64,
    filter: &ResolvedFilter,
    limit: Limit,
) -> Result<Vec<ImageRow>, SqlError> {
    let found = album_images::table
        .inner_join(images::table)
        .filter(album_images::album_seq.eq(album_seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.between(filter.start_ms, filter.end_ms))
        .order(album_images::captured_at_ms.desc())
        .limit(i64::from(limit.get()))
        .select(ImageRow::as_select());
    Ok(match &filter.camera {
        None => found.load(c)?,
        Some(camera) => found.filter(images::camera.eq(camera)).load(c)?,
    })
}
