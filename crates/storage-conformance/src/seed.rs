use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use domain::{
    Account, AccountId, AlbumId, AlbumTitle, BlobKind, CaptureSource, CaptureTime, ContentHash, Email,
    ImageId, Marks, Metadata, PhotoDetails, PixelSize, Plan, Position, Rendition, SyncHandle, Timestamp,
};
use fastrand::Rng;
use storage::{
    AddOutcome, AlbumWrite, AnnounceOutcome, BlobRef, IndexJob, IndexedImage, LeaseRequest, NewAccount,
    NewAlbum, NewImage, RenditionJob, SharedStore, StoredRendition, Viewer,
};

/// The sync handle of a seeded account.
pub fn sync_handle(email: &str) -> SyncHandle {
    let hex: String = email.bytes().map(|byte| format!("{byte:02x}")).collect();
    SyncHandle::parse(&format!("{hex:0>32}")).unwrap()
}

/// The default time at which seeded data is created: 2026-01-01T00:00:00Z.
pub const NOW: Timestamp = match Timestamp::from_millis(1_767_225_600_000) {
    Some(now) => now,
    None => Timestamp::MIN,
};

/// The version of the decoders of seeded images.
pub const DECODERS: u32 = 1;

/// The free window of the viewers that [`Seed::account`] returns.
pub const FREE_WINDOW: u32 = 5;

/// Number of images that are announced and leased together.
const BATCH: usize = 500;

/// An image to seed. Everything except the capture time has a default.
#[derive(Debug, Clone, PartialEq)]
pub struct Photo {
    /// The requested capture time; the store makes equal ones unique.
    pub captured_at: Timestamp,
    /// The offset of the clock where it was taken.
    pub offset_minutes: Option<i32>,
    pub added_at: Timestamp,
    /// The size of its full rendition.
    pub size: PixelSize,
    pub position: Option<Position>,
    /// The nearest city and country.
    pub place: Option<String>,
    /// The description in its metadata.
    pub description: Option<String>,
    /// The OCR text.
    pub text: Option<String>,
    pub file_name: Option<String>,
    /// The make and the model of its camera.
    pub camera: [Option<&'static str>; 2],
    pub marks: Marks,
    /// The address of its original; `None` for a new one.
    pub original: Option<ContentHash>,
    /// Its renditions. If empty, it gets one of each kind that a visible image has, with new addresses that no blob store has.
    pub renditions: Vec<StoredRendition>,
}

impl Photo {
    /// A photo of 3000 × 2000 pixels with this capture time and no other data.
    pub fn at(captured_at: Timestamp) -> Self {
        Self {
            captured_at,
            offset_minutes: None,
            added_at: NOW,
            size: PixelSize { width: 3000, height: 2000 },
            position: None,
            place: None,
            description: None,
            text: None,
            file_name: None,
            camera: [Some("Acme"), Some("Pinhole 1")],
            marks: Marks::default(),
            original: None,
            renditions: Vec::new(),
        }
    }

    /// A photo taken this many seconds after [`NOW`].
    pub fn at_second(second: i64) -> Self {
        Self::at(NOW.plus_millis(second * 1000))
    }

    /// A photo taken when a clock at this offset showed this time.
    ///
    /// # Panics
    /// When the time is malformed.
    pub fn at_clock(time: &str, offset_minutes: impl Into<Option<i32>>) -> Self {
        let offset_minutes = offset_minutes.into();
        let minutes = i64::from(offset_minutes.unwrap_or(0));
        let at = Timestamp::parse_iso(time).unwrap().plus_millis(-minutes * 60_000);
        Self { offset_minutes, ..Self::at(at) }
    }

    /// With a position in degrees.
    ///
    /// # Panics
    /// When the position is out of range.
    #[must_use]
    pub fn position(self, latitude: f64, longitude: f64) -> Self {
        Self { position: Some(Position::new(latitude, longitude).unwrap()), ..self }
    }

    /// With the name of a place.
    #[must_use]
    pub fn place(self, place: &str) -> Self {
        Self { place: Some(place.to_owned()), ..self }
    }

    #[must_use]
    pub fn description(self, description: &str) -> Self {
        Self { description: Some(description.to_owned()), ..self }
    }

    /// With OCR text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..self }
    }

    #[must_use]
    pub fn file_name(self, file_name: &str) -> Self {
        Self { file_name: Some(file_name.to_owned()), ..self }
    }

    #[must_use]
    pub fn camera(mut self, make: Option<&'static str>, model: Option<&'static str>) -> Self {
        self.camera = [make, model];
        self
    }

    #[must_use]
    pub fn marks(self, marks: Marks) -> Self {
        Self { marks, ..self }
    }

    #[must_use]
    pub fn original(self, original: ContentHash) -> Self {
        Self { original: Some(original), ..self }
    }

    /// With these renditions, for example some that are in a blob store. Photos may share them.
    #[must_use]
    pub fn renditions(self, renditions: &[StoredRendition]) -> Self {
        Self { renditions: renditions.to_vec(), ..self }
    }
}

/// Creates accounts, images and albums through the traits, fast enough for thousands in a test.
///
/// ```no_run
/// # async fn example(store: storage::SharedStore) {
/// use domain::{Plan, Timestamp};
/// use storage_conformance::{NOW, Photo, Seed, random_photos};
///
/// let seed = Seed::new(store);
/// let ann = seed.account(Plan::Paid).await;
/// let ids = seed.images(ann.account, vec![Photo::at_second(1), Photo::at_second(2).text("STOP")]).await;
/// seed.album(ann, "Signs", &ids[1..]).await;
/// // Five thousand more, the same in every run.
/// seed.images(ann.account, random_photos(5000, NOW, 7)).await;
/// # }
/// ```
///
/// # Panics
/// Its methods panic when the store fails or breaks a rule, to fail the test.
#[derive(Clone)]
pub struct Seed {
    store: SharedStore,
    tag: String,
    next: Arc<AtomicU64>,
}

impl Seed {
    /// Seeds a store. Ids, addresses and emails are the same in every run; a second seed on the same store needs a
    /// [`tag`](Self::tagged).
    pub fn new(store: SharedStore) -> Self {
        Self::tagged(store, "seed")
    }

    /// Seeds a store with ids that start with `tag`, which must be valid in ids.
    pub fn tagged(store: SharedStore, tag: &str) -> Self {
        Self { store, tag: tag.to_owned(), next: Arc::new(AtomicU64::new(1)) }
    }

    pub fn store(&self) -> &SharedStore {
        &self.store
    }

    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// An unused image id.
    pub fn image_id(&self) -> ImageId {
        ImageId::parse(format!("{}-image-{}", self.tag, self.number())).unwrap()
    }

    /// An unused album id.
    pub fn album_id(&self) -> AlbumId {
        AlbumId::parse(format!("{}-album-{}", self.tag, self.number())).unwrap()
    }

    /// An unused hash.
    pub fn hash(&self) -> ContentHash {
        let tag = self.tag.bytes().fold(0_u64, |tag, byte| tag.wrapping_mul(257) ^ u64::from(byte));
        let mut digest = [0; 32];
        Rng::with_seed(tag.rotate_left(32) ^ self.number()).fill(&mut digest);
        ContentHash::new(digest)
    }

    /// Creates an account with a new address; returns its viewer with a free window of [`FREE_WINDOW`].
    pub async fn account(&self, plan: Plan) -> Viewer {
        let email = format!("{}-{}@example.org", self.tag, self.number());
        let account = self.account_of(&email, plan).await;
        Viewer { account: account.id, plan, free_window: FREE_WINDOW }
    }

    /// Creates an account with that address at [`NOW`].
    pub async fn account_of(&self, email: &str, plan: Plan) -> Account {
        let account = NewAccount {
            email: Email::parse(email).unwrap(),
            password_hash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g".to_owned(),
            plan,
            sync_handle: sync_handle(email),
            created_at: NOW,
        };
        self.store.create_account(account).await.unwrap()
    }

    /// Creates a visible image.
    pub async fn image(&self, account: AccountId, photo: Photo) -> ImageId {
        self.images(account, vec![photo]).await.remove(0)
    }

    /// Creates visible images in this order. Jobs of other images stay queued. No worker may use the store meanwhile,
    /// because it could lease these jobs.
    pub async fn images(&self, account: AccountId, photos: Vec<Photo>) -> Vec<ImageId> {
        let mut ids = Vec::with_capacity(photos.len());
        let mut photos = photos.into_iter();
        loop {
            let batch: Vec<Photo> = photos.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return ids;
            }
            ids.extend(self.batch(account, batch).await);
        }
    }

    async fn batch(&self, account: AccountId, photos: Vec<Photo>) -> Vec<ImageId> {
        let photos: Vec<Photo> = photos.into_iter().map(|photo| self.complete_photo(photo)).collect();
        self.announce(&photos.iter().flat_map(blobs_of).collect::<Vec<_>>()).await;
        let mut ids = Vec::with_capacity(photos.len());
        let mut waiting = HashMap::with_capacity(photos.len());
        for photo in photos {
            let image = self.new_image(account, &photo);
            ids.push(image.id.clone());
            waiting.insert(image.id.clone(), photo);
            assert_eq!(self.store.add_image(image).await.unwrap(), AddOutcome::Added);
        }
        self.index(waiting).await;
        ids
    }

    /// Indexes these images and returns other jobs to the queue.
    async fn index(&self, mut waiting: HashMap<ImageId, Photo>) {
        let worker = format!("{}-{}", self.tag, self.number());
        let at = waiting.values().map(|photo| photo.added_at).max().unwrap_or(NOW);
        while !waiting.is_empty() {
            let jobs = self.lease(&worker, at).await;
            assert!(!jobs.is_empty(), "the store returned no job, or a worker leased it");
            for job in jobs {
                if let Some(photo) = waiting.remove(&job.image) {
                    let done = self.store.complete_job(job.id, &worker, indexed(&photo)).await.unwrap();
                    assert!(done, "a leased job was not completed");
                }
            }
        }
        self.store.release_leases(&worker).await.unwrap();
    }

    /// Leases jobs as [`lease`] requests, with decoders newer than any that a case queues for.
    pub async fn lease(&self, worker: &str, at: Timestamp) -> Vec<IndexJob> {
        self.store.lease_jobs(lease(worker, at), u32::MAX).await.unwrap()
    }

    /// Leases jobs for full renditions as [`lease`] requests.
    pub async fn lease_renditions(&self, worker: &str, at: Timestamp) -> Vec<RenditionJob> {
        self.store.lease_rendition_jobs(lease(worker, at)).await.unwrap()
    }

    /// Adds an original and renditions if they are missing.
    fn complete_photo(&self, mut photo: Photo) -> Photo {
        photo.original = photo.original.or_else(|| Some(self.hash()));
        if photo.renditions.is_empty() {
            photo.renditions =
                Rendition::displayable().map(|rendition| self.rendition(rendition, photo.size)).collect();
        }
        photo
    }

    /// A rendition with a new address, of an image of that size.
    pub fn rendition(&self, rendition: Rendition, full: PixelSize) -> StoredRendition {
        let size = full.fit_within(rendition.longest_side_px());
        StoredRendition { rendition, blob: self.hash(), bytes: size.area() / 8 + 1, size }
    }

    /// Announces blobs at [`NOW`].
    pub async fn announce(&self, blobs: &[BlobRef]) {
        assert_eq!(self.store.announce_blobs(blobs, NOW).await.unwrap(), AnnounceOutcome::Ready);
    }

    /// A request to add the photo. Its original must be announced.
    pub fn new_image(&self, account: AccountId, photo: &Photo) -> NewImage {
        NewImage {
            id: self.image_id(),
            account,
            original: photo.original.unwrap_or_else(|| self.hash()),
            original_bytes: ORIGINAL_BYTES,
            media_type: "image/jpeg",
            file_name: photo.file_name.clone(),
            modified_at: None,
            added_at: photo.added_at,
            sidecars: Vec::new(),
            sidecars_if_missing: Vec::new(),
            restore_deleted: storage::RestoreDeleted::Always,
            is_deleted: false,
            quota_bytes: None,
        }
    }

    /// Adds images that are pending.
    pub async fn waiting(&self, account: AccountId, count: usize) -> Vec<ImageId> {
        let mut ids = Vec::with_capacity(count);
        for _ in 0..count {
            let photo = self.complete_photo(Photo::at(NOW));
            self.announce(&blobs_of(&photo).collect::<Vec<_>>()).await;
            let image = self.new_image(account, &photo);
            ids.push(image.id.clone());
            assert_eq!(self.store.add_image(image).await.unwrap(), AddOutcome::Added);
        }
        ids
    }

    /// Creates an album at [`NOW`].
    pub async fn album(&self, viewer: Viewer, title: &str, images: &[ImageId]) -> AlbumId {
        let album = NewAlbum {
            id: self.album_id(),
            title: AlbumTitle::parse(title).unwrap(),
            images: images.iter().map(|id| id.as_str().to_owned()).collect(),
            created_at: NOW,
        };
        let id = album.id.clone();
        match self.store.create_album(viewer, album).await.unwrap() {
            AlbumWrite::Done(_) => id,
            other => panic!("the album was not created: {other:?}"),
        }
    }
}

/// A request for up to 500 jobs, for an hour.
pub fn lease(worker: &str, at: Timestamp) -> LeaseRequest<'_> {
    LeaseRequest { worker, at, until: at.plus_millis(3_600_000), max: 500, max_attempts: u32::MAX }
}

/// The length of every seeded original.
pub const ORIGINAL_BYTES: u64 = 1_000_000;

/// The blobs of a photo with original and renditions.
fn blobs_of(photo: &Photo) -> impl Iterator<Item = BlobRef> {
    let original = photo.original.map(|hash| original_blob(&hash));
    original.into_iter().chain(photo.renditions.iter().map(rendition_blob))
}

pub fn original_blob(original: &ContentHash) -> BlobRef {
    BlobRef { kind: BlobKind::Original, hash: *original, bytes: ORIGINAL_BYTES }
}

pub fn rendition_blob(rendition: &StoredRendition) -> BlobRef {
    BlobRef { kind: BlobKind::Rendition, hash: rendition.blob, bytes: rendition.bytes }
}

/// The result of indexing a photo.
pub fn indexed(photo: &Photo) -> IndexedImage {
    IndexedImage {
        metadata: Metadata {
            capture: CaptureTime {
                at: photo.captured_at,
                wall: None,
                offset_minutes: photo.offset_minutes,
                source: CaptureSource::ExifOriginal,
            },
            details: PhotoDetails {
                position: photo.position,
                description: photo.description.clone(),
                camera_make: photo.camera[0].map(str::to_owned),
                camera_model: photo.camera[1].map(str::to_owned),
            },
            settings: None,
            marks: photo.marks.clone(),
        },
        size: photo.size,
        place: photo.place.clone(),
        text: photo.text.clone(),
        damaged: None,
        decoder_version: DECODERS,
        thumbhash: None,
        renditions: photo.renditions.clone(),
    }
}
