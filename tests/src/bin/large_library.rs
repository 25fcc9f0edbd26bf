//! Makes a data folder with a library of 20,000 photos, or another number, for tests of the pages in browsers.
//!
//! The photos repeat the renditions of a few files. They spread over 20 years, 2,000 of them in one more month. Their originals
//! exist in the metadata store only.

use std::{error::Error, fs, path::Path, process::ExitCode, sync::Arc};

use blobs::BlobStore;
use domain::{
    BlobKind, CaptureSource, CaptureTime, ContentHash, Email, ImageId, Marks, Metadata, PhotoDetails,
    PixelSize, Plan, Position, Rendition, Thumbhash, Timestamp,
};
use keys::{SystemRandom, new_id};
use library::{Library, Settings, SystemClock, WorkerCommand};
use media::Limits;
use storage::{
    AccountStore as _, BlobRef, BlobRegistry as _, IndexQueue as _, IndexedImage, LeaseRequest, NewImage,
    RestoreDeleted, SchemaStore as _, StoredRendition,
};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};

const DEFAULT_PHOTOS: u32 = 20_000;
/// Number of photos in the crowded month.
const CROWDED: u32 = 2_000;
const BATCH: u32 = 500;
const ORIGINAL_BYTES: u64 = 1_000;
/// From the first to the last photo outside the crowded month.
const SPAN_MS: i64 = 630_000_054_000;
/// 2006-01-01T00:00:00Z and, for the crowded month, 2021-03-13T12:00:00Z.
const FIRST_MS: i64 = 1_136_073_600_000;
const CROWDED_MS: i64 = 1_615_636_800_000;

type AnyError = Box<dyn Error + Send + Sync>;

/// A file. Many photos share its renditions.
struct Picture {
    size: PixelSize,
    thumbhash: Option<Thumbhash>,
    renditions: Vec<StoredRendition>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (samples, folder, photos) = (arguments.next(), arguments.next(), arguments.next());
    let photos = photos.map_or(Some(DEFAULT_PHOTOS), |photos| photos.to_str()?.parse().ok());
    let (Some(samples), Some(folder), Some(photos)) = (samples, folder, photos) else {
        eprintln!("usage: large_library FOLDER_OF_PHOTOS NEW_DATA_FOLDER [PHOTOS]");
        return ExitCode::from(2);
    };
    match fill(samples.as_ref(), folder.as_ref(), photos).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn fill(samples: &Path, folder: &Path, photos: u32) -> Result<(), AnyError> {
    fs::create_dir_all(folder)?;
    let options = SqliteOptions { durability: Durability::Off, ..SqliteOptions::default() };
    let store = SqliteStore::open(&folder.join("library.sqlite"), options).await?;
    store.migrate().await?;
    let blobs = BlobStore::open_folder(&folder.join("blobs"))?;
    let pictures = pictures(samples, &store, &blobs).await?;
    let no_decoder = WorkerCommand { program: "none".into(), args: Vec::new(), environment: Vec::new() };
    let library = Library::new(
        Arc::new(store.clone()),
        blobs,
        Arc::new(SystemClock),
        Arc::new(SystemRandom::new()),
        Settings::new(no_decoder),
    )?;
    let email = Email::parse("ann@example.org")?;
    let (account, _) = library.accounts.create_account(email, Plan::Paid, None).await?;
    store.mark_synced(account.id, Timestamp::MIN).await?;
    for first in (0..photos).step_by(BATCH as usize) {
        let numbers = first..photos.min(first + BATCH);
        let originals: Vec<BlobRef> = numbers.clone().map(original).collect();
        store.announce_blobs(&originals, Timestamp::MIN).await?;
        for (number, original) in numbers.zip(originals) {
            store.add_image(new_image(account.id, number, original.hash)?).await?;
        }
        let request = LeaseRequest {
            worker: "filler",
            at: Timestamp::MIN,
            until: Timestamp::MAX,
            max: BATCH,
            max_attempts: 9,
        };
        for job in store.lease_jobs(request, media::DECODER_VERSION).await? {
            let number: u32 =
                job.file.name.as_deref().and_then(|name| name.get(4..10)).ok_or("no number")?.parse()?;
            let picture = pictures.get(number as usize % pictures.len().max(1)).ok_or("no pictures")?;
            store.complete_job(job.id, "filler", indexed(number, photos, picture)?).await?;
        }
    }
    Ok(())
}

/// The photos of a folder, with their renditions in the stores.
async fn pictures(samples: &Path, store: &SqliteStore, blobs: &BlobStore) -> Result<Vec<Picture>, AnyError> {
    let mut files: Vec<_> =
        fs::read_dir(samples)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.sort();
    let mut pictures = Vec::new();
    for file in files {
        let Ok(made) = media::render(&fs::read(file)?, &Rendition::ALL, &Limits { max_pixels: 50_000_000 })
        else {
            continue;
        };
        let mut renditions = Vec::new();
        for made in made.renditions {
            let blob = blobs::content_hash(&made.webp);
            let stored = StoredRendition {
                rendition: made.rendition,
                blob,
                bytes: made.webp.len() as u64,
                size: made.size,
            };
            let announced = BlobRef { kind: BlobKind::Rendition, hash: blob, bytes: stored.bytes };
            store.announce_blobs(&[announced], Timestamp::MIN).await?;
            blobs.content.put_bytes(BlobKind::Rendition, made.webp.into()).await?;
            renditions.push(stored);
        }
        pictures.push(Picture { size: made.full_size, thumbhash: made.thumbhash, renditions });
    }
    Ok(pictures)
}

fn original(number: u32) -> BlobRef {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    // The array has the length of a hash, so this always succeeds.
    let hash = ContentHash::from_slice(&bytes).unwrap_or_else(|| blobs::content_hash(&bytes));
    BlobRef { kind: BlobKind::Original, hash, bytes: ORIGINAL_BYTES }
}

fn new_image(account: domain::AccountId, number: u32, original: ContentHash) -> Result<NewImage, AnyError> {
    Ok(NewImage {
        id: ImageId::parse(new_id(&SystemRandom::new())?).ok_or("a bad id")?,
        account,
        original,
        original_bytes: ORIGINAL_BYTES,
        media_type: "image/jpeg",
        file_name: Some(format!("IMG_{number:06}.jpg")),
        modified_at: None,
        added_at: Timestamp::MIN,
        sidecars: Vec::new(),
        sidecars_if_missing: Vec::new(),
        restore_deleted: RestoreDeleted::Always,
        is_deleted: false,
        quota_bytes: None,
    })
}

fn indexed(number: u32, photos: u32, picture: &Picture) -> Result<IndexedImage, AnyError> {
    let number = i64::from(number);
    let ordinary = i64::from(photos.saturating_sub(CROWDED)).max(1);
    // Of 20,000 photos, each is about ten hours after the one before.
    let taken = if number < ordinary {
        FIRST_MS + number * (SPAN_MS / ordinary)
    } else {
        CROWDED_MS + (number - ordinary) * 60_000
    };
    let degrees = |step: i64, range: i64| f64::from(i32::try_from(number * step % range).unwrap_or(0)) / 10.0;
    let position =
        (number % 3 > 0).then(|| Position::new(degrees(37, 1_000) - 40.0, degrees(91, 3_400) - 170.0));
    Ok(IndexedImage {
        metadata: Metadata {
            capture: CaptureTime {
                at: Timestamp::from_millis(taken).ok_or("a bad time")?,
                wall: None,
                offset_minutes: Some(60),
                source: CaptureSource::ExifOriginal,
            },
            details: PhotoDetails {
                position: position.transpose()?,
                description: (number % 7 == 0).then(|| format!("Photo number {number}")),
                camera_make: Some("Acme".to_owned()),
                camera_model: Some(format!("Pinhole {}", number % 5)),
            },
            settings: None,
            marks: Marks { favorite: number % 9 == 0, archived: number % 50 == 0, ..Marks::default() },
        },
        size: picture.size,
        place: None,
        text: None,
        damaged: None,
        decoder_version: media::DECODER_VERSION,
        thumbhash: picture.thumbhash.clone(),
        renditions: picture.renditions.clone(),
    })
}
