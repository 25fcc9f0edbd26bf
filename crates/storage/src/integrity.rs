use async_trait::async_trait;
use domain::{BlobKind, ContentHash, ImageId, Rendition, Timestamp};

use crate::{BlobRef, StorageError, UploadId};

/// A rule that the rows of a store keep. Every operation maintains it in its own transaction, so only a defect, or a
/// change from outside, breaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreRule {
    /// The original of an image is registered as kept, with the image's length.
    OriginalIsKept,
    /// The original of a partial file is registered as kept, with the file's length.
    PartialOriginalIsKept,
    /// A ready image has the renditions medium, thumb and preview, or a job that makes them.
    RenditionsExistOrQueued,
    /// A ready image has the renditions medium, thumb and preview. This rule is not in [`ALL`](Self::ALL), because it
    /// is broken while a job makes the renditions again.
    RenditionsExist,
    /// The blobs of an image's renditions are registered as kept, with the renditions' lengths.
    RenditionsAreKept,
    PendingImageHasJob,
    /// The stored number of live images of an account is right.
    ImageCount,
    /// The stored months of an account's timeline have the right numbers.
    TimelineMonths,
    /// The stored number of bytes that an account stores is right.
    StoredBytes,
    /// An account has a root folder.
    RootFolder,
    /// The parent of a file or folder is a folder of the same account, and the parents above it end at a folder without
    /// a parent. A repair changes nothing.
    FileParent,
    /// The image of a file has the file's account and content. A repair changes nothing.
    FileImage,
    /// A photo file has the image that its account has with the same content.
    PhotoFileHasImage,
    /// An image that is marked as deleted with its last file is deleted and has no file. A repair clears only the mark of
    /// an image that is not deleted.
    DeletedWithFiles,
    /// The sum of bytes of a folder in the tree is right.
    FolderBytes,
    /// The copies of an image's capture time and visibility in albums and facets are right.
    AlbumCopies,
    /// The regions of an image are those of its place and position. Images that
    /// [`fill_regions`](crate::ImageStore::fill_regions) has yet to check are left out.
    Regions,
    /// The place index has exactly the ready images with a position.
    PlaceIndex,
    /// The map has exactly the live images with a position. Those that [`fill_map`](crate::MapStore::fill_map) has yet to
    /// add are left out.
    MapPoint,
    /// The stored sums of the squares of an account's map are right.
    MapCells,
    /// The word index has exactly the words of a live image.
    WordIndex,
    /// Words in the index belong to an image that exists.
    WordsHaveImage,
    /// A vector belongs to a ready image and has that image's account.
    VectorsHaveImage,
}

impl StoreRule {
    /// All rules that always hold, in an order in which repairs of the first ones make those of the later ones possible.
    pub const ALL: [Self; 22] = [
        Self::OriginalIsKept,
        Self::PartialOriginalIsKept,
        Self::RenditionsAreKept,
        Self::RenditionsExistOrQueued,
        Self::PendingImageHasJob,
        Self::WordsHaveImage,
        Self::VectorsHaveImage,
        Self::ImageCount,
        Self::TimelineMonths,
        Self::StoredBytes,
        Self::RootFolder,
        Self::FileParent,
        Self::FileImage,
        Self::PhotoFileHasImage,
        Self::DeletedWithFiles,
        Self::FolderBytes,
        Self::AlbumCopies,
        Self::Regions,
        Self::PlaceIndex,
        Self::MapPoint,
        Self::MapCells,
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
    pub id: ImageId,
    /// The address of its account; `None` when the account was deleted.
    pub account: Option<String>,
    /// The name of its file, if known.
    pub file_name: Option<String>,
}

/// A row that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub row: RuleRow,
    /// The image concerned, if there is one.
    pub image: Option<ImageReference>,
    /// What is wrong, if the rule alone does not say it.
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

/// What refers to a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobUser {
    Image(ImageReference),
    /// A photo under the temporary name of an upload.
    PartialFile {
        /// The address of its account.
        account: Option<String>,
        name: String,
    },
}

/// A part of an upload, as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPart {
    /// The file that holds it. Names of files are unique.
    pub file: String,
    pub bytes: u64,
    pub upload: UploadId,
    /// The address of its account; `None` when the account was deleted.
    pub account: Option<String>,
}

/// A reference to a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobUse {
    /// What refers to it.
    pub user: BlobUser,
    /// The original of the image or partial file.
    pub original: ContentHash,
    pub original_bytes: u64,
    /// The rendition whose bytes the blob has; `None` for the original itself.
    pub rendition: Option<Rendition>,
}

/// Checks whether a store is consistent with itself and with the blob store, and repairs data that can be derived.
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

    /// Repairs the rows among these that still break the rule. For rules about blobs the caller holds the role of the
    /// sweeper, because the repair keeps a blob again even if it is being removed.
    ///
    /// A missing rendition is queued; `RenditionsExist` holds once a worker has made it.
    async fn repair_rule(&self, rule: StoreRule, rows: &[RuleRow], at: Timestamp)
    -> Result<(), StorageError>;

    /// The blobs among these that are not registered in any state.
    async fn unregistered_blobs(
        &self,
        kind: BlobKind,
        hashes: &[ContentHash],
    ) -> Result<Vec<ContentHash>, StorageError>;

    /// The blobs among these that are kept although nothing refers to them.
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

    /// Stores the length of an original in every row that has it, and recomputes everything that depends on it.
    async fn correct_length(&self, original: &ContentHash, bytes: u64) -> Result<(), StorageError>;

    /// Up to `max` references to a kept blob by images and partial files; none when it is not kept.
    async fn blob_uses(
        &self,
        kind: BlobKind,
        hash: &ContentHash,
        max: u32,
    ) -> Result<Vec<BlobUse>, StorageError>;

    /// Up to `max` parts of uploads, by the names of their files, after the file `after`.
    async fn upload_parts(&self, after: Option<&str>, max: u32) -> Result<Vec<StoredPart>, StorageError>;

    /// Removes every reference to the blob of a rendition and takes the blob, as
    /// [`take_unreferenced_blobs`](crate::BlobRegistry::take_unreferenced_blobs) does: the caller holds the role of the
    /// sweeper, deletes the blob and forgets it. The rendition is queued to be made again: medium, thumb and preview
    /// with a job of the [`IndexQueue`](crate::IndexQueue), full with one of the
    /// [`RenditionQueue`](crate::RenditionQueue). Returns the number of references.
    async fn discard_rendition(&self, blob: BlobRef, at: Timestamp) -> Result<u32, StorageError>;
}
