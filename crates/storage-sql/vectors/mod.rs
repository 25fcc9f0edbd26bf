mod rows;
mod visible;

use domain::{AccountId, AlbumId, DateRange, Image, Timestamp};
use storage::{
    EncoderId, ImageKey, SearchFilter, StorageError, VectorId, VectorStore, Viewer, VisibleVector,
    VisitVector,
};

use crate::sql::filter::OwnedFilter;

pub(crate) use rows::{any_prunable, encoders_of, prune, renumber, store};

operations! {
    impl VectorStore {
        query_inline encoder(name: &str) -> Option<EncoderId> = rows::encoder;
        query_inline newest_vector(account: AccountId, encoder: EncoderId) -> Option<VectorId> = rows::newest;
        query visit_vectors(
            account: AccountId,
            encoder: EncoderId,
            after: Option<VectorId>,
            last: VectorId,
            visit: VisitVector,
        ) -> () { |c| rows::visit(c, account, encoder, (after, last), &*visit) }
        query nth_vector_after(
            account: AccountId, encoder: EncoderId, after: Option<VectorId>, n: u32
        ) -> Option<VectorId> = rows::nth_after;
        read album_image_keys(viewer: Viewer, album: &AlbumId) -> Vec<ImageKey> = visible::album_keys;
        read camera_image_keys(
            viewer: Viewer, camera: &str, range: DateRange, max: u32
        ) -> Option<Vec<ImageKey>> = visible::camera_keys;
        read images_by_key(viewer: Viewer, keys: &[ImageKey]) -> Vec<(ImageKey, Image)> = visible::images;
    }
    by hand {
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
    }
}
