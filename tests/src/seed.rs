use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use bytes::Bytes;
use domain::{
    BlobKind, CaptureSource, CaptureTime, ContentHash, ImageId, Marks, Metadata, PhotoDetails, PixelSize,
    Position, Rendition, Thumbhash, Timestamp,
};
use keys::new_id;
use library::{ImportReport, IndexingScope};
use storage::{
    AddOutcome, AnnounceOutcome, BlobRef, IndexJob, IndexedImage, LeaseRequest, NewImage, StoredRendition,
};

use crate::{TestAccount, TestApp};

/// Every rendition of every seeded image: one pixel.
const RENDITION: &[u8] = b"RIFF\x1A\0\0\0WEBPVP8L\x0D\0\0\0\x2F\0\0\0\x10\x07\x10\x11\x11\x88\x88\xFE\x07\0";

/// An indexed image.
#[derive(Debug, Clone)]
pub struct SeedImage {
    captured_at: Timestamp,
    offset_minutes: Option<i32>,
    details: PhotoDetails,
    marks: Marks,
    text: Option<String>,
    place: Option<String>,
    file_name: Option<String>,
    size: PixelSize,
}

impl SeedImage {
    /// An image taken at a time in ISO 8601, with 4000 by 3000 pixels and without other metadata.
    ///
    /// # Panics
    /// If the time is invalid.
    pub fn at(captured_at: &str) -> Self {
        Self::at_time(Timestamp::parse_iso(captured_at).unwrap())
    }

    /// Like [`Self::at`], with a parsed time.
    pub fn at_time(captured_at: Timestamp) -> Self {
        Self {
            captured_at,
            offset_minutes: None,
            details: PhotoDetails::default(),
            marks: Marks::default(),
            text: None,
            place: None,
            file_name: None,
            size: PixelSize { width: 4000, height: 3000 },
        }
    }

    /// This many images, each a minute older than the previous one.
    pub fn series(count: i64) -> Vec<Self> {
        let newest = Timestamp::parse_iso("2024-05-01T12:00:00Z").unwrap();
        (0..count).map(|age| Self::at_time(newest.plus_millis(-60_000 * age))).collect()
    }

    /// Sets the offset from UTC, in minutes.
    #[must_use]
    pub fn offset_minutes(mut self, minutes: i32) -> Self {
        self.offset_minutes = Some(minutes);
        self
    }

    /// Sets the position, in degrees.
    #[must_use]
    pub fn position(mut self, latitude: f64, longitude: f64) -> Self {
        self.details.position = Some(Position::new(latitude, longitude).unwrap());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: &str) -> Self {
        self.details.description = Some(description.to_owned());
        self
    }

    /// Sets the make and the model of the camera.
    #[must_use]
    pub fn camera(mut self, make: &str, model: &str) -> Self {
        self.details.camera_make = Some(make.to_owned());
        self.details.camera_model = Some(model.to_owned());
        self
    }

    /// Sets the text in the photo.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    /// Sets the nearest city and country.
    #[must_use]
    pub fn place(mut self, place: &str) -> Self {
        self.place = Some(place.to_owned());
        self
    }

    /// Sets the file name.
    #[must_use]
    pub fn file_name(mut self, file_name: &str) -> Self {
        self.file_name = Some(file_name.to_owned());
        self
    }

    #[must_use]
    pub fn marks(mut self, marks: Marks) -> Self {
        self.marks = marks;
        self
    }

    /// Sets the size in pixels.
    #[must_use]
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.size = PixelSize { width, height };
        self
    }

    fn indexed(self, renditions: Vec<StoredRendition>) -> IndexedImage {
        IndexedImage {
            metadata: Metadata {
                capture: CaptureTime {
                    at: self.captured_at,
                    wall: None,
                    offset_minutes: self.offset_minutes,
                    source: CaptureSource::ExifOriginal,
                },
                details: self.details,
                settings: None,
                marks: self.marks,
            },
            size: self.size,
            place: self.place,
            text: self.text,
            damaged: None,
            decoder_version: 1,
            thumbhash: Thumbhash::new(vec![0x25; 21]),
            renditions,
        }
    }
}

/// The path of a test file in the repository, such as `media/landscape-6.jpg`.
pub fn fixture(name: &str) -> PathBuf {
    fixtures().join(name)
}

/// The folder of test files in the repository.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

impl TestApp {
    /// Adds indexed images in this order and returns their ids.
    ///
    /// # Panics
    /// If the store rejects one, or other images are waiting to be indexed.
    pub async fn seed(
        &self,
        account: &TestAccount,
        images: impl IntoIterator<Item = SeedImage>,
    ) -> Vec<String> {
        let images: Vec<SeedImage> = images.into_iter().collect();
        let blob = self.rendition_blob().await;
        let mut ids = Vec::with_capacity(images.len());
        let mut by_id: HashMap<ImageId, SeedImage> = HashMap::with_capacity(images.len());
        let originals: Vec<BlobRef> = images.iter().map(|_| self.original()).collect();
        self.announce(&originals).await;
        for (image, original) in images.into_iter().zip(originals) {
            let id = self.add(account, &image, original).await;
            ids.push(id.to_string());
            by_id.insert(id, image);
        }
        for job in self.lease(ids.len()).await {
            let image = by_id.remove(&job.image).unwrap();
            let renditions = Rendition::ALL.map(|rendition| StoredRendition {
                rendition,
                blob: blob.hash,
                bytes: blob.bytes,
                size: image.size.fit_within(rendition.longest_side_px()),
            });
            let indexed = image.indexed(renditions.into());
            assert!(self.store.complete_job(job.id, "seed", indexed).await.unwrap());
        }
        assert!(by_id.is_empty(), "every image was indexed");
        ids
    }

    pub async fn seed_one(&self, account: &TestAccount, image: SeedImage) -> String {
        self.seed(account, [image]).await.remove(0)
    }

    async fn rendition_blob(&self) -> BlobRef {
        let hash = blobs::content_hash(RENDITION);
        let blob = BlobRef { kind: BlobKind::Rendition, hash, bytes: RENDITION.len() as u64 };
        self.announce(&[blob]).await;
        self.blobs().content.put_bytes(BlobKind::Rendition, Bytes::from_static(RENDITION)).await.unwrap();
        blob
    }

    async fn announce(&self, blobs: &[BlobRef]) {
        let announced = self.store.announce_blobs(blobs, self.library.clock().now()).await;
        assert_eq!(announced.unwrap(), AnnounceOutcome::Ready);
    }

    /// A unique original, which is never read.
    fn original(&self) -> BlobRef {
        let mut hash = [0; 32];
        self.library.random().fill(&mut hash).unwrap();
        BlobRef { kind: BlobKind::Original, hash: ContentHash::new(hash), bytes: 1 }
    }

    async fn add(&self, account: &TestAccount, image: &SeedImage, original: BlobRef) -> ImageId {
        let id = ImageId::parse(new_id(self.library.random()).unwrap()).unwrap();
        let new = NewImage {
            id: id.clone(),
            account: account.id,
            original: original.hash,
            original_bytes: original.bytes,
            media_type: "image/jpeg",
            file_name: image.file_name.clone(),
            modified_at: None,
            added_at: self.library.clock().now(),
            sidecars: Vec::new(),
            sidecars_if_missing: Vec::new(),
            restore_deleted: storage::RestoreDeleted::Always,
            is_deleted: false,
            quota_bytes: None,
        };
        assert_eq!(self.store.add_image(new).await.unwrap(), AddOutcome::Added);
        id
    }

    async fn lease(&self, max: usize) -> Vec<IndexJob> {
        let at = self.library.clock().now();
        let request = LeaseRequest {
            worker: "seed",
            at,
            until: at.plus_millis(60_000),
            max: u32::try_from(max).unwrap(),
            max_attempts: 1,
        };
        self.store.lease_jobs(request, 1).await.unwrap()
    }

    /// Imports files and folders and waits until they are indexed.
    ///
    /// # Panics
    /// If the import stops early.
    pub async fn import(&self, account: &TestAccount, paths: &[PathBuf]) -> ImportReport {
        self.indexed.store(true, Ordering::SeqCst);
        let indexing = self.library.indexer.start_indexing(IndexingScope::Search).unwrap();
        let report =
            self.library.ingest.import_folder(account.id, paths, IndexingScope::Search, |_| {}).await;
        assert_eq!(report.stopped, None);
        indexing.stop().await;
        report
    }

    /// Imports fixtures and returns their ids by file name.
    ///
    /// # Panics
    /// If one cannot be imported.
    pub async fn import_fixtures(&self, account: &TestAccount, names: &[&str]) -> HashMap<String, String> {
        let paths: Vec<PathBuf> = names.iter().map(|name| fixture(name)).collect();
        let report = self.import(account, &paths).await;
        assert_eq!(report.failed, []);
        let listed = self.get("/images?limit=100", &account.key).await;
        let named = |record: &serde_json::Value| {
            let file_name = record["fileName"].as_str()?.to_owned();
            Some((file_name, record["id"].as_str()?.to_owned()))
        };
        listed.results().iter().filter_map(named).collect()
    }
}
