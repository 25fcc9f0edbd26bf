use async_trait::async_trait;
use domain::{
    AccountId, ContentHash, Filter, Image, ImageId, Limit, ListQuery, PixelSize, QueryText, Rendition,
    Sidecar, Timestamp,
};

use crate::{ImageEdits, Lookup, StorageError, Viewer};

/// An image found by place or capture time.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundImage {
    pub image: Image,
    /// Its distance from the circle's centre in metres, if the query has a circle.
    pub distance_m: Option<f64>,
}

/// The texts that are searched for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextColumns {
    /// Description and words read by OCR.
    Content,
    /// Description and words read by OCR, then place and file name with a lower rank.
    ContentAndContext,
}

/// How well words match, best first. Stop words such as "the" count only in queries that have no other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextTier {
    /// The description or OCR text contains every word.
    AllInContent,
    /// Description, OCR text, place and file name together contain every word.
    AllAnywhere,
    /// The description or OCR text contains some of the words.
    SomeInContent,
    /// Description, OCR text, place or file name contains some of the words.
    SomeAnywhere,
}

/// The internal id of an image in its store; never sent to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageKey(pub i64);

/// Maximum number of results of a search by words.
pub const MAX_TEXT_MATCHES: u32 = 256;

/// An image found by words.
#[derive(Debug, Clone, PartialEq)]
pub struct TextMatch {
    pub id: ImageId,
    pub image_key: ImageKey,
    pub captured_at: Timestamp,
    pub tier: TextTier,
    /// How well the image matches within its tier: above 0 and at most 1, comparable between searches. The strength
    /// depends on how many of the words match and how exactly, how close together they are, how long the text is, and
    /// how rare the words are.
    pub strength: f64,
    /// The matching part of the description or OCR text, verbatim, with `…` where it was cut; about 200 characters at
    /// most. `None` when only place or file name matched.
    pub matched_text: Option<String>,
    /// The place or the file name, whichever has more of the words. `None` when neither has any of them, or was not
    /// searched.
    pub matched_context: Option<String>,
}

/// A rendition in the blob store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRendition {
    pub rendition: Rendition,
    pub blob: ContentHash,
    pub bytes: u64,
    pub size: PixelSize,
}

/// What is needed to serve a rendition of a visible image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenditionSource {
    pub owner: AccountId,
    /// The original that it is made from.
    pub original: ContentHash,
    pub original_bytes: u64,
    /// The version of the image's renditions, as in [`Image::picture_version`].
    pub picture_version: u32,
    /// The rendition, if it exists already.
    pub stored: Option<StoredRendition>,
}

/// An image and its original, for an export.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedImage {
    pub image: Image,
    pub original: ContentHash,
    pub original_bytes: u64,
    pub media_type: String,
    /// Its corrections. The source of the capture time in `of_file` is meaningless.
    pub edits: Option<ImageEdits>,
}

/// A kind of names that filter images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    Camera,
    /// The nearest city and country.
    Place,
    Keyword,
    /// A region with its country, such as `Bavaria, Germany`, or a country.
    Region,
}

/// Images as viewers see them.
///
/// An image is visible when it is ready, not deleted, inside the free window of its account, and the account exists.
#[async_trait]
pub trait ImageStore: Send + Sync + 'static {
    /// The number of images visible to the viewer.
    async fn count_images(&self, viewer: Viewer) -> Result<u32, StorageError>;

    async fn image(&self, viewer: Viewer, id: &ImageId) -> Result<Lookup<Image>, StorageError>;

    /// The viewer's own visible images among these ids, in the order of the ids. The ids are distinct and at most
    /// [`MAX_IMAGE_IDS_PER_CALL`](domain::MAX_IMAGE_IDS_PER_CALL).
    async fn images(&self, viewer: Viewer, ids: &[ImageId]) -> Result<Vec<Image>, StorageError>;

    /// A page of images, newest first. A circle filters the newest
    /// [`MAX_CIRCLE_CANDIDATES`](domain::MAX_CIRCLE_CANDIDATES) images of the range.
    async fn page_images(&self, viewer: Viewer, query: &ListQuery) -> Result<Vec<FoundImage>, StorageError>;

    /// The newest images that pass a filter.
    async fn filter_images(
        &self,
        viewer: Viewer,
        filter: &Filter,
        limit: Limit,
    ) -> Result<Vec<FoundImage>, StorageError>;

    /// The newest images that pass each of several filters, which have no circle.
    async fn newest_of_each(
        &self,
        viewer: Viewer,
        filters: &[Filter],
        each: Limit,
    ) -> Result<Vec<Vec<Image>>, StorageError>;

    /// Up to `max` images that were added last and are not archived, the last one first. Images that were added before many others
    /// of the store, at least 5,000, may be missing.
    async fn added_last(&self, viewer: Viewer, max: u32) -> Result<Vec<Image>, StorageError>;

    /// Up to `max` names of a kind that images of an account have, or had before they were deleted, in alphabetical order.
    async fn known_names(
        &self,
        account: AccountId,
        kind: NameKind,
        max: u32,
    ) -> Result<Vec<String>, StorageError>;

    /// Up to `max` keywords, places and regions that images of an account have, or had before they were deleted, with one of these
    /// folded texts, each once and in alphabetical order. Keywords have it as a whole (`words::fold`), places and regions as their
    /// first parts (`words::fold_parts`): `lisbon` names `Lisbon, Portugal`.
    async fn names_like(
        &self,
        account: AccountId,
        kinds: &[NameKind],
        folded: &[String],
        max: u32,
    ) -> Result<Vec<(NameKind, String)>, StorageError>;

    /// Up to `max` keywords, places and regions that images of an account have, or had before they were deleted, whose folded text
    /// begins with one of these, each once and in alphabetical order.
    async fn names_from(
        &self,
        account: AccountId,
        kinds: &[NameKind],
        folded: &[String],
        max: u32,
    ) -> Result<Vec<(NameKind, String)>, StorageError>;

    /// The names of a kind that the viewer's images have, that of the newest image first. If the account has more than `max`,
    /// only the first ones in alphabetical order are considered.
    async fn names(&self, viewer: Viewer, kind: NameKind, max: u32) -> Result<Vec<String>, StorageError>;

    /// Checks up to `max` images whose regions may be missing, or are from an older version of the bundled data, and stores
    /// those that differ. Returns how many were checked, 0 when none is left. The next call resumes there, in this process or
    /// a later one.
    async fn fill_regions(&self, max: u32) -> Result<u32, StorageError>;

    /// The images that match words, ordered by tier, then strength, then newest first: up to `max`, and at most
    /// [`MAX_TEXT_MATCHES`].
    ///
    /// Letter case and accents are ignored. Other inflections of a word, words that start with the last word of the
    /// query, and words within a small edit distance match with less weight. When more images match equally than a
    /// search can score, the newest are scored.
    async fn match_text(
        &self,
        viewer: Viewer,
        text: &QueryText,
        columns: TextColumns,
        filter: &Filter,
        max: u32,
    ) -> Result<Vec<TextMatch>, StorageError>;

    /// Deletes a visible image of the viewer. It can be restored for 30 days.
    async fn delete_image(
        &self,
        viewer: Viewer,
        id: &ImageId,
        at: Timestamp,
    ) -> Result<Lookup<()>, StorageError>;

    /// Restores a deleted image and its membership in albums; `false` when there is no such deleted image.
    async fn restore_image(&self, account: AccountId, id: &ImageId) -> Result<bool, StorageError>;

    /// The source of a rendition of an image; `None` when the image is not visible to its owner.
    async fn rendition(
        &self,
        id: &ImageId,
        rendition: Rendition,
        free_window: u32,
    ) -> Result<Option<RenditionSource>, StorageError>;

    /// Adds a rendition that was made after indexing, and keeps its announced blob. Adding one that exists changes
    /// nothing. A full rendition completes its job in the [`RenditionQueue`](crate::RenditionQueue). `false` when the
    /// original is gone or the blob is being removed.
    async fn add_rendition(
        &self,
        original: &ContentHash,
        rendition: StoredRendition,
    ) -> Result<bool, StorageError>;

    /// The sidecars of the newest undeleted image with this original, in the order of their kinds. A sidecar may rotate
    /// its renditions.
    async fn sidecars_of_original(&self, original: &ContentHash) -> Result<Vec<Sidecar>, StorageError>;

    /// Permanently removes up to `max` images that were deleted before `deleted_before` or whose account was deleted, and
    /// after those up to `max` files of deleted accounts; releases the blobs that are no longer referenced. Returns the
    /// number of removed images or files. When it returns 0, the deleted accounts are removed as well.
    async fn purge_images(&self, deleted_before: Timestamp, max: u32) -> Result<u32, StorageError>;

    /// The images of an account with a capture time later than `after`, oldest first, whatever the plan of the account.
    /// Deleted images and those that are not indexed are left out.
    async fn exported_images(
        &self,
        account: AccountId,
        after: Option<Timestamp>,
        max: u32,
    ) -> Result<Vec<ExportedImage>, StorageError>;
}
