use std::{path::Path, sync::Arc};

use ::tests::black_box::AnyError;
use blobs::BlobStore;
use domain::{
    BlobKind, CaptureSource, CaptureTime, ContentHash, Email, ImageId, KeyName, Keywords, Marks, Metadata,
    PhotoDetails, PixelSize, Plan, Position, Rendition, Thumbhash, Timestamp,
};
use keys::{Random as _, SeededRandom, SystemRandom, new_id};
use library::{Library, Settings, SystemClock, WorkerCommand};
use storage::{
    AccountStore as _, BlobRef, BlobRegistry as _, IndexQueue as _, IndexedImage, LeaseRequest, NewImage,
    SchemaStore as _, StoredRendition,
};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};

/// Number of images stored and indexed together.
const BATCH: u32 = 500;
const WORKER: &str = "seeding";

/// A generated library.
pub(crate) struct SeededLibrary {
    pub(crate) key: String,
    pub(crate) ids: Vec<String>,
}

/// Words of the descriptions. Each description has three of them.
pub(crate) const WORDS: [&str; 24] = [
    "beach", "mountain", "sunset", "birthday", "garden", "snow", "lake", "forest", "street", "market",
    "bridge", "harbour", "picnic", "wedding", "concert", "museum", "castle", "river", "bicycle", "train",
    "kitchen", "balcony", "festival", "island",
];

/// Builds a library in a data folder, with the database rows of indexed images and without their files.
pub(crate) async fn seed(data_dir: &Path, images: u32) -> Result<SeededLibrary, AnyError> {
    let options = SqliteOptions { durability: Durability::Off, ..SqliteOptions::default() };
    let store = SqliteStore::open(&data_dir.join("library.sqlite"), options).await?;
    store.migrate().await?;
    let blobs = BlobStore::open_folder(&data_dir.join("blobs"))?;
    let random = Arc::new(SystemRandom::new());
    let no_decoder = WorkerCommand { program: "none".into(), args: Vec::new(), environment: Vec::new() };
    let library = Library::new(
        Arc::new(store.clone()),
        blobs,
        Arc::new(SystemClock),
        random.clone(),
        Settings::new(no_decoder),
    )?;
    let email = Email::parse("bench@example.org")?;
    let (account, _) =
        library.accounts.create_account(email.clone(), Plan::Paid, Some("bench".into())).await?;
    store.mark_synced(account.id, Timestamp::MIN).await?;
    let key = library.accounts.create_key(&email, KeyName::parse("bench")?).await?;
    let mut ids = Vec::new();
    let seeded = SeededRandom::new(u64::from(images));
    for first in (0..images).step_by(BATCH as usize) {
        let range = first..images.min(first + BATCH);
        for number in range.clone() {
            let id = add(&store, account.id, number, &seeded).await?;
            ids.push(id);
        }
        index(&store, range.len(), &seeded).await?;
    }
    Ok(SeededLibrary { key, ids })
}

async fn add(
    store: &SqliteStore,
    account: domain::AccountId,
    number: u32,
    random: &SeededRandom,
) -> Result<String, AnyError> {
    let id = new_id(random)?;
    let original = address(number, 0);
    store
        .announce_blobs(
            &[BlobRef { kind: BlobKind::Original, hash: original, bytes: 4_000_000 }],
            Timestamp::MIN,
        )
        .await?;
    let image = NewImage {
        id: ImageId::parse(id.clone()).ok_or("a bad id")?,
        account,
        original,
        original_bytes: 4_000_000,
        media_type: "image/jpeg",
        file_name: Some(format!("IMG_{number:06}.jpg")),
        modified_at: None,
        added_at: Timestamp::MIN,
        sidecars: Vec::new(),
        sidecars_if_missing: Vec::new(),
        restore_deleted: storage::RestoreDeleted::Always,
        is_deleted: false,
        quota_bytes: None,
    };
    store.add_image(image).await?;
    Ok(id)
}

async fn index(store: &SqliteStore, count: usize, random: &SeededRandom) -> Result<(), AnyError> {
    let at = Timestamp::MIN;
    let request = LeaseRequest {
        worker: WORKER,
        at,
        until: Timestamp::MAX,
        max: u32::try_from(count)?,
        max_attempts: 10,
    };
    for job in store.lease_jobs(request, 1).await? {
        let number: u32 =
            job.file.name.as_deref().and_then(|name| name.get(4..10)).ok_or("no number")?.parse()?;
        // All renditions, so that the server has no background work during the measurement.
        let sizes =
            [(Rendition::Full, 4000, 3000), (Rendition::Medium, 1200, 900), (Rendition::Thumb, 512, 384)];
        let renditions = sizes.map(|(rendition, width, height)| StoredRendition {
            rendition,
            blob: address(number, width),
            bytes: 100_000,
            size: PixelSize { width, height },
        });
        let announced =
            renditions.map(|made| BlobRef { kind: BlobKind::Rendition, hash: made.blob, bytes: made.bytes });
        store.announce_blobs(&announced, at).await?;
        store.complete_job(job.id, WORKER, indexed(number, renditions.to_vec(), random)?).await?;
    }
    Ok(())
}

fn indexed(
    number: u32,
    renditions: Vec<StoredRendition>,
    random: &SeededRandom,
) -> Result<IndexedImage, AnyError> {
    let mut bytes = [0; 8];
    random.fill(&mut bytes)?;
    let word = |byte: u8| WORDS.get(usize::from(byte) % WORDS.len()).copied().unwrap_or_default();
    // Photos about an hour apart over several years, spread over a region.
    let taken = 1_400_000_000_000 + i64::from(number) * 3_157_000 + i64::from(bytes[0]) * 1000;
    let spread = |byte: u8| f64::from(byte) / 255.0 - 0.5;
    Ok(IndexedImage {
        metadata: Metadata {
            capture: CaptureTime {
                at: Timestamp::from_millis(taken).ok_or("a bad time")?,
                wall: None,
                offset_minutes: None,
                source: CaptureSource::ExifOriginal,
            },
            details: PhotoDetails {
                position: Some(Position::new(
                    48.0 + 4.0 * spread(bytes[1]) + 0.1 * spread(bytes[2]),
                    11.0 + 6.0 * spread(bytes[3]),
                )?),
                description: Some(format!("{} {} {}", word(bytes[4]), word(bytes[5]), word(bytes[6]))),
                camera_model: Some(format!("Model {}", number % 4)),
                ..PhotoDetails::default()
            },
            settings: None,
            marks: Marks {
                favorite: bytes[4] % 4 == 0,
                archived: bytes[5] % 8 == 0,
                keywords: Keywords::parse([word(bytes[6]), word(bytes[7])])?,
                ..Marks::default()
            },
        },
        size: PixelSize { width: 4000, height: 3000 },
        place: Some(format!("Town {}, Land {}", bytes[1] % 90, bytes[1] % 3)),
        text: (bytes[7] < 64).then(|| format!("receipt {number} total {}", bytes[7])),
        damaged: None,
        decoder_version: 1,
        thumbhash: Thumbhash::new(vec![0x25; 21]),
        renditions,
    })
}

fn address(number: u32, kind: u32) -> ContentHash {
    let mut hash = [0; 32];
    for (place, byte) in number.to_be_bytes().into_iter().chain(kind.to_be_bytes()).enumerate() {
        if let Some(slot) = hash.get_mut(place * 4) {
            *slot = byte;
        }
    }
    ContentHash::new(hash)
}
