//! The places of images in the timeline, which the index `images_local` has.

use diesel::{
    QueryResult,
    expression::{Expression, SelectableExpression, ValidGrouping, is_aggregate},
    prelude::*,
    query_builder::{AstPass, QueryFragment, QueryId},
    sql_types::BigInt,
};
use domain::LocalTime;

use super::{image_rows::Visibility, marks::of_image};
use crate::Backend;

/// The number of the [`LocalTime`] of the image `i`, in the words of the index.
macro_rules! local_time {
    () => {
        "((i.captured_at_ms + coalesce(i.capture_offset_min, 0) * 60000) * 4096 + coalesce(i.capture_offset_min, 0))"
    };
}
pub(crate) use local_time;

/// The month of the image `i` on the clock where it was taken, as the number yyyymm.
macro_rules! local_month {
    () => {
        concat!(
            "CASE WHEN i.captured_at_ms + coalesce(i.capture_offset_min, 0) * 60000 < -62135596800000 THEN 101
            WHEN i.captured_at_ms + coalesce(i.capture_offset_min, 0) * 60000 > 253402300799999 THEN 999912
            ELSE ",
            month_of!("(i.captured_at_ms + coalesce(i.capture_offset_min, 0) * 60000)"),
            " END"
        )
    };
}
pub(crate) use local_month;

/// Whether the image `i` was captured at the time of a placeholder or later. No index is used for this.
macro_rules! captured_since {
    ($placeholder:literal) => {
        concat!("i.captured_at_ms + 0 >= ", $placeholder)
    };
}
pub(crate) use captured_since;

/// The timeline's images `i` of the account `$1` with places from `$2` to `$3`, captured at the time `$4` or later.
macro_rules! timeline_range {
    () => {
        concat!(
            "FROM images AS i ",
            by_index!("images_local"),
            " WHERE i.account_id = $1 AND i.live = TRUE AND ",
            local_time!(),
            " BETWEEN $2 AND $3 AND ",
            captured_since!("$4"),
            " AND ",
            is_not_archived!()
        )
    };
}
pub(crate) use timeline_range;

of_image!(
    /// The number of the [`LocalTime`] of a live image.
    LocalTimeOfImage,
    BigInt,
    "((images.captured_at_ms + coalesce(images.capture_offset_min, 0) * 60000) * 4096 + coalesce(images.capture_offset_min, 0))"
);

of_image!(
    /// The capture time of a live image, for conditions without an index.
    CapturedAtOfImage,
    BigInt,
    "(images.captured_at_ms + 0)"
);

impl Visibility {
    /// A place in the timeline before all visible images.
    pub(crate) fn oldest_place(self) -> LocalTime {
        LocalTime::start_of(self.oldest_ms.saturating_sub(LocalTime::MAX_OFFSET_MS))
    }
}
