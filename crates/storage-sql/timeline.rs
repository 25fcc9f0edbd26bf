//! The months of the timeline, and pages of it.

use diesel::prelude::*;
use domain::{DateRange, Image};
use storage::{MonthTotal, TimelineOrder, TimelineState, TimelineStore, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{ImageRow, Visibility},
        marks::IsNotArchived,
        months::months,
        problems::waiting,
        schema::images,
    },
};

operations! {
    impl TimelineStore {
        read timeline_months(viewer: Viewer) -> Vec<MonthTotal> = months;
        read timeline_state(viewer: Viewer) -> TimelineState {
            |c| Ok(TimelineState { months: months(c, viewer)?, waiting: waiting(c, viewer.account)? })
        }
        read timeline_page(viewer: Viewer, range: DateRange, order: TimelineOrder, max: u32) -> Vec<Image> {
            |c| page(c, viewer, range, order, i64::from(max))
        }
    }
}

fn page(
    c: &mut SqlConnection,
    viewer: Viewer,
    range: DateRange,
    order: TimelineOrder,
    max: i64,
) -> Result<Vec<Image>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let (start_ms, end_ms) = visibility.range_ms(range);
    // BETWEEN: with two comparisons the planner prefers the index that also contains deleted images.
    let found = images::table
        .filter(images::account_id.eq(visibility.account))
        .filter(images::live.eq(true))
        .filter(images::captured_at_ms.between(start_ms, end_ms))
        .filter(IsNotArchived)
        .limit(max)
        .select(ImageRow::as_select());
    let rows: Vec<ImageRow> = match order {
        TimelineOrder::NewestFirst => found.order(images::captured_at_ms.desc()).load(c)?,
        TimelineOrder::OldestFirst => found.order(images::captured_at_ms.asc()).load(c)?,
    };
    rows.into_iter().map(Image::try_from).collect()
}
