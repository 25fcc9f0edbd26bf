use std::cmp::Reverse;

use accounts::Caller;
use domain::{AlbumId, AlbumOrder, MAX_SELECTED_IDS, Selection, Timestamp};
use storage::{SelectionCount, SelectionCursor, SelectionStep, StorageError, Viewer};

use crate::Catalogue;

/// Number of images that one step changes. Other writes wait for a step, so it takes a fraction of a second.
const IMAGES_PER_STEP: u32 = 250;

/// A deletion that can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletedSelection {
    /// Number of deleted images.
    pub count: u32,
    /// The time of the deletion, which identifies it.
    pub at: Timestamp,
}

/// Runs the steps of an operation to the end; returns the number of changed images. Returns `None` as soon as a step
/// returns `None`.
pub(crate) async fn run<S, F>(mut step: S) -> Result<Option<u32>, StorageError>
where
    S: FnMut(SelectionCursor) -> F,
    F: Future<Output = Result<Option<SelectionStep>, StorageError>>,
{
    let (mut changed, mut next) = (0_u32, Some(SelectionCursor::default()));
    while let Some(cursor) = next {
        let Some(done) = step(cursor).await? else { return Ok(None) };
        changed = changed.saturating_add(done.changed);
        next = done.next;
    }
    Ok(Some(changed))
}

impl Catalogue {
    /// Counts the visible images of a selection.
    pub async fn count_selection(
        &self,
        caller: &Caller,
        selection: &Selection,
    ) -> Result<SelectionCount, StorageError> {
        self.parts.store.count_selection(self.viewer(caller), selection).await
    }

    /// Deletes any number of images; their owner can restore them for 30 days. Images added meanwhile may be left out.
    ///
    /// # Errors
    /// [`StorageError`]. Some images may be deleted then.
    pub async fn delete_selection(
        &self,
        caller: &Caller,
        selection: &Selection,
    ) -> Result<DeletedSelection, StorageError> {
        let (viewer, at) = (self.viewer(caller), self.parts.clock.now());
        let store = &self.parts.store;
        let deleted = run(async |cursor| {
            store.delete_selection(viewer, selection, at, cursor, IMAGES_PER_STEP).await.map(Some)
        });
        Ok(DeletedSelection { count: deleted.await?.unwrap_or(0), at })
    }

    /// Restores deleted images; with `deleted_at` only images that were deleted at this time. Returns their number.
    ///
    /// # Errors
    /// [`StorageError`]. Some images may be restored then.
    pub async fn restore_selection(
        &self,
        caller: &Caller,
        selection: &Selection,
        deleted_at: Option<Timestamp>,
    ) -> Result<u32, StorageError> {
        let (store, account) = (&self.parts.store, caller.account.id);
        let restored = run(async |cursor| {
            store.restore_selection(account, selection, deleted_at, cursor, IMAGES_PER_STEP).await.map(Some)
        });
        Ok(restored.await?.unwrap_or(0))
    }

    /// Adds images to an album; returns how many were not in it. `None` if the caller has no such album.
    pub async fn add_selection_to_album(
        &self,
        caller: &Caller,
        selection: &Selection,
        album: &str,
    ) -> Result<Option<u32>, StorageError> {
        let (store, viewer, at) = (&self.parts.store, self.viewer(caller), self.parts.clock.now());
        let Some(album) = AlbumId::parse(album) else { return Ok(None) };
        let Some(present) = store.album(viewer, &album).await? else { return Ok(None) };
        // Such an album shows images in the order in which they were added.
        let is_by_hand = present.order == AlbumOrder::ByHand;
        let ordered = if is_by_hand { self.newest_first(viewer, selection).await? } else { None };
        let selection = ordered.as_ref().unwrap_or(selection);
        run(|cursor| store.add_selection_to_album(viewer, selection, &album, at, cursor, IMAGES_PER_STEP))
            .await
    }

    /// The images of a selection as ids, the newest first. `None` if the steps visit them in this order anyway, or if there are too
    /// many for a selection by ids.
    async fn newest_first(
        &self,
        viewer: Viewer,
        selection: &Selection,
    ) -> Result<Option<Selection>, StorageError> {
        // A step sorts its images. Ranges follow the ids, and are visited in order.
        let step = usize::try_from(IMAGES_PER_STEP).unwrap_or(usize::MAX);
        let (ids, ranges) = (selection.ids(), selection.ranges());
        if ids.is_empty() || (ids.len() <= step && ranges.is_empty()) {
            return Ok(None);
        }
        let (mut images, mut next) = (Vec::new(), Some(SelectionCursor::default()));
        while let Some(cursor) = next {
            let (page, after) =
                self.parts.store.selected_images(viewer, selection, cursor, IMAGES_PER_STEP).await?;
            images.extend(page);
            if images.len() > MAX_SELECTED_IDS {
                return Ok(None);
            }
            next = after;
        }
        images.sort_unstable_by_key(|image| Reverse(image.captured_at));
        let ids = images.into_iter().map(|image| image.id.to_string()).collect();
        // Without visible images, nothing is added.
        Ok(Selection::new(ids, Vec::new(), Vec::new()).ok())
    }

    /// Removes images from an album; returns how many were in it. `None` if the caller has no such album.
    pub async fn remove_selection_from_album(
        &self,
        caller: &Caller,
        selection: &Selection,
        album: &str,
    ) -> Result<Option<u32>, StorageError> {
        let (store, viewer, at) = (&self.parts.store, self.viewer(caller), self.parts.clock.now());
        let Some(album) = AlbumId::parse(album) else { return Ok(None) };
        run(|cursor| {
            store.remove_selection_from_album(viewer, selection, &album, at, cursor, IMAGES_PER_STEP)
        })
        .await
    }
}
