use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use domain::{
    Account, AccountId, AlbumId, AlbumTitle, BlobKind, CaptureSource, CaptureTime, ContentHash, Email,
    ImageId, Metadata, PhotoDetails, PixelSize, Plan, Position, Rendition, Timestamp,
};
use storage::{
    AddOutcome, AlbumWrite, AnnounceOutcome, BlobRef, IndexJob, IndexedImage, LeaseRequest, NewAccount,
    NewAlbum, NewImage, RenditionJob, SharedStore, StoredRendition, Viewer,
};

use crate::Random;

/// When seeded things come into being unless they say otherwise: 2026-01-01T00:00:00Z.
pub const NOW: Timestamp = match Timestamp::from_millis(1_767_225_600_000) {
    Some(now) => now,
    None => Timestamp::MIN,
};

/// The version of the decoders that seeded images were read with.
pub const DECODERS: u32 = 1;

/// The free window of the viewers that [`Seed::account`] gives.
pub const FREE_WINDOW: u32 = 5;

/// How many images are announced and leased at once.
const BATCH: usize = 500;

/// An image to seed. Everything but the capture time has a plain default.
#[derive(Debug, Clone, PartialEq)]
pub struct Photo {
    /// The capture time that is asked for; equal ones move apart as the store sees fit.
    pub captured_at: Timestamp,
    /// When it comes.
    pub added_at: Timestamp,
    /// The size of its full rendition.
    pub size: PixelSize,
    /// Where it was taken.
    pub position: Option<Position>,
    /// The nearest city and country.
    pub place: Option<String>,
    /// What its metadata say.
    pub description: Option<String>,
    /// The words read in it.
    pub text: Option<String>,
    /// The name of its file.
    pub file_name: Option<String>,
    /// The address of its original; a new one when `None`.
    pub original: Option<ContentHash>,
    /// Its renditions; when empty, a medium and a thumb at addresses of their own, which no blob store holds.
    pub renditions: Vec<StoredRendition>,
}

impl Photo {
    /// A photo of 3000 × 2000 pixels taken then, about which nothing else is known.
    pub const fn at(captured_at: Timestamp) -> Self {
        Self {
            captured_at,
            added_at: NOW,
            size: PixelSize { width: 3000, height: 2000 },
            position: None,
            place: None,
            description: None,
            text: None,
            file_name: None,
            original: None,
            renditions: Vec::new(),
        }
    }

    /// Taken so many seconds after [`NOW`].
    pub fn at_second(second: i64) -> Self {
        Self::at(NOW.plus_millis(second * 1000))
    }

    /// Taken there: degrees of latitude and longitude.
    ///
    /// # Panics
    /// When there is no such place.
    #[must_use]
    pub fn position(self, latitude: f64, longitude: f64) -> Self {
        Self { position: Some(Position::new(latitude, longitude).unwrap()), ..self }
    }

    /// With the name of a place.
    #[must_use]
    pub fn place(self, place: &str) -> Self {
        Self { place: Some(place.to_owned()), ..self }
    }

    /// With a description.
    #[must_use]
    pub fn description(self, description: &str) -> Self {
        Self { description: Some(description.to_owned()), ..self }
    }

    /// With words in the picture.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..self }
    }

    /// With the name of its file.
    #[must_use]
    pub fn file_name(self, file_name: &str) -> Self {
        Self { file_name: Some(file_name.to_owned()), ..self }
    }

    /// With an original of that address.
    #[must_use]
    pub fn original(self, original: ContentHash) -> Self {
        Self { original: Some(original), ..self }
    }

    /// With renditions of its own, for example some that a blob store really holds. Many photos may share them.
    #[must_use]
    pub fn renditions(self, renditions: &[StoredRendition]) -> Self {
        Self { renditions: renditions.to_vec(), ..self }
    }
}

/// Makes accounts, images and albums through the ports only, so quickly that a test can have thousands.
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
/// Its methods panic when the store fails or does not do what it must: a test is over then.
#[derive(Clone)]
pub struct Seed {
    store: SharedStore,
    tag: String,
    next: Arc<AtomicU64>,
}

impl Seed {
    /// Seeds a store. The ids, addresses and emails that one seed makes are the same in every run; a second one
    /// on the same store needs a [`tag`](Self::tagged).
    pub fn new(store: SharedStore) -> Self {
        Self::tagged(store, "seed")
    }

    /// Seeds a store with ids that begin with `tag`, which holds only characters of ids.
    pub fn tagged(store: SharedStore, tag: &str) -> Self {
        Self { store, tag: tag.to_owned(), next: Arc::new(AtomicU64::new(1)) }
    }

    /// The store.
    pub fn store(&self) -> &SharedStore {
        &self.store
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// An id for an image that nobody has.
    pub fn image_id(&self) -> ImageId {
        ImageId::parse(format!("{}-image-{}", self.tag, self.number())).unwrap()
    }

    /// An id for an album that nobody has.
    pub fn album_id(&self) -> AlbumId {
        AlbumId::parse(format!("{}-album-{}", self.tag, self.number())).unwrap()
    }

    /// The address of bytes that nobody has.
    pub fn hash(&self) -> ContentHash {
        let tag = self.tag.bytes().fold(0_u64, |tag, byte| tag.wrapping_mul(257) ^ u64::from(byte));
        let mut random = Random::new(tag.rotate_left(32) ^ self.number());
        let mut digest = [0; 32];
        for part in digest.chunks_exact_mut(8) {
            part.copy_from_slice(&random.next().to_be_bytes());
        }
        ContentHash::new(digest)
    }

    /// An account with an address of its own, as one who looks at the library with a free window of
    /// [`FREE_WINDOW`].
    pub async fn account(&self, plan: Plan) -> Viewer {
        let email = format!("{}-{}@example.org", self.tag, self.number());
        let account = self.account_of(&email, plan).await;
        Viewer { account: account.id, plan, free_window: FREE_WINDOW }
    }

    /// An account with that address, made at [`NOW`].
    pub async fn account_of(&self, email: &str, plan: Plan) -> Account {
        let account = NewAccount {
            email: Email::parse(email).unwrap(),
            password_hash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g".to_owned(),
            plan,
            created_at: NOW,
        };
        self.store.create_account(account).await.unwrap()
    }

    /// One image that can be seen.
    pub async fn image(&self, account: AccountId, photo: Photo) -> ImageId {
        self.images(account, vec![photo]).await.remove(0)
    }

    /// Images that can be seen, in the order given. Jobs that wait for others are left waiting; no worker may be at
    /// work on the store, for it could take these.
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

    /// Indexes what waits and leaves the jobs of others as they were.
    async fn index(&self, mut waiting: HashMap<ImageId, Photo>) {
        let worker = format!("{}-{}", self.tag, self.number());
        let at = waiting.values().map(|photo| photo.added_at).max().unwrap_or(NOW);
        while !waiting.is_empty() {
            let jobs = self.lease(&worker, at).await;
            assert!(!jobs.is_empty(), "the store holds jobs back, or a worker took them");
            for job in jobs {
                if let Some(photo) = waiting.remove(&job.image) {
                    let done = self.store.complete_job(job.id, &worker, indexed(&photo)).await.unwrap();
                    assert!(done, "a job that is held is completed");
                }
            }
        }
        self.store.release_leases(&worker).await.unwrap();
    }

    /// Leases jobs for an hour as [`lease`].
    pub async fn lease(&self, worker: &str, at: Timestamp) -> Vec<IndexJob> {
        self.store.lease_jobs(lease(worker, at), DECODERS).await.unwrap()
    }

    /// Leases full renditions to make for an hour as [`lease`] says.
    pub async fn lease_renditions(&self, worker: &str, at: Timestamp) -> Vec<RenditionJob> {
        self.store.lease_rendition_jobs(lease(worker, at)).await.unwrap()
    }

    /// Gives a photo what it lacks to be stored: an original and renditions.
    fn complete_photo(&self, mut photo: Photo) -> Photo {
        photo.original = photo.original.or_else(|| Some(self.hash()));
        if photo.renditions.is_empty() {
            photo.renditions = vec![
                self.rendition(Rendition::Medium, photo.size),
                self.rendition(Rendition::Thumb, photo.size),
            ];
        }
        photo
    }

    /// A rendition, at an address of its own, of an image of that size.
    pub fn rendition(&self, rendition: Rendition, full: PixelSize) -> StoredRendition {
        let size = full.fit_within(rendition.longest_side_px());
        StoredRendition { rendition, blob: self.hash(), bytes: size.area() / 8 + 1, size }
    }

    /// Announces blobs at [`NOW`].
    pub async fn announce(&self, blobs: &[BlobRef]) {
        assert_eq!(self.store.announce_blobs(blobs, NOW).await.unwrap(), AnnounceOutcome::Ready);
    }

    /// What adding the photo takes; its original must be announced.
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
        }
    }

    /// Images that were announced and added, and wait to be indexed.
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

    /// An album made at [`NOW`].
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
            other => panic!("an album was not made: {other:?}"),
        }
    }
}

/// A request for up to 500 jobs, for an hour.
pub fn lease(worker: &str, at: Timestamp) -> LeaseRequest<'_> {
    LeaseRequest { worker, at, until: at.plus_millis(3_600_000), max: 500, max_attempts: u32::MAX }
}

/// The length of every seeded original.
pub const ORIGINAL_BYTES: u64 = 1_000_000;

/// The blobs of a photo whose original and renditions are known.
fn blobs_of(photo: &Photo) -> impl Iterator<Item = BlobRef> {
    let original = photo.original.map(|hash| original_blob(&hash));
    original.into_iter().chain(photo.renditions.iter().map(rendition_blob))
}

/// The blob of an original.
pub fn original_blob(original: &ContentHash) -> BlobRef {
    BlobRef { kind: BlobKind::Original, hash: *original, bytes: ORIGINAL_BYTES }
}

/// The blob of a rendition.
pub fn rendition_blob(rendition: &StoredRendition) -> BlobRef {
    BlobRef { kind: BlobKind::Rendition, hash: rendition.blob, bytes: rendition.bytes }
}

/// What indexing finds out about a photo.
pub fn indexed(photo: &Photo) -> IndexedImage {
    IndexedImage {
        metadata: Metadata {
            capture: CaptureTime {
                at: photo.captured_at,
                wall: None,
                offset_minutes: None,
                source: CaptureSource::ExifOriginal,
            },
            details: PhotoDetails {
                position: photo.position,
                description: photo.description.clone(),
                camera_make: Some("Acme".to_owned()),
                camera_model: Some("Pinhole 1".to_owned()),
            },
        },
        size: photo.size,
        place: photo.place.clone(),
        text: photo.text.clone(),
        damaged: None,
        decoder_version: DECODERS,
        renditions: photo.renditions.clone(),
    }
}
