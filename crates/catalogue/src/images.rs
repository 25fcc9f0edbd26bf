use accounts::Caller;
use domain::{AccountId, Image, ImageId, ListQuery};
use storage::{Lookup, StorageError};

use crate::{Catalogue, Hit};

/// Facts about the whole library of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryInfo {
    /// How many images the caller sees.
    pub total_images: u32,
    /// Whether photos were ever synced, uploaded or imported.
    pub sync_enabled: bool,
    /// Whether a vision model is in use for searches.
    pub has_vision_model: bool,
}

impl Catalogue {
    /// Facts about the caller's whole library.
    pub async fn info(&self, caller: &Caller) -> Result<LibraryInfo, StorageError> {
        let total_images = self.parts.store.count_images(self.viewer(caller)).await?;
        let sync_enabled = caller.account.synced_at.is_some();
        Ok(LibraryInfo {
            total_images,
            sync_enabled,
            has_vision_model: self.parts.indexer.has_vision_model().await,
        })
    }

    /// A page of images, newest first.
    pub async fn list(&self, caller: &Caller, query: &ListQuery) -> Result<Vec<Hit>, StorageError> {
        let filter = self.with_names(caller, &query.filter, &query.names).await?;
        let query = ListQuery { filter, ..query.clone() };
        let found = self.parts.store.page_images(self.viewer(caller), &query).await?;
        Ok(found.into_iter().map(Hit::from).collect())
    }

    /// One image. A malformed id counts as unknown.
    pub async fn image(&self, caller: &Caller, id: &str) -> Result<Lookup<Image>, StorageError> {
        match ImageId::parse(id) {
            Some(id) => self.parts.store.image(self.viewer(caller), &id).await,
            None => Ok(Lookup::Missing),
        }
    }

    /// Several images in the order of the ids; `None` for an id without an image that the caller can see.
    pub async fn images(&self, caller: &Caller, ids: &[String]) -> Result<Vec<Option<Image>>, StorageError> {
        let known: Vec<ImageId> = ids.iter().filter_map(ImageId::parse).collect();
        let found = self.parts.store.images(self.viewer(caller), &known).await?;
        let mut found = found.into_iter().peekable();
        Ok(ids.iter().map(|id| found.next_if(|image| image.id.as_str() == id)).collect())
    }

    /// Deletes an image; its owner can restore it for 30 days.
    pub async fn delete_image(&self, caller: &Caller, id: &str) -> Result<Lookup<()>, StorageError> {
        match ImageId::parse(id) {
            Some(id) => self.parts.store.delete_image(self.viewer(caller), &id, self.parts.clock.now()).await,
            None => Ok(Lookup::Missing),
        }
    }

    /// Restores a deleted image; `false` if no such image can be restored.
    pub async fn restore_image(&self, account: AccountId, id: &ImageId) -> Result<bool, StorageError> {
        self.parts.store.restore_image(account, id).await
    }
}
