mod exported;
mod page;
mod removal;

use async_trait::async_trait;
use domain::{
    AccountId, ContentHash, Image, ImageId, Limit, ListQuery, QueryText, Rendition, Sidecar, Timestamp,
};
use storage::{
    ExportedImage, FoundImage, ImageStore, Lookup, MAX_TEXT_MATCHES, RenditionSource, SearchFilter,
    StorageError, StoredRendition, TextColumns, TextMatch, Viewer, WordIndex,
};

use crate::{
    Lock, SqlStore,
    sql::{
        filter::{OwnedFilter, cameras},
        image_rows, renditions, text,
    },
};

pub(crate) use removal::remove_forever;

#[async_trait]
impl ImageStore for SqlStore {
    async fn count_images(&self, viewer: Viewer) -> Result<u32, StorageError> {
        self.query_inline(move |c| image_rows::count(c, viewer)).await
    }

    async fn image(&self, viewer: Viewer, id: &ImageId) -> Result<Lookup<Image>, StorageError> {
        let id = id.clone();
        let same = id.clone();
        if let Some(found) =
            self.query_inline(move |c| image_rows::image_by_one_query(c, viewer, &same)).await?
        {
            return Ok(found);
        }
        self.read(move |c| image_rows::image(c, viewer, &id)).await
    }

    async fn images(&self, viewer: Viewer, ids: &[ImageId]) -> Result<Vec<Image>, StorageError> {
        let ids = ids.to_vec();
        self.read(move |c| image_rows::visible_images(c, viewer, &ids)).await
    }

    async fn page_images(&self, viewer: Viewer, query: &ListQuery) -> Result<Vec<FoundImage>, StorageError> {
        let query = *query;
        if viewer.window().is_none() && query.circle.is_none() {
            return self.query(move |c| page::unlimited(c, viewer.account, query.range, query.limit)).await;
        }
        self.read(move |c| page::page(c, viewer, &query)).await
    }

    async fn filter_images(
        &self,
        viewer: Viewer,
        filter: SearchFilter<'_>,
        limit: Limit,
    ) -> Result<Vec<FoundImage>, StorageError> {
        let filter = OwnedFilter::from(filter);
        self.read(move |c| page::search(c, viewer, &filter, limit)).await
    }

    async fn cameras(&self, viewer: Viewer, max: u32) -> Result<Vec<String>, StorageError> {
        self.read(move |c| cameras::names(c, viewer, max)).await
    }

    async fn match_text(
        &self,
        viewer: Viewer,
        text: &QueryText,
        columns: TextColumns,
        filter: SearchFilter<'_>,
        max: u32,
    ) -> Result<Vec<TextMatch>, StorageError> {
        let filter = OwnedFilter::from(filter);
        let max = usize::try_from(max.min(MAX_TEXT_MATCHES)).unwrap_or(usize::MAX);
        let query = text::TextQuery { text: text.clone(), columns, max };
        self.read(move |c| text::matches(c, viewer, &query, &filter)).await
    }

    async fn delete_image(
        &self,
        viewer: Viewer,
        id: &ImageId,
        at: Timestamp,
    ) -> Result<Lookup<()>, StorageError> {
        let id = id.clone();
        self.write(Lock::Account(viewer.account.0), move |c| removal::delete(c, viewer, &id, at)).await
    }

    async fn restore_image(&self, account: AccountId, id: &ImageId) -> Result<bool, StorageError> {
        let id = id.clone();
        self.write(Lock::Account(account.0), move |c| removal::restore(c, account, &id)).await
    }

    async fn rendition(
        &self,
        id: &ImageId,
        rendition: Rendition,
        free_window: u32,
    ) -> Result<Option<RenditionSource>, StorageError> {
        let id = id.clone();
        let same = id.clone();
        let found = self
            .query_inline(move |c| renditions::source_by_one_query(c, &same, rendition, free_window))
            .await?;
        if let Some(source) = found {
            return Ok(source);
        }
        self.read(move |c| renditions::source(c, &id, rendition, free_window)).await
    }

    async fn add_rendition(
        &self,
        original: &ContentHash,
        rendition: StoredRendition,
    ) -> Result<bool, StorageError> {
        let original = *original;
        self.write(Lock::Nothing, move |c| renditions::add(c, &original, &rendition)).await
    }

    async fn sidecars_of_original(&self, original: &ContentHash) -> Result<Vec<Sidecar>, StorageError> {
        let original = *original;
        self.read(move |c| renditions::sidecars_of_original(c, &original)).await
    }

    async fn purge_images(&self, deleted_before: Timestamp, max: u32) -> Result<u32, StorageError> {
        self.write(Lock::Nothing, move |c| removal::purge(c, deleted_before, max)).await
    }

    async fn exported_images(
        &self,
        account: AccountId,
        after: Option<Timestamp>,
        max: u32,
    ) -> Result<Vec<ExportedImage>, StorageError> {
        self.read(move |c| exported::page(c, account, after, max)).await
    }
}

#[async_trait]
impl WordIndex for SqlStore {
    async fn count_outdated_words(&self) -> Result<u64, StorageError> {
        self.read(text::outdated).await
    }

    async fn word_index_is_newer(&self) -> Result<bool, StorageError> {
        self.read(text::is_newer).await
    }

    async fn reindex_words(&self, max: u32) -> Result<u32, StorageError> {
        if self.query(text::is_older).await? {
            if self.write(Lock::Nothing, text::delete_older_stems).await? {
                return Ok(1);
            }
            self.write(Lock::Everything, text::begin).await?;
        }
        self.write(Lock::Nothing, move |c| text::reindex(c, max)).await
    }
}
