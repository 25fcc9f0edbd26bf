//! Writes the originals of an account into a folder, with their metadata and albums.

mod files;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use blobs::BlobError;
use domain::{
    AccountId, AlbumId, AlbumOrder, ContentHash, DateRange, ImageId, Limit, Offset, Timestamp, UtcOffset,
};
use exports::{ALBUMS_FILE, ListedAlbum, albums_file, safe_file_name};
use futures_util::{StreamExt as _, stream};
use media::{FileValues, Format, WrittenSidecar};
use storage::{ExportedImage, Positions, StorageError, TimelineOrder, Viewer};

use crate::{FailedFile, Ingest};
use files::{ExportFolder, OriginalFile, Written};

/// How many images are read from the store at once.
const PAGE: u32 = 500;
/// How many files are written at once.
const FILES_AT_ONCE: usize = 4;
/// Local times differ from UTC by less than this.
const MAX_OFFSET_MS: i64 = 24 * 3600 * 1000;
/// The number of digits of an original's hash that tell files of the same name apart.
const SUFFIX_CHARS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportProgress {
    /// Photos that are exported.
    pub done: u64,
    /// All photos of the account.
    pub total: u64,
}

/// What an export wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportReport {
    /// How many photos the folder has now.
    pub photos: u64,
    /// How many originals were missing or different, and were written.
    pub written: u64,
    /// Total length of the written originals, in bytes.
    pub written_bytes: u64,
    /// How many sidecars were missing or different, and were written.
    pub sidecars: u64,
    /// How many albums are listed.
    pub albums: u64,
    /// The files that were not written.
    pub failed: Vec<FailedFile>,
}

/// Why an export ended early.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The metadata store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The folder cannot be written.
    #[error("{path} cannot be written: {source}")]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A folder of the export is a link or a file.
    #[error("{0} is not a folder; links are not followed. Remove it, or choose another folder")]
    NotAFolder(PathBuf),
}

/// A photo whose file has no name yet.
struct Unnamed {
    id: ImageId,
    added_at: Timestamp,
    name: String,
    extension: &'static str,
    original: ContentHash,
    bytes: u64,
    captured_at: Timestamp,
    sidecar: Vec<u8>,
}

/// A year and a month.
type Month = (i16, i8);

impl Ingest {
    /// Writes the originals of an account's photos, each with an XMP sidecar, and a list of the albums. Files that the folder
    /// has already are compared and left as they are. Deleted photos are left out. [`import_folder`](Self::import_folder)
    /// reads the folder.
    ///
    /// # Errors
    /// [`ExportError`]. A second run continues.
    pub async fn export(
        &self,
        account: AccountId,
        folder: &Path,
        mut progress: impl FnMut(ExportProgress),
    ) -> Result<ExportReport, ExportError> {
        let viewer = self.parts.catalogue.full_viewer(account);
        let total = u64::from(self.parts.store.count_images(viewer).await?);
        let folder = ExportFolder::open(folder.to_owned()).await?;
        let mut export = Export {
            ingest: self,
            folder: Arc::new(folder),
            report: ExportReport::default(),
            paths: HashMap::new(),
            total,
            done: 0,
        };
        export.photos(account, &mut progress).await?;
        export.albums(viewer).await?;
        Ok(export.report)
    }
}

struct Export<'a> {
    ingest: &'a Ingest,
    folder: Arc<ExportFolder>,
    report: ExportReport,
    /// The path of each exported photo, for the albums.
    paths: HashMap<ImageId, Box<str>>,
    total: u64,
    done: u64,
}

impl Export<'_> {
    /// Exports the photos month by month. The folder of a photo depends on its local time, so a month is complete only
    /// when the next photo was taken more than a day after its end.
    async fn photos(
        &mut self,
        account: AccountId,
        progress: &mut impl FnMut(ExportProgress),
    ) -> Result<(), ExportError> {
        let mut months: BTreeMap<Month, Vec<Unnamed>> = BTreeMap::new();
        let mut after = None;
        loop {
            let page = self.ingest.parts.store.exported_images(account, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            let reached = last.image.captured_at;
            after = Some(reached);
            for exported in page {
                let month = month_of(exported.image.captured_at, exported.image.utc_offset);
                months.entry(month).or_default().push(unnamed(exported));
            }
            let open_month = month_of(reached.plus_millis(-MAX_OFFSET_MS), None);
            while let Some(month) = months.first_entry().filter(|month| *month.key() < open_month) {
                let (month, photos) = month.remove_entry();
                self.month(month, photos, progress).await?;
            }
        }
        for (month, photos) in months {
            self.month(month, photos, progress).await?;
        }
        Ok(())
    }

    async fn month(
        &mut self,
        (year, month): Month,
        photos: Vec<Unnamed>,
        progress: &mut impl FnMut(ExportProgress),
    ) -> Result<(), ExportError> {
        let inner = format!("{year:04}/{month:02}");
        let parts = vec![format!("{year:04}"), format!("{month:02}")];
        let folder = self.folder.create_inner(parts).await?;
        let named = name_files(photos);
        let mut writing = stream::iter(named.into_iter().map(|(name, photo)| {
            let (folder, ingest) = (folder.clone(), self.ingest.clone());
            async move {
                let outcome = write_photo(&ingest, folder, &name, &photo).await;
                (name, photo, outcome)
            }
        }))
        .buffer_unordered(FILES_AT_ONCE);
        while let Some((name, photo, outcome)) = writing.next().await {
            match outcome? {
                Ok(WrittenPhoto { original, sidecar }) => {
                    self.report.photos += 1;
                    if original {
                        self.report.written += 1;
                        self.report.written_bytes += photo.bytes;
                    }
                    self.report.sidecars += u64::from(sidecar);
                    self.paths.insert(photo.id, format!("{inner}/{name}").into());
                }
                Err(reason) => {
                    self.report.failed.push(FailedFile::new(folder.join(&name), reason));
                }
            }
            self.done += 1;
            progress(ExportProgress { done: self.done, total: self.total.max(self.done) });
        }
        drop(writing);
        files::sync_folder(folder).await
    }

    async fn albums(&mut self, viewer: Viewer) -> Result<(), ExportError> {
        let mut listed = Vec::new();
        let mut offset = 0;
        loop {
            let from = Offset::new(offset).unwrap_or_default();
            let page = self.ingest.parts.store.page_albums(viewer, Limit::default(), from).await?;
            let read = u32::try_from(page.albums.len()).unwrap_or(u32::MAX);
            for album in page.albums {
                let photos = self.album_photos(viewer, &album.id, album.order).await?;
                let cover = album.cover.filter(|_| album.is_cover_chosen);
                let cover = cover.and_then(|cover| self.paths.get(&cover)).map(ToString::to_string);
                listed.push(ListedAlbum { title: album.title, order: album.order.into(), cover, photos });
            }
            offset = offset.saturating_add(read);
            if read == 0 || offset >= page.total {
                break;
            }
        }
        // The oldest first, so that an import creates them in this order.
        listed.reverse();
        self.report.albums = listed.len() as u64;
        let content = albums_file(&listed)
            .map_err(|source| ExportError::Folder { path: ALBUMS_FILE.into(), source })?;
        self.folder.write_if_different(ALBUMS_FILE, content).await
    }

    /// The paths of an album's photos, in its order.
    async fn album_photos(
        &self,
        viewer: Viewer,
        album: &AlbumId,
        order: AlbumOrder,
    ) -> Result<Vec<String>, ExportError> {
        let order = match order {
            AlbumOrder::NewestFirst => TimelineOrder::NewestFirst,
            AlbumOrder::OldestFirst => TimelineOrder::OldestFirst,
            AlbumOrder::ByHand => return self.album_photos_by_hand(viewer, album).await,
        };
        let store = &self.ingest.parts.store;
        let limit = Limit::new(100).unwrap_or_default();
        let (mut paths, mut start, mut end) = (Vec::new(), None, None);
        while let Ok(range) = DateRange::new(start, end) {
            let page = store.album_images(viewer, album, range, order, limit).await?.unwrap_or_default();
            let Some(last) = page.last() else { break };
            match order {
                TimelineOrder::NewestFirst => end = Some(last.captured_at.plus_millis(-1)),
                TimelineOrder::OldestFirst => start = Some(last.captured_at.plus_millis(1)),
            }
            paths.extend(page.iter().filter_map(|image| self.paths.get(&image.id)).map(ToString::to_string));
        }
        Ok(paths)
    }

    /// The paths of the photos of an album in its own order.
    async fn album_photos_by_hand(
        &self,
        viewer: Viewer,
        album: &AlbumId,
    ) -> Result<Vec<String>, ExportError> {
        let store = &self.ingest.parts.store;
        let limit = Limit::new(100).unwrap_or_default();
        let (mut paths, mut first) = (Vec::new(), i64::MIN);
        loop {
            let page = store.positioned_images(viewer, album, Positions::From(first), limit).await?;
            let page = page.unwrap_or_default();
            let Some(last) = page.last() else { return Ok(paths) };
            first = last.position.saturating_add(1);
            let known = page.iter().filter_map(|found| self.paths.get(&found.image.id));
            paths.extend(known.map(ToString::to_string));
        }
    }
}

fn unnamed(exported: ExportedImage) -> Unnamed {
    let ExportedImage { image, original, original_bytes, media_type, edits } = exported;
    let file = edits.as_ref().filter(|edits| !edits.fields.is_empty()).map(|edits| FileValues {
        corrected: &edits.fields,
        captured_at: edits.of_file.capture.at,
        utc_offset: edits.of_file.capture.offset_minutes.and_then(UtcOffset::from_minutes),
        position: edits.of_file.position,
        description: edits.of_file.description.as_deref(),
        marks: &edits.of_file.marks,
    });
    let sidecar = WrittenSidecar {
        captured_at: image.captured_at,
        utc_offset: image.utc_offset,
        position: image.details.position,
        description: image.details.description.as_deref(),
        marks: &image.marks,
        file,
    };
    Unnamed {
        sidecar: sidecar.xmp(),
        name: image.file_name.unwrap_or_else(|| image.id.to_string()),
        extension: extension(&media_type),
        id: image.id,
        added_at: image.added_at,
        captured_at: image.captured_at,
        original,
        bytes: original_bytes,
    }
}

fn extension(media_type: &str) -> &'static str {
    let format = Format::from_media_type(media_type);
    format.and_then(|format| format.extensions().first().copied()).unwrap_or("bin")
}

/// The month on a clock where the photo was taken.
fn month_of(at: Timestamp, offset: Option<UtcOffset>) -> Month {
    let wall = at.wall(offset.map_or(0, UtcOffset::minutes));
    (wall.year(), wall.month())
}

/// Gives each photo of a folder a name. If several photos have the same name, the photo that was added first keeps it, so
/// that names stay the same when photos are added.
fn name_files(mut photos: Vec<Unnamed>) -> Vec<(String, Unnamed)> {
    photos.sort_by(|one, other| (one.added_at, &one.id).cmp(&(other.added_at, &other.id)));
    let mut taken = HashSet::with_capacity(photos.len());
    let mut named = Vec::with_capacity(photos.len());
    for photo in photos {
        let hash = photo.original.to_string();
        let suffixes = [0, SUFFIX_CHARS, hash.len()].map(|chars| hash.get(..chars).unwrap_or_default());
        let names = suffixes.map(|digits| {
            let suffix = if digits.is_empty() { String::new() } else { format!("-{digits}") };
            safe_file_name(&photo.name, &suffix, photo.extension)
        });
        // Some file systems ignore case. The same account has each original once, so the last name is free.
        let free = names.into_iter().find(|name| taken.insert(name.to_lowercase()));
        if let Some(name) = free {
            named.push((name, photo));
        }
    }
    named
}

/// Which files of a photo were written.
struct WrittenPhoto {
    original: bool,
    sidecar: bool,
}

/// Writes a photo and its sidecar unless they are there. Fails with a reason that concerns only this photo.
async fn write_photo(
    ingest: &Ingest,
    folder: PathBuf,
    name: &str,
    photo: &Unnamed,
) -> Result<Result<WrittenPhoto, String>, ExportError> {
    let file = OriginalFile {
        path: folder.join(name),
        hash: photo.original,
        bytes: photo.bytes,
        modified_at: photo.captured_at,
    };
    let original = match files::write_original(&ingest.parts.blobs.content, file).await? {
        Written::New => true,
        Written::Present => false,
        Written::Refused(reason) => return Ok(Err(reason)),
    };
    match files::write_if_different(folder.join(format!("{name}.xmp")), photo.sidecar.clone()).await? {
        Written::Refused(reason) => Ok(Err(reason)),
        sidecar => Ok(Ok(WrittenPhoto { original, sidecar: sidecar == Written::New })),
    }
}
