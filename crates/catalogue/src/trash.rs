use accounts::Caller;
use domain::{ImageId, Selection};
use storage::{IndexingProgress, StorageError, TrashedImage};

use crate::{Catalogue, PhotoProblem, selections::run};

/// How long a deleted image can be restored: 30 days.
pub const RESTORABLE_MS: i64 = 30 * 24 * 3600 * 1000;

/// Number of images that one step removes. Each needs many statements, so a step is small.
const IMAGES_PER_STEP: u32 = 50;

/// Number of photos that one step queues again or dismisses.
const PROBLEMS_PER_STEP: u32 = 500;

impl Catalogue {
    /// Up to `max` deleted images after this one, newest deletion first.
    pub async fn trash(
        &self,
        caller: &Caller,
        after: Option<&ImageId>,
        max: u32,
    ) -> Result<Vec<TrashedImage>, StorageError> {
        self.parts.store.page_trash(caller.account.id, after, max).await
    }

    /// The number of deleted images.
    pub async fn count_trash(&self, caller: &Caller) -> Result<u32, StorageError> {
        self.parts.store.count_trash(caller.account.id).await
    }

    /// Permanently removes deleted images; returns their number.
    ///
    /// # Errors
    /// [`StorageError`]. Some images may be removed then.
    pub async fn delete_forever(&self, caller: &Caller, selection: &Selection) -> Result<u32, StorageError> {
        let (store, account) = (&self.parts.store, caller.account.id);
        let removed = run(async |cursor| {
            store.purge_selection(account, selection, cursor, IMAGES_PER_STEP).await.map(Some)
        });
        Ok(removed.await?.unwrap_or(0))
    }

    /// Permanently removes all images that are deleted now; returns their number.
    ///
    /// # Errors
    /// [`StorageError`]. Some images may be removed then.
    pub async fn empty_trash(&self, caller: &Caller) -> Result<u32, StorageError> {
        let now = self.parts.clock.now();
        let mut removed = 0_u32;
        loop {
            match self.parts.store.empty_trash(caller.account.id, now, IMAGES_PER_STEP).await? {
                0 => return Ok(removed),
                step => removed = removed.saturating_add(step),
            }
        }
    }

    /// Up to `max` photos of the caller that could not be indexed and were added before this one, newest first.
    pub async fn problems(
        &self,
        caller: &Caller,
        before: Option<&ImageId>,
        max: u32,
    ) -> Result<Vec<PhotoProblem>, StorageError> {
        let problems = self.parts.store.page_problems(caller.account.id, before, max).await?;
        Ok(problems.into_iter().map(PhotoProblem::of).collect())
    }

    /// Deletes a photo that failed; its owner can restore it for 30 days. `false` if the caller has no such photo.
    pub async fn delete_problem(&self, caller: &Caller, id: &str) -> Result<bool, StorageError> {
        let Some(id) = ImageId::parse(id) else { return Ok(false) };
        self.parts.store.delete_problem(caller.account.id, &id, self.parts.clock.now()).await
    }

    /// Indexes a photo that failed again; `false` if the caller has no such photo.
    pub async fn retry_problem(&self, caller: &Caller, id: &str) -> Result<bool, StorageError> {
        let Some(id) = ImageId::parse(id) else { return Ok(false) };
        let now = self.parts.clock.now();
        let queued = self.parts.store.retry_problem(caller.account.id, &id, now).await?;
        self.parts.indexer.queue_changed();
        Ok(queued)
    }

    /// Indexes all photos of the caller that failed again; returns their number.
    ///
    /// # Errors
    /// [`StorageError`]. Some photos may be queued then.
    pub async fn retry_problems(&self, caller: &Caller) -> Result<u32, StorageError> {
        let (now, account) = (self.parts.clock.now(), caller.account.id);
        let (mut queued, mut before) = (0_u32, None);
        // From the newest to the oldest, so that a photo that fails in the meantime is not queued twice.
        while let Some((count, last)) =
            self.parts.store.retry_problems(account, before, now, PROBLEMS_PER_STEP).await?
        {
            queued = queued.saturating_add(count);
            before = Some(last);
        }
        self.parts.indexer.queue_changed();
        Ok(queued)
    }

    /// Dismisses a photo that failed, until it fails for another reason; `false` if the caller has no such photo.
    pub async fn dismiss_problem(&self, caller: &Caller, id: &str) -> Result<bool, StorageError> {
        let Some(id) = ImageId::parse(id) else { return Ok(false) };
        self.parts.store.dismiss_problem(caller.account.id, &id).await
    }

    /// Dismisses all photos of the caller that failed; returns their number.
    ///
    /// # Errors
    /// [`StorageError`]. Some photos may be dismissed then.
    pub async fn dismiss_problems(&self, caller: &Caller) -> Result<u32, StorageError> {
        let (store, account) = (&self.parts.store, caller.account.id);
        let (mut dismissed, mut before) = (0_u32, None);
        while let Some((count, last)) = store.dismiss_problems(account, before, PROBLEMS_PER_STEP).await? {
            dismissed = dismissed.saturating_add(count);
            before = Some(last);
        }
        Ok(dismissed)
    }

    /// How many photos of the caller are not visible yet.
    pub async fn indexing_progress(&self, caller: &Caller) -> Result<IndexingProgress, StorageError> {
        self.parts.store.indexing_progress(caller.account.id).await
    }
}
