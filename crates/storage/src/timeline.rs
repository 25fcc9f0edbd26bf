use async_trait::async_trait;
use domain::{DateRange, Image, Month};

use crate::{StorageError, Viewer};

/// The visible photos of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonthTotal {
    /// The month of their capture times in UTC.
    pub month: Month,
    /// Their number, at least 1.
    pub photos: u32,
    /// The sum of their ratios of width to height in thousandths, each cut to a whole number and limited to 400 to 2600.
    pub ratio_sum: u64,
}

/// The order of a page of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineOrder {
    /// By capture time, the newest first.
    NewestFirst,
    /// By capture time, the oldest first.
    OldestFirst,
}

/// The timeline: an account's visible images by capture time.
#[async_trait]
pub trait TimelineStore: Send + Sync + 'static {
    /// The months with photos, newest first. They are stored and not counted; only a month in which the free window begins is
    /// counted.
    async fn timeline_months(&self, viewer: Viewer) -> Result<Vec<MonthTotal>, StorageError>;

    /// Up to `max` images of a range, from one of its ends.
    async fn timeline_page(
        &self,
        viewer: Viewer,
        range: DateRange,
        order: TimelineOrder,
        max: u32,
    ) -> Result<Vec<Image>, StorageError>;
}
