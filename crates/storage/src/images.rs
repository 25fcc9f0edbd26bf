use async_trait::async_trait;
use domain::{
    AccountId, AlbumId, Circle, ContentHash, DateRange, Image, ImageId, Limit, ListQuery, PixelSize,
    QueryText, Rendition, Timestamp,
};

use crate::{StorageError, Viewer};

/// What an id stands for in the eyes of a viewer.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<T> {
    /// The viewer's own, and visible.
    Found(T),
    /// Of another account, and visible to its owner.
    Foreign,
    /// Unknown, not ready, deleted, or outside the window.
    Missing,
}

/// An image found by place or time.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundImage {
    /// The image.
    pub image: Image,
    /// Its distance from the circle's centre in metres, when there is a circle.
    pub distance_m: Option<f64>,
}

/// What narrows a search besides its words.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SearchFilter<'a> {
    /// Only images of this album of the viewer.
    pub album: Option<&'a AlbumId>,
    /// Only these places, in the whole library.
    pub circle: Option<Circle>,
    /// Only these capture times.
    pub range: DateRange,
}

/// Where words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextColumns {
    /// Description and words read by OCR.
    Content,
    /// Those, then also place and file name.
    ContentAndContext,
}

/// How well words match, best first. Words that say little, such as "the", count only where a query has no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextTier {
    /// Every word stands in the description or the OCR text.
    AllInContent,
    /// Every word stands somewhere, counting place and file name.
    AllAnywhere,
    /// Some word stands in the description or the OCR text.
    SomeInContent,
    /// Some word stands somewhere.
    SomeAnywhere,
}

/// Names an image within its store; never shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageKey(pub i64);

/// The most images that a search by words gives.
pub const MAX_TEXT_MATCHES: u32 = 256;

/// An image found by words.
#[derive(Debug, Clone, PartialEq)]
pub struct TextMatch {
    /// The image's id.
    pub id: ImageId,
    /// What names it within the store.
    pub image_key: ImageKey,
    /// When it was taken.
    pub captured_at: Timestamp,
    /// How well the words match.
    pub tier: TextTier,
    /// How well within the tier: above 0 and at most 1, and comparable between searches. It tells how many of the words
    /// stand there and how exactly, how near to each other, among how much else, and how rare they are.
    pub strength: f64,
    /// The part of the description or OCR text that matched, as it is written there, with `…` where it was cut; some
    /// 200 characters at most. `None` when only place or file name matched.
    pub matched_text: Option<String>,
}

/// A rendition that stands in the blob store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRendition {
    /// Which one.
    pub rendition: Rendition,
    /// Its blob's address.
    pub blob: ContentHash,
    /// Its length.
    pub bytes: u64,
    /// Its size.
    pub size: PixelSize,
}

/// What serving a rendition of a visible image needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenditionSource {
    /// The original that it is made from.
    pub original: ContentHash,
    /// The original's length.
    pub original_bytes: u64,
    /// The rendition, if it was made already.
    pub stored: Option<StoredRendition>,
}

/// Images as viewers see them: ready, not deleted, inside the free window, of an account that exists.
#[async_trait]
pub trait ImageStore: Send + Sync + 'static {
    /// How many images the viewer sees.
    async fn count_images(&self, viewer: Viewer) -> Result<u32, StorageError>;

    /// One image.
    async fn image(&self, viewer: Viewer, id: &ImageId) -> Result<Lookup<Image>, StorageError>;

    /// Those of these images that are the viewer's own and visible, in the order of the ids, which are distinct and at most
    /// [`MAX_IMAGE_IDS_PER_CALL`](domain::MAX_IMAGE_IDS_PER_CALL).
    async fn images(&self, viewer: Viewer, ids: &[ImageId]) -> Result<Vec<Image>, StorageError>;

    /// A page of images, newest first. A circle filters the newest
    /// [`MAX_CIRCLE_CANDIDATES`](domain::MAX_CIRCLE_CANDIDATES) images of the range.
    async fn page_images(&self, viewer: Viewer, query: &ListQuery) -> Result<Vec<FoundImage>, StorageError>;

    /// The newest images that pass a filter.
    async fn filter_images(
        &self,
        viewer: Viewer,
        filter: SearchFilter<'_>,
        limit: Limit,
    ) -> Result<Vec<FoundImage>, StorageError>;

    /// The images that match words, by tier, then strength, then newest first: up to `max` of them, and no more than
    /// [`MAX_TEXT_MATCHES`]. Letter case and accents do not count; other forms of a word, words that begin with the last
    /// one, and words that one may be a slip of count less. In a library where more images match equally than a search
    /// can weigh, the newest are weighed.
    async fn match_text(
        &self,
        viewer: Viewer,
        text: &QueryText,
        columns: TextColumns,
        filter: SearchFilter<'_>,
        max: u32,
    ) -> Result<Vec<TextMatch>, StorageError>;

    /// Deletes an image that the viewer sees; its owner can restore it for 30 days.
    async fn delete_image(
        &self,
        viewer: Viewer,
        id: &ImageId,
        at: Timestamp,
    ) -> Result<Lookup<()>, StorageError>;

    /// Brings a deleted image back with its albums; `false` when there is none to bring back.
    async fn restore_image(&self, account: AccountId, id: &ImageId) -> Result<bool, StorageError>;

    /// Where a rendition of an image comes from; `None` when the image's owner cannot see it.
    async fn rendition(
        &self,
        id: &ImageId,
        rendition: Rendition,
        free_window: u32,
    ) -> Result<Option<RenditionSource>, StorageError>;

    /// Adds a rendition that was made later, and keeps its announced blob. `false` when the original is gone or
    /// the blob is being removed. Adding one that is there changes nothing. With a full rendition its job in the
    /// [`RenditionQueue`](crate::RenditionQueue) ends.
    async fn add_rendition(
        &self,
        original: &ContentHash,
        rendition: StoredRendition,
    ) -> Result<bool, StorageError>;

    /// Removes for good up to `max` images that were deleted before `deleted_before` or whose account was
    /// deleted, and releases blobs that nothing refers to any more. Returns how many went; with 0 the accounts
    /// that were deleted are gone too.
    async fn purge_images(&self, deleted_before: Timestamp, max: u32) -> Result<u32, StorageError>;
}
