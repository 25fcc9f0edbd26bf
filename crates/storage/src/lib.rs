//! The storage ports of the photo library: traits with the operations that it needs from a metadata store.
//!
//! Each method is one atomic operation: an adapter runs it in one transaction or one read snapshot, and callers
//! never hold a transaction. There are no methods per table. Each call sees what other processes have committed;
//! adapters keep no cache that could hide it.
//!
//! This crate knows no SQL, no file and no clock: times are parameters. Every adapter passes the `storage-conformance`
//! suite.
//!
//! The most common change is a new operation: add it to the trait of its topic with its outcome as an enum, write
//! its cases in `storage-conformance`, then implement it in the folder `storage-sql`, which both adapters compile.

mod accounts;
mod albums;
mod blob_registry;
mod copy;
mod edits;
mod error;
mod file_rules;
mod files;
mod grants;
mod images;
mod index_queue;
mod integrity;
mod library_state;
mod login_flows;
mod lookup;
mod map;
mod photo_context;
mod problems;
mod rendition_queue;
mod roles;
mod schema;
mod security_events;
mod selections;
mod sessions;
mod setup;
mod sign_in;
mod signing_keys;
mod stages;
mod store_clock;
mod timeline;
mod trash;
mod uploads;
mod vectors;
mod watched_files;
mod word_index;

use std::sync::Arc;

use domain::{AccountId, Plan};

pub use accounts::{
    AccountStore, CreateAccountError, CreateKeyError, KeyHash, KeyHolder, KeyId, KeyInfo, KeyKind,
    NewAccount, NewKey,
};
pub use albums::{
    AlbumMoved, AlbumName, AlbumPage, AlbumStore, AlbumWrite, ListedAlbum, NewAlbum, PositionedImage,
    Positions,
};
pub use blob_registry::{AnnounceOutcome, BlobRef, BlobRegistry};
pub use copy::{
    CopiedColumns, CopiedRow, CopiedTable, CopyStore, PageLimit, RowKey, SnapshotPart, SnapshotReceiver,
    Value,
};
pub use domain::BlobKind;
pub use edits::{
    ChangeImage, ChangedPlace, ChangedTime, Edit, EditStore, EditableImage, EditedImages, ImageChange,
    ImageEdits, ImageToChange, ImagesToEdit, ListedEdit, UndoCursor, UndoStep,
};
pub use error::StorageError;
pub use file_rules::{LockPosition, LockedAction, exceeds_quota};
pub use files::{
    FileChange, FileCondition, FileContent, FileEntry, FileId, FileImage, FileKind, FileListing, FileLock,
    FileMove, FilePosition, FileRefusal, FileStore, FileTimes, FileWritten, LocatedFile, LockToken,
    MAX_COPIED_FILES, MAX_COPIED_SIDECAR_BYTES, MAX_EMPTY_FILES, MAX_FILE_LOCKS, MAX_FILES_PER_PHOTO,
    NewFile, NewFileContent, PairedKind, RecentFiles,
};
pub use grants::{GrantEdits, GrantHolder, GrantHolderStore};
pub use images::{
    ExportedImage, FoundImage, ImageKey, ImageStore, MAX_TEXT_MATCHES, NameKind, RenditionSource,
    StoredRendition, TextColumns, TextMatch, TextTier,
};
pub use index_queue::{
    AddOutcome, DecodedPicture, ExistingImage, FailedImage, ImageState, IndexJob, IndexQueue, IndexedImage,
    JobId, LeaseRequest, NewImage, QueueLength, RestoreDeleted,
};
pub use integrity::{
    BlobUse, BlobUser, CheckDepth, CheckedRows, ImageReference, IntegrityStore, RuleRow, StoreRule,
    StoredPart, Violation,
};
pub use library_state::{LibraryState, LibraryStateStore, Transfer};
pub use login_flows::{LoginFlow, LoginFlowStore, LoginTokenHash, MAX_LOGIN_FLOWS, NewLoginFlow};
pub use lookup::Lookup;
pub use map::{MapCluster, MapStore};
pub use photo_context::{MAX_ALBUMS_OF_PHOTO, PhotoContext, PhotoContextStore};
pub use problems::{IndexingProgress, ProblemImage, ProblemStore};
pub use rendition_queue::{RenditionJob, RenditionQueue};
pub use roles::{RoleFence, RoleRequest, RoleStore};
pub use schema::SchemaStore;
pub use security_events::{
    EVENT_MERGE_WINDOW_MS, MAX_EVENTS_PER_KIND, NewSecurityEvent, SecurityEvent, SecurityEventStore,
};
pub use selections::{SelectedImage, SelectionCount, SelectionCursor, SelectionStep, SelectionStore};
pub use sessions::{MAX_SESSIONS, NewSession, SessionHash, SessionHolder, SessionInfo, SessionStore};
pub use setup::{MAX_SETUP_LINKS, SetupHash, SetupStore};
pub use sign_in::{AttemptId, SignInAttempt, SignInDecision, SignInLimits, SignInStore};
pub use signing_keys::{NewSigningKey, SigningKeyStore, StoredSigningKey};
pub use stages::{
    BackfillFilter, NewVector, RenditionBlob, Stage, StageId, StageJob, StageOutcome, StageProgress,
    StageQueue, VersionPolicy,
};
pub use store_clock::StoreClock;
pub use timeline::{MonthTotal, TimelineOrder, TimelineState, TimelineStore};
pub use trash::{TrashStore, TrashedImage};
pub use uploads::{
    AddPart, BeginUpload, MAX_FINISHED_UPLOADS, MAX_UPLOAD_PARTS, MAX_UPLOADS, NewUpload, SweptUploads,
    UploadId, UploadPart, UploadProtocol, UploadState, UploadStore,
};
pub use vectors::{EncoderId, StoredVector, VectorId, VectorStore, VisibleVector, VisitVector};
pub use watched_files::{FileVersion, WatchedFile, WatchedFileStore};
pub use word_index::WordIndex;

/// Everything the photo library needs from a metadata store.
///
/// Clients and grants are stored through the trait of the authorization server. The subject of a grant is the account
/// id in decimal. An authorization code for any other subject is not stored; the result is
/// [`Spent`](oauth_core::Issued::Spent).
pub trait Store:
    AccountStore
    + AlbumStore
    + BlobRegistry
    + CopyStore
    + EditStore
    + FileStore
    + GrantHolderStore
    + ImageStore
    + IndexQueue
    + IntegrityStore
    + LibraryStateStore
    + LoginFlowStore
    + MapStore
    + PhotoContextStore
    + ProblemStore
    + RenditionQueue
    + RoleStore
    + SchemaStore
    + SecurityEventStore
    + SelectionStore
    + SessionStore
    + SetupStore
    + SignInStore
    + SigningKeyStore
    + StageQueue
    + StoreClock
    + TimelineStore
    + TrashStore
    + UploadStore
    + VectorStore
    + WatchedFileStore
    + WordIndex
    + oauth_core::Store
{
}

impl<T> Store for T where
    T: AccountStore
        + AlbumStore
        + BlobRegistry
        + CopyStore
        + EditStore
        + FileStore
        + GrantHolderStore
        + ImageStore
        + IndexQueue
        + IntegrityStore
        + LibraryStateStore
        + LoginFlowStore
        + MapStore
        + PhotoContextStore
        + ProblemStore
        + RenditionQueue
        + RoleStore
        + SchemaStore
        + SecurityEventStore
        + SelectionStore
        + SessionStore
        + SetupStore
        + SignInStore
        + SigningKeyStore
        + StageQueue
        + StoreClock
        + TimelineStore
        + TrashStore
        + UploadStore
        + VectorStore
        + WatchedFileStore
        + WordIndex
        + oauth_core::Store
{
}

/// A store shared between tasks.
pub type SharedStore = Arc<dyn Store>;

/// The account that an operation runs for, and which of its images are visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewer {
    pub account: AccountId,
    pub plan: Plan,
    /// Number of newest images that are visible on the free plan. It also applies to other accounts when their images
    /// are looked up.
    pub free_window: u32,
}

impl Viewer {
    /// Number of the viewer's newest images that are visible; `None` when all are.
    pub fn window(&self) -> Option<u32> {
        match self.plan {
            Plan::Free => Some(self.free_window),
            Plan::Paid => None,
        }
    }
}
