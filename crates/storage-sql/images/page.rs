use std::collections::HashMap;

use diesel::{dsl::exists, prelude::*};
use domain::{AccountId, Circle, DateRange, Filter, Image, Limit, ListQuery, MAX_CIRCLE_CANDIDATES};
use storage::{FoundImage, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        filter::{self, ResolvedFilter, newest_images, newest_seqs},
        image_rows::{ImageRow, Visibility, found_image, load_in_order},
        marks::IsNotArchived,
        schema::{accounts, images},
        value::RowReader,
    },
};

/// A page of the timeline.
pub(super) fn page(
    c: &mut SqlConnection,
    viewer: Viewer,
    query: &ListQuery,
) -> Result<Vec<FoundImage>, SqlError> {
    let circle = query.filter.circle;
    let anywhere = Filter { circle: None, ..query.filter.clone() };
    let Some(filter) = ResolvedFilter::resolve(c, viewer, &anywhere)? else { return Ok(Vec::new()) };
    let rows = match circle {
        None => newest_images(c, &filter, query.limit)?,
        Some(circle) => {
            let seqs = newest_in_circle(c, &filter, circle, query.limit)?;
            load_in_order(c, &seqs)?
        }
    };
    rows.into_iter().map(|row| found_image(row, circle)).collect()
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
    filter: &Filter,
    limit: Limit,
) -> Result<Vec<FoundImage>, SqlError> {
    let Some(filter) = ResolvedFilter::resolve(c, viewer, filter)? else { return Ok(Vec::new()) };
    let rows = newest_images(c, &filter, limit)?;
    rows.into_iter().map(|row| found_image(row, filter.circle())).collect()
}

/// The newest images that pass each filter. No filter has a circle.
pub(super) fn newest_of_each(
    c: &mut SqlConnection,
    viewer: Viewer,
    filters: &[Filter],
    each: Limit,
) -> Result<Vec<Vec<Image>>, SqlError> {
    let resolved = ResolvedFilter::resolve_each(c, viewer, filters)?;
    let chosen = filter::newest_of_each(c, &resolved, i64::from(each.get()))?;
    let mut seqs: Vec<i64> = chosen.iter().map(|(_, seq)| *seq).collect();
    seqs.sort_unstable();
    seqs.dedup();
    let mut images: HashMap<i64, Image> = HashMap::new();
    for row in load_in_order(c, &seqs)? {
        images.insert(row.seq, row.try_into()?);
    }
    let mut of_filters = vec![Vec::new(); filters.len()];
    for (number, seq) in chosen {
        if let (Some(found), Some(image)) = (of_filters.get_mut(number), images.get(&seq)) {
            found.push(image.clone());
        }
    }
    Ok(of_filters)
}

/// The images that were added last, the newest first, among the last [`SCANNED`] of all accounts.
pub(super) fn added_last(c: &mut SqlConnection, viewer: Viewer, max: u32) -> Result<Vec<Image>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let last: Option<i64> = images::table.select(diesel::dsl::max(images::seq)).get_result(c)?;
    let Some(last) = last else { return Ok(Vec::new()) };
    let rows: Vec<ImageRow> = images::table
        .filter(images::seq.gt(last - SCANNED))
        .filter(images::account_id.eq(visibility.account))
        .filter(images::live.eq(true))
        .filter(images::captured_at_ms.ge(visibility.oldest_ms))
        .filter(IsNotArchived)
        .order(images::seq.desc())
        .limit(i64::from(max))
        .select(ImageRow::as_select())
        .load(c)?;
    rows.into_iter().map(Image::try_from).collect()
}

/// There is no index of the images of an account in the order in which they were added.
const SCANNED: i64 = 5_000;

/// The first images in the circle among the newest that pass the filter, as List images defines it.
fn newest_in_circle(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    circle: Circle,
    limit: Limit,
) -> Result<Vec<i64>, SqlError> {
    let newest = newest_seqs(c, filter, i64::from(MAX_CIRCLE_CANDIDATES))?;
    let positions: Vec<(i64, Option<f64>, Option<f64>)> = images::table
        .filter(images::seq.eq_any(newest.iter().copied()))
        .select((images::seq, images::latitude, images::longitude))
        .load(c)?;
    let positions: HashMap<i64, _> =
        positions.into_iter().map(|(seq, latitude, longitude)| (seq, (latitude, longitude))).collect();
    let mut seqs = Vec::new();
    for seq in newest {
        let (latitude, longitude) = positions.get(&seq).copied().unwrap_or_default();
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
