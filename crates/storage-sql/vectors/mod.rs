mod rows;
mod visible;

use domain::{AccountId, Filter, Image, Timestamp};
use storage::{EncoderId, ImageKey, StorageError, VectorId, VectorStore, Viewer, VisibleVector, VisitVector};

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
        read visible_vectors(
            viewer: Viewer, encoder: EncoderId, vectors: &[VectorId], filter: &Filter
        ) -> Vec<VisibleVector> = visible::vectors;
        read candidate_image_keys(viewer: Viewer, filter: &Filter, max: u32) -> Option<Vec<ImageKey>>
            = visible::candidate_keys;
        read images_by_key(viewer: Viewer, keys: &[ImageKey]) -> Vec<(ImageKey, Image)> = visible::images;
    }
    by hand {
        async fn visible_since(&self, viewer: Viewer) -> Result<Option<Timestamp>, StorageError> {
            if viewer.window().is_none() {
                return Ok(None);
            }
            self.read(move |c| visible::since(c, viewer)).await
        }
    }
}
