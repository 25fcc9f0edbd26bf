use accounts::Caller;
use domain::{Image, LocalRange};
use storage::{MonthTotal, StorageError, TimelineOrder, TimelineState};

use crate::Catalogue;

impl Catalogue {
    /// The months in which the caller has photos, newest first.
    pub async fn timeline_months(&self, caller: &Caller) -> Result<Vec<MonthTotal>, StorageError> {
        self.parts.store.timeline_months(self.viewer(caller)).await
    }

    /// The months as in [`timeline_months`](Self::timeline_months), and the number of photos that are not visible yet.
    pub async fn timeline_state(&self, caller: &Caller) -> Result<TimelineState, StorageError> {
        self.parts.store.timeline_state(self.viewer(caller)).await
    }

    /// Up to `max` images of the caller in a range, from one of its ends.
    pub async fn timeline_page(
        &self,
        caller: &Caller,
        range: LocalRange,
        order: TimelineOrder,
        max: u32,
    ) -> Result<Vec<Image>, StorageError> {
        self.parts.store.timeline_page(self.viewer(caller), range, order, max).await
    }
}
