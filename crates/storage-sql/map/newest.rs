use std::cmp::Reverse;

use diesel::{QueryDsl, RunQueryDsl, prelude::*};
use domain::{DateRange, Image, Limit, MAX_MAP_CLUSTERS, MAX_MAP_LEVEL, MapArea};
use storage::Viewer;

use super::{
    clusters::groups,
    sums::{PointRow, points_in},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{Visibility, load_in_order},
        schema::map_points,
    },
};

/// Maximum number of photos of an area that are sorted. If there are more, the timeline is scanned instead, because
/// such a scan soon reaches photos in the area.
const MAX_SORTED: i64 = 5000;

/// The number of points that a step of a scan reads.
const SCANNED: i64 = 2000;

pub(super) fn newest(
    c: &mut SqlConnection,
    viewer: Viewer,
    area: &MapArea,
    range: DateRange,
    limit: Limit,
) -> Result<Vec<Image>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let (start_ms, end_ms) = visibility.range_ms(range);
    let cells = area.cells(MAX_MAP_LEVEL, MAX_MAP_CLUSTERS);
    let groups = groups(c, visibility, &cells)?;
    let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
    let Some(newest_ms) = groups.iter().map(|group| group.sums.newest_ms).max() else {
        return Ok(Vec::new());
    };
    let is_wanted = |row: &PointRow| {
        let is_inside = row.point().map(|point| area.contains(point));
        is_inside.map(|inside| inside && (start_ms..=end_ms).contains(&row.captured_at_ms))
    };
    let mut found = Vec::new();
    if groups.iter().map(|group| group.sums.photos).sum::<i64>() <= MAX_SORTED {
        let mut cells = cells;
        cells.sort_unstable_by_key(|cell| cell.codes());
        for row in points_in(c, visibility.account, &cells, i64::MAX)? {
            if is_wanted(&row)? {
                found.push(row);
            }
        }
        found.sort_unstable_by_key(|row| Reverse(row.captured_at_ms));
    } else {
        let mut next_ms = Some(end_ms.min(newest_ms));
        while let Some(until_ms) = next_ms.filter(|_| found.len() < limit) {
            let rows = timeline(c, visibility.account, (start_ms, until_ms))?;
            next_ms = rows.last().and_then(|row| row.captured_at_ms.checked_sub(1));
            for row in rows {
                if is_wanted(&row)? {
                    found.push(row);
                }
            }
        }
    }
    found.truncate(limit);
    let seqs: Vec<i64> = found.iter().map(|row| row.image_seq).collect();
    load_in_order(c, &seqs)?.into_iter().map(Image::try_from).collect()
}

/// Some of the newest points of a range of times.
fn timeline(
    c: &mut SqlConnection,
    account: i64,
    (start_ms, end_ms): (i64, i64),
) -> Result<Vec<PointRow>, SqlError> {
    let rows: Vec<(i64, i64, i64)> = map_points::table
        .filter(map_points::account_id.eq(account))
        .filter(map_points::captured_at_ms.between(start_ms, end_ms))
        .order(map_points::captured_at_ms.desc())
        .limit(SCANNED)
        .select((map_points::image_seq, map_points::code, map_points::captured_at_ms))
        .load(c)?;
    let row = |(image_seq, code, captured_at_ms)| PointRow { image_seq, code, captured_at_ms };
    Ok(rows.into_iter().map(row).collect())
}
