//! The months of the timeline, and pages of it.

use diesel::prelude::*;
use domain::{Image, LocalRange};
use storage::{MonthTotal, TimelineOrder, TimelineState, TimelineStore, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{ImageRow, Visibility},
        local_time::{CapturedAtOfImage, LocalTimeOfImage},
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
        read timeline_page(viewer: Viewer, range: LocalRange, order: TimelineOrder, max: u32) -> Vec<Image> {
            |c| page(c, viewer, range, order, i64::from(max))
        }
    }
}

fn page(
    c: &mut SqlConnection,
    viewer: Viewer,
    range: LocalRange,
    order: TimelineOrder,
    max: i64,
) -> Result<Vec<Image>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let first = range.first.max(visibility.oldest_place());
    let found = images::table
        .filter(images::account_id.eq(visibility.account))
        .filter(images::live.eq(true))
        .filter(LocalTimeOfImage.between(first.number(), range.last.number()))
        .filter(CapturedAtOfImage.ge(visibility.oldest_ms))
        .filter(IsNotArchived)
        .limit(max)
        .select(ImageRow::as_select());
    let rows: Vec<ImageRow> = match order {
        TimelineOrder::NewestFirst => found.order(LocalTimeOfImage.desc()).load(c)?,
        TimelineOrder::OldestFirst => found.order(LocalTimeOfImage.asc()).load(c)?,
    };
    rows.into_iter().map(Image::try_from).collect()
}
