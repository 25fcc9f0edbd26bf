use async_trait::async_trait;

use crate::StorageError;

/// Rebuilds the full-text index of [`match_text`](crate::ImageStore::match_text) when the tokenizer changes.
///
/// The store records the tokenizer version of the index. New images are indexed with the running version. Older
/// images are found by their old words, if they have any, until they are indexed again.
///
/// The version of an index only increases. An older program adds the words of new images; the newer program indexes
/// these images again.
#[async_trait]
pub trait WordIndex: Send + Sync + 'static {
    /// Number of images that the running version has yet to index; 0 when a newer version made the index.
    async fn count_outdated_words(&self) -> Result<u64, StorageError>;

    /// Whether a newer version than the running one made the index.
    async fn word_index_is_newer(&self) -> Result<bool, StorageError>;

    /// Indexes up to `max` outdated images, oldest additions first; returns their number, 0 when none is left. It
    /// resumes where it stopped, in this process or a later one.
    async fn reindex_words(&self, max: u32) -> Result<u32, StorageError>;
}
