use async_trait::async_trait;
use domain::{BlobKind, ContentHash, ImageId, Rendition, Timestamp};

use crate::{BlobRef, StorageError};

/// A rule that the rows of a store keep. Every operation maintains it in its own transaction, so only a defect, or a
/// change from outside, breaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreRule {
    /// The original of an image is registered as kept, with the image's length.
    OriginalIsKept,
    /// A ready image has the renditions medium and thumb, or a job that makes them.
    RenditionsExistOrQueued,
    /// A ready image has the renditions medium and thumb. Not in [`ALL`](Self::ALL), because it does not hold while a job
    /// makes them again.
    RenditionsExist,
    /// The blobs of an image's renditions are registered as kept, with the renditions' lengths.
    RenditionsAreKept,
    /// A pending image has a job.
    PendingImageHasJob,
    /// The stored number of live images of an account is right.
    ImageCount,
    /// The copies of an image's capture time and visibility in albums are right.
    AlbumCopies,
    /// The place index has exactly the ready images with a position.
    PlaceIndex,
    /// The word index has exactly the words of a live image.
    WordIndex,
    /// Words in the index belong to an image that exists.
    WordsHaveImage,
    /// A vector belongs to a ready image and has that image's account.
    VectorsHaveImage,
}

impl StoreRule {
    /// All rules that always hold, in an order in which repairs of the first ones make those of the later ones possible.
    pub const ALL: [Self; 10] = [
        Self::OriginalIsKept,
        Self::RenditionsAreKept,
        Self::RenditionsExistOrQueued,
        Self::PendingImageHasJob,
        Self::WordsHaveImage,
        Self::VectorsHaveImage,
        Self::ImageCount,
        Self::AlbumCopies,
        Self::PlaceIndex,
        Self::WordIndex,
    ];
}

/// How thorough a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CheckDepth {
    /// Everything that can be checked without reading all bytes.
    #[default]
    Quick,
    /// Everything.
    Full,
}

/// The row that a rule is checked for. It has a meaning only for that rule and store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleRow(pub i64);

/// What an operator needs to find a photo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageReference {
    /// The image.
    pub id: ImageId,
    /// The address of its account; `None` when the account was deleted.
    pub account: Option<String>,
    /// The name of its file, if known.
    pub file_name: Option<String>,
}

/// A row that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The row.
    pub row: RuleRow,
    /// The image concerned, if there is one.
    pub image: Option<ImageReference>,
    /// What is wrong, if the rule does not say it all.
    pub detail: Option<String>,
}

/// A part of the rows that a rule is checked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRows {
    /// The rows that break the rule.
    pub violations: Vec<Violation>,
    /// How many rows were checked.
    pub checked: u64,
    /// The last row that was checked; `None` when no row is left.
    pub last: Option<RuleRow>,
}

/// A reference to a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobUse {
    /// The image.
    pub image: ImageReference,
    /// Its original.
    pub original: ContentHash,
    /// The original's length.
    pub original_bytes: u64,
    /// The rendition whose bytes the blob has; `None` for the original itself.
    pub rendition: Option<Rendition>,
}

/// Checks whether a store agrees with itself and with the blob store, and repairs what can be derived.
///
/// Each call reads one snapshot and a bounded number of rows, so a check may run beside other operations.
#[async_trait]
pub trait IntegrityStore: Send + Sync + 'static {
    /// Checks the files or tables of the store itself for damage; returns up to `max` messages. It reads the whole store.
    async fn check_structure(&self, depth: CheckDepth, max: u32) -> Result<Vec<String>, StorageError>;

    /// Checks that every reference between rows leads to a row; returns up to `max` messages. It reads the whole store.
    async fn check_references(&self, max: u32) -> Result<Vec<String>, StorageError>;

    /// Checks a rule for up to `max` rows after `after`. Images of deleted accounts are left out.
    async fn check_rule(
        &self,
        rule: StoreRule,
        after: Option<RuleRow>,
        max: u32,
    ) -> Result<CheckedRows, StorageError>;

    /// Computes these rows again, each if it still breaks the rule. The caller holds the lock of the sweeper for rules
    /// about blobs, because a blob that is being removed is kept again.
    ///
    /// A missing rendition is queued to be made again; afterwards the rule holds.
    async fn repair_rule(&self, rule: StoreRule, rows: &[RuleRow], at: Timestamp)
    -> Result<(), StorageError>;

    /// Those of these blobs that are not registered in any state.
    async fn unregistered_blobs(
        &self,
        kind: BlobKind,
        hashes: &[ContentHash],
    ) -> Result<Vec<ContentHash>, StorageError>;

    /// Those of these blobs that are kept although nothing refers to them.
    async fn kept_blobs_without_use(
        &self,
        kind: BlobKind,
        hashes: &[ContentHash],
    ) -> Result<Vec<ContentHash>, StorageError>;

    /// Releases blobs that are kept although nothing refers to them. Their idle time starts now.
    async fn release_blobs_without_use(
        &self,
        kind: BlobKind,
        hashes: &[ContentHash],
        at: Timestamp,
    ) -> Result<(), StorageError>;

    /// Up to `max` references to a kept blob; none when it is not kept.
    async fn blob_uses(
        &self,
        kind: BlobKind,
        hash: &ContentHash,
        max: u32,
    ) -> Result<Vec<BlobUse>, StorageError>;

    /// Removes every reference to the blob of a rendition and takes the blob, as
    /// [`take_unreferenced_blobs`](crate::BlobRegistry::take_unreferenced_blobs) does: the caller holds the lock of the
    /// sweeper, deletes the blob and forgets it. The rendition is queued to be made again: medium and thumb with a job of
    /// the [`IndexQueue`](crate::IndexQueue), full with one of the [`RenditionQueue`](crate::RenditionQueue). Returns
    /// the number of references.
    async fn discard_rendition(&self, blob: BlobRef, at: Timestamp) -> Result<u32, StorageError>;
}
