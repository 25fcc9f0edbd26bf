mod rows;
mod visible;

use async_trait::async_trait;
use domain::{AccountId, AlbumId, DateRange, Image, Timestamp};
use storage::{
    EncoderId, ImageKey, SearchFilter, StorageError, VectorId, VectorStore, Viewer, VisibleVector,
    VisitVector,
};

use crate::{SqlStore, sql::filter::OwnedFilter};

pub(crate) use rows::{any_prunable, encoders_of, prune, renumber, store};

#[async_trait]
impl VectorStore for SqlStore {
    async fn encoder(&self, name: &str) -> Result<Option<EncoderId>, StorageError> {
        let name = name.to_owned();
        self.query_inline(move |c| rows::encoder(c, &name)).await
    }

    async fn newest_vector(
        &self,
        account: AccountId,
        encoder: EncoderId,
    ) -> Result<Option<VectorId>, StorageError> {
        self.query_inline(move |c| rows::newest(c, account, encoder)).await
    }

    async fn visit_vectors(
        &self,
        account: AccountId,
        encoder: EncoderId,
        after: Option<VectorId>,
        last: VectorId,
        visit: VisitVector,
    ) -> Result<(), StorageError> {
        self.query(move |c| rows::visit(c, account, encoder, (after, last), &*visit)).await
    }

    async fn nth_vector_after(
        &self,
        account: AccountId,
        encoder: EncoderId,
        after: Option<VectorId>,
        n: u32,
    ) -> Result<Option<VectorId>, StorageError> {
        self.query(move |c| rows::nth_after(c, account, encoder, after, n)).await
    }

    async fn visible_vectors(
        &self,
        viewer: Viewer,
        encoder: EncoderId,
        vectors: &[VectorId],
        filter: SearchFilter<'_>,
    ) -> Result<Vec<VisibleVector>, StorageError> {
        let (vectors, filter) = (vectors.to_vec(), OwnedFilter::from(filter));
        self.read(move |c| visible::vectors(c, viewer, encoder, &vectors, &filter)).await
    }

    async fn visible_since(&self, viewer: Viewer) -> Result<Option<Timestamp>, StorageError> {
        if viewer.window().is_none() {
            return Ok(None);
        }
        self.read(move |c| visible::since(c, viewer)).await
    }

    async fn album_image_keys(&self, viewer: Viewer, album: &AlbumId) -> Result<Vec<ImageKey>, StorageError> {
        let album = album.clone();
        self.read(move |c| visible::album_keys(c, viewer, &album)).await
    }

    async fn camera_image_keys(
        &self,
        viewer: Viewer,
        camera: &str,
        range: DateRange,
        max: u32,
    ) -> Result<Option<Vec<ImageKey>>, StorageError> {
        let camera = camera.to_owned();
        self.read(move |c| visible::camera_keys(c, viewer, &camera, range, max)).await
    }

    async fn images_by_key(
        &self,
        viewer: Viewer,
        keys: &[ImageKey],
    ) -> Result<Vec<(ImageKey, Image)>, StorageError> {
        let keys = keys.to_vec();
        self.read(move |c| visible::images(c, viewer, &keys)).await
    }
}
