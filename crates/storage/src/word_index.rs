use async_trait::async_trait;

use crate::StorageError;

/// The index that [`match_text`](crate::ImageStore::match_text) finds images by, while what it is made of changes.
///
/// How texts are taken apart into words is improved now and then; a store knows by which version its words were found.
/// New images come with the words of the version that runs. Older ones are found by the words they have, or not at all
/// before they have any, until they are indexed anew.
///
/// The version of an index only goes up. A program of an older version adds the words of new images, and leaves it to the
/// newer program to index these images anew.
#[async_trait]
pub trait WordIndex: Send + Sync + 'static {
    /// How many images have yet to be indexed by the version that runs; none when a newer version made the index.
    async fn count_outdated_words(&self) -> Result<u64, StorageError>;

    /// Whether a newer version than the one that runs made the index.
    async fn word_index_is_newer(&self) -> Result<bool, StorageError>;

    /// Indexes up to `max` of them, oldest additions first. Gives how many they were; 0 when none is left. It goes on
    /// where it stopped, in this process or a later one.
    async fn reindex_words(&self, max: u32) -> Result<u32, StorageError>;
}
