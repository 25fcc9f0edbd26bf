use domain::{AccountId, ContentHash, FilePath, ImageId, Plan, Timestamp};
use storage::{
    FileChange, FileCondition, FileContent, FileEntry, FileId, FileImage, FileKind, FileListing, FileLock,
    FileMove, FileRefusal, FileTimes, FileWritten, ImageState, Lookup, NewFile, NewFileContent, NewImage,
    SharedStore, Viewer,
};

use crate::{ORIGINAL_BYTES, Photo, Seed, original_blob, queries::second};

/// A path that must be valid.
pub(crate) fn path(path: &str) -> FilePath {
    FilePath::parse(path).unwrap()
}

/// What a change of files returns.
pub(crate) type Changed<T> = Result<T, FileRefusal>;

/// The synced files of one account, with a short method for each operation.
#[derive(Clone)]
pub(crate) struct Files {
    pub(crate) seed: Seed,
    pub(crate) viewer: Viewer,
    pub(crate) lock_tokens: Vec<String>,
    pub(crate) at: Timestamp,
    pub(crate) quota_bytes: Option<u64>,
}

impl Files {
    /// The files of a new account.
    pub(crate) async fn new(seed: &Seed) -> Self {
        let viewer = seed.account(Plan::Paid).await;
        Self { seed: seed.clone(), viewer, lock_tokens: Vec::new(), at: second(1), quota_bytes: None }
    }

    /// The same files for a client with a lock token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { lock_tokens: vec![token.to_owned()], ..self.clone() }
    }

    /// The same files at this many seconds.
    pub(crate) fn at(&self, at: i64) -> Self {
        Self { at: second(at), ..self.clone() }
    }

    /// The same files with a quota.
    pub(crate) fn with_quota(&self, quota_bytes: u64) -> Self {
        Self { quota_bytes: Some(quota_bytes), ..self.clone() }
    }

    pub(crate) fn store(&self) -> &SharedStore {
        self.seed.store()
    }

    pub(crate) fn account(&self) -> AccountId {
        self.viewer.account
    }

    pub(crate) fn change(&self) -> FileChange {
        let (lock_tokens, quota_bytes) = (self.lock_tokens.clone(), self.quota_bytes);
        FileChange { account: self.account(), lock_tokens, at: self.at, quota_bytes }
    }

    pub(crate) async fn find(&self, at: &str) -> Option<FileEntry> {
        self.store().file(self.account(), &path(at)).await.unwrap()
    }

    /// The entry at a path, which must exist.
    pub(crate) async fn entry(&self, at: &str) -> FileEntry {
        self.find(at).await.unwrap_or_else(|| panic!("nothing is at {at}"))
    }

    pub(crate) async fn list(&self, at: &str) -> FileListing {
        let listing = self.store().list_files(self.account(), &path(at)).await.unwrap();
        listing.unwrap_or_else(|| panic!("nothing is at {at}"))
    }

    pub(crate) async fn names(&self, at: &str) -> Vec<String> {
        let members = self.list(at).await.members;
        members.into_iter().filter_map(|member| member.name).map(|name| name.as_str().to_owned()).collect()
    }

    pub(crate) async fn put(&self, file: NewFile) -> Changed<FileWritten> {
        self.store().put_file(self.change(), file).await.unwrap()
    }

    pub(crate) async fn announce(&self, original: &ContentHash) {
        self.seed.announce(&[original_blob(original)]).await;
    }

    /// A new, announced original.
    pub(crate) async fn original(&self) -> ContentHash {
        let original = self.seed.hash();
        self.announce(&original).await;
        original
    }

    pub(crate) fn new_image(&self, original: ContentHash) -> NewImage {
        let image = self.seed.new_image(self.account(), &Photo::at_second(1).original(original));
        NewImage { restore_deleted: storage::RestoreDeleted::IfDeletedWithFiles, ..image }
    }

    pub(crate) fn photo_file(&self, at: &str, original: ContentHash) -> NewFile {
        let content = NewFileContent::Photo(self.new_image(original));
        NewFile { bytes: ORIGINAL_BYTES, ..new_file(at, content) }
    }

    /// Puts a photo with these bytes.
    pub(crate) async fn put_photo(&self, at: &str, original: ContentHash) -> Changed<FileWritten> {
        self.announce(&original).await;
        self.put(self.photo_file(at, original)).await
    }

    /// Puts a new photo, which must succeed; returns its original.
    pub(crate) async fn photo(&self, at: &str) -> ContentHash {
        let original = self.original().await;
        self.put(self.photo_file(at, original)).await.unwrap();
        original
    }

    pub(crate) async fn put_partial(&self, at: &str, original: ContentHash) -> Changed<FileWritten> {
        self.announce(&original).await;
        let content = NewFileContent::Partial { original, media_type: "image/jpeg" };
        self.put(NewFile { bytes: ORIGINAL_BYTES, ..new_file(at, content) }).await
    }

    /// Puts junk of this length, which must succeed.
    pub(crate) async fn junk(&self, at: &str, bytes: u64) -> FileWritten {
        self.put(junk_file(at, bytes)).await.unwrap()
    }

    pub(crate) async fn folder(&self, at: &str) -> Changed<FileEntry> {
        self.store().create_folder(self.change(), &path(at), false).await.unwrap()
    }

    pub(crate) async fn folders(&self, at: &[&str]) {
        for folder in at {
            self.folder(folder).await.unwrap();
        }
    }

    pub(crate) async fn delete(&self, at: &str) -> Changed<()> {
        self.store().delete_file(self.change(), &path(at), FileCondition::Any).await.unwrap()
    }

    pub(crate) async fn rename(&self, to: FileMove) -> Changed<FileWritten> {
        self.store().move_file(self.change(), to).await.unwrap()
    }

    pub(crate) async fn copy(&self, to: FileMove) -> Changed<FileWritten> {
        self.store().copy_file(self.change(), to).await.unwrap()
    }

    pub(crate) async fn set_times(&self, at: &str, times: FileTimes) -> Changed<FileEntry> {
        self.store().set_file_times(self.change(), &path(at), times).await.unwrap()
    }

    /// Sweeps everything, in small batches.
    pub(crate) async fn sweep(&self) {
        while self.store().sweep_deleted_files(Some(self.account()), self.at, 3).await.unwrap() > 0 {}
    }

    pub(crate) async fn lock(&self, at: &str, token: &str, is_deep: bool) -> Changed<FileWritten> {
        self.store().lock_file(self.change(), self.new_lock(at, token, is_deep)).await.unwrap()
    }

    /// A lock for ten seconds.
    pub(crate) fn new_lock(&self, at: &str, token: &str, is_deep: bool) -> FileLock {
        let (token, owner) = (token.to_owned(), Some("<D:owner/>".to_owned()));
        FileLock { token, root: path(at), is_deep, owner, expires_at: self.at.plus_millis(10_000) }
    }

    pub(crate) async fn locks(&self, at: &str) -> Vec<String> {
        let locks = self.store().file_locks(self.account(), &path(at), self.at).await.unwrap();
        locks.into_iter().map(|lock| lock.token).collect()
    }

    /// The image of the photo at a path.
    pub(crate) async fn image(&self, at: &str) -> Option<FileImage> {
        match self.entry(at).await.kind {
            FileKind::File(FileContent::Photo { image, .. }) => image,
            other => panic!("{other:?} is at {at}"),
        }
    }

    /// The id of the image of the photo at a path.
    pub(crate) async fn image_id(&self, at: &str) -> ImageId {
        self.image(at).await.unwrap_or_else(|| panic!("the image of {at} was purged")).id
    }

    /// Indexes all images that are queued.
    pub(crate) async fn index(&self) {
        for job in self.seed.lease("indexer", self.at).await {
            let photo = Photo::at_second(1);
            let renditions = vec![self.seed.rendition(domain::Rendition::Thumb, photo.size)];
            self.seed.announce(&renditions.iter().map(crate::rendition_blob).collect::<Vec<_>>()).await;
            let indexed = crate::indexed(&photo.renditions(&renditions));
            assert!(self.store().complete_job(job.id, "indexer", indexed).await.unwrap());
        }
    }

    /// Whether the account's image with these bytes is deleted; `None` if there is none.
    pub(crate) async fn is_deleted(&self, original: &ContentHash) -> Option<bool> {
        let known = self.store().image_by_original(self.account(), original).await.unwrap();
        known.map(|image| image.deleted)
    }

    pub(crate) async fn is_visible(&self, id: &ImageId) -> bool {
        matches!(self.store().image(self.viewer, id).await.unwrap(), Lookup::Found(_))
    }

    /// Whether the image with these bytes is indexed.
    pub(crate) async fn is_ready(&self, original: &ContentHash) -> bool {
        let known = self.store().image_by_original(self.account(), original).await.unwrap();
        known.is_some_and(|image| image.state == ImageState::Ready)
    }

    pub(crate) async fn stored_bytes(&self) -> u64 {
        self.store().stored_bytes(self.account()).await.unwrap()
    }
}

/// A file without times and condition.
pub(crate) fn new_file(at: &str, content: NewFileContent) -> NewFile {
    NewFile {
        path: path(at),
        content,
        bytes: 0,
        times: FileTimes::default(),
        sha1: None,
        create_folders: false,
        condition: FileCondition::Any,
    }
}

pub(crate) fn junk_file(at: &str, bytes: u64) -> NewFile {
    NewFile { bytes, ..new_file(at, NewFileContent::Junk) }
}

/// A move or copy that replaces nothing.
pub(crate) fn transfer(from: &str, to: &str) -> FileMove {
    FileMove {
        from: path(from),
        to: path(to),
        overwrite: false,
        create_folders: false,
        condition: FileCondition::Any,
        image: None,
    }
}

/// A move or copy that replaces what is at the destination.
pub(crate) fn overwrite(from: &str, to: &str) -> FileMove {
    FileMove { overwrite: true, ..transfer(from, to) }
}

/// The id and version, from which the etag is made.
pub(crate) fn etag(entry: &FileEntry) -> (FileId, u64) {
    (entry.id, entry.version)
}
