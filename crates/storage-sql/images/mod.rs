mod exported;
mod names;
mod page;
mod removal;

use domain::{
    AccountId, ContentHash, Filter, Image, ImageId, Limit, ListQuery, QueryText, Rendition, Sidecar,
    Timestamp,
};
use storage::{
    ExportedImage, FoundImage, ImageStore, Lookup, NameKind, RenditionSource, StorageError, StoredRendition,
    TextColumns, TextMatch, Viewer, WordIndex,
};

use crate::{
    Lock,
    sql::{image_rows, marks, regions, renditions, text},
};

pub(crate) use removal::remove_forever;

operations! {
    impl ImageStore {
        query_inline count_images(viewer: Viewer) -> u32 = image_rows::count;
        read images(viewer: Viewer, ids: &[ImageId]) -> Vec<Image> = image_rows::visible_images;
        read filter_images(viewer: Viewer, filter: &Filter, limit: Limit) -> Vec<FoundImage> = page::search;
        read newest_of_each(viewer: Viewer, filters: &[Filter], each: Limit) -> Vec<Vec<Image>>
            = page::newest_of_each;
        read added_last(viewer: Viewer, max: u32) -> Vec<Image> = page::added_last;
        read match_text(
            viewer: Viewer, text: &QueryText, columns: TextColumns, filter: &Filter, max: u32
        ) -> Vec<TextMatch> = text::matches;
        read known_names(account: AccountId, kind: NameKind, max: u32) -> Vec<String> = marks::known_names;
        read names_like(
            account: AccountId, kinds: &[NameKind], folded: &[String], max: u32
        ) -> Vec<(NameKind, String)> = marks::names_like;
        read names_from(
            account: AccountId, kinds: &[NameKind], folded: &[String], max: u32
        ) -> Vec<(NameKind, String)> = marks::names_from;
        read names(viewer: Viewer, kind: NameKind, max: u32) -> Vec<String> = names::names;
        write(Lock::Account(viewer.account.0)) delete_image(
            viewer: Viewer, id: &ImageId, at: Timestamp
        ) -> Lookup<()> = removal::delete;
        write(Lock::Account(account.0)) restore_image(account: AccountId, id: &ImageId) -> bool
            = removal::restore;
        write(Lock::Nothing) add_rendition(original: &ContentHash, rendition: StoredRendition as ref) -> bool
            = renditions::add;
        read sidecars_of_original(original: &ContentHash) -> Vec<Sidecar> = renditions::sidecars_of_original;
        write(Lock::Nothing) purge_images(deleted_before: Timestamp, max: u32) -> u32 = removal::purge;
        read exported_images(account: AccountId, after: Option<Timestamp>, max: u32) -> Vec<ExportedImage>
            = exported::page;
    }
    by hand {
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

        async fn page_images(
            &self,
            viewer: Viewer,
            query: &ListQuery,
        ) -> Result<Vec<FoundImage>, StorageError> {
            if viewer.window().is_none() && query.filter.is_range_only() {
                let (range, limit) = (query.filter.range, query.limit);
                return self.query(move |c| page::unlimited(c, viewer.account, range, limit)).await;
            }
            let query = query.clone();
            self.read(move |c| page::page(c, viewer, &query)).await
        }

        async fn fill_regions(&self, max: u32) -> Result<u32, StorageError> {
            if self.query(regions::are_complete).await? {
                return Ok(0);
            }
            self.write(Lock::Nothing, move |c| regions::fill(c, max)).await
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
    }
}

operations! {
    impl WordIndex {
        read count_outdated_words() -> u64 = text::outdated;
        read word_index_is_newer() -> bool = text::is_newer;
    }
    by hand {
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
}
