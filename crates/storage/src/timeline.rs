use async_trait::async_trait;
use domain::{Image, LocalRange, Month};

use crate::{StorageError, Viewer};

/// The visible photos of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonthTotal {
    /// The month on the clocks where they were taken, as [`LocalTime::month`](domain::LocalTime::month) gives it.
    pub month: Month,
    /// Their number, at least 1.
    pub photos: u32,
    /// The sum of their ratios of width to height in thousandths, each cut to a whole number and limited to 400 to 2600.
    pub ratio_sum: u64,
}

/// The state of a timeline at one moment. An open page of the timeline is compared with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimelineState {
    /// The months with photos, newest first.
    pub months: Vec<MonthTotal>,
    /// Photos that are queued or being indexed for the first time.
    pub waiting: u32,
}

/// The order of a page of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineOrder {
    /// The newest first.
    NewestFirst,
    /// The oldest first.
    OldestFirst,
}

/// The timeline: an account's visible images in the order of [`LocalTime`](domain::LocalTime).
#[async_trait]
pub trait TimelineStore: Send + Sync + 'static {
    /// The months with photos, newest first. Their totals are stored. Only the photos of the months in which the
    /// free window begins are counted.
    async fn timeline_months(&self, viewer: Viewer) -> Result<Vec<MonthTotal>, StorageError>;

    /// The months as in [`timeline_months`](Self::timeline_months), and the number of photos that wait to be indexed.
    /// Open pages request this every two seconds.
    async fn timeline_state(&self, viewer: Viewer) -> Result<TimelineState, StorageError>;

    /// Up to `max` images of a range, from one of its ends.
    async fn timeline_page(
        &self,
        viewer: Viewer,
        range: LocalRange,
        order: TimelineOrder,
        max: u32,
    ) -> Result<Vec<Image>, StorageError>;
}
