//! Copies originals, renditions and the parts of uploads, and checks that the target has them.

use std::io;

use blobs::{BlobError, BlobStore, ContentStore};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use storage::{BlobKind, BlobRef, StoredPart};

use crate::{CopyError, CopyOptions, CopyProgress, LostFile, Place, progress::Counter};

/// Number of files that are read from the metadata store at once.
const PAGE: u32 = 500;
/// How many lost files are named.
const MAX_EXAMPLES: usize = 10;

const PARTS: &str = "parts of uploads";

/// The files of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopiedFiles {
    /// Number of files that this run copied.
    pub copied: u64,
    /// Their length.
    pub copied_bytes: u64,
    /// Number of originals and renditions that the target has.
    pub blobs: u64,
    /// Number of received parts of uploads that the target has.
    pub parts: u64,
}

/// Files that the source does not have.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    pub(crate) count: u64,
    pub(crate) examples: Vec<LostFile>,
}

impl Lost {
    fn add(&mut self, lost: LostFile) {
        self.count += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(lost);
        }
    }
}

const fn subject(kind: BlobKind) -> &'static str {
    match kind {
        BlobKind::Original => "originals",
        BlobKind::Rendition => "renditions",
    }
}

/// Copies the files that the target lacks, and returns their number and length. Lost and damaged files are left out; the
/// check finds them.
pub(crate) async fn copy(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    progress: &mut impl FnMut(CopyProgress),
) -> Result<CopiedFiles, CopyError> {
    let mut files = CopiedFiles::default();
    if options.same_files {
        return Ok(files);
    }
    for kind in [BlobKind::Original, BlobKind::Rendition] {
        let mut counter = Counter::new(progress, "copying files", subject(kind));
        let mut after = None;
        loop {
            let page = from.store.kept_blobs(kind, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.hash);
            let copying = page.into_iter().map(|blob| async move {
                let outcome = copy_blob(&from.blobs.content, &to.blobs, blob).await?;
                Ok::<_, CopyError>((outcome == BlobCopy::Copied).then_some(blob.bytes))
            });
            let mut copied = stream::iter(copying).buffer_unordered(options.files_at_once);
            while let Some(bytes) = copied.try_next().await? {
                files.add(bytes);
                counter.add(1);
            }
        }
    }
    let mut counter = Counter::new(progress, "copying files", PARTS);
    let mut after: Option<String> = None;
    loop {
        let page = from.store.upload_parts(after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(files) };
        after = Some(last.file.clone());
        let copying = page.into_iter().map(|part| copy_part(from, to, part));
        let mut copied = stream::iter(copying).buffer_unordered(options.files_at_once);
        while let Some(bytes) = copied.try_next().await? {
            files.add(bytes);
            counter.add(1);
        }
    }
}

impl CopiedFiles {
    fn add(&mut self, bytes: Option<u64>) {
        self.copied += u64::from(bytes.is_some());
        self.copied_bytes += bytes.unwrap_or(0);
    }
}

/// What [`copy_blob`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobCopy {
    /// The target has a blob of this address and length.
    Present,
    Copied,
    /// The source does not have the blob, or not with its bytes. The target does not have it.
    Lost,
}

/// Copies a blob unless the target has it. Its bytes are hashed on the way.
///
/// # Errors
/// [`CopyError::Blob`], [`CopyError::Staging`] or [`CopyError::Put`].
pub async fn copy_blob(from: &ContentStore, to: &BlobStore, blob: BlobRef) -> Result<BlobCopy, CopyError> {
    let BlobRef { kind, hash, bytes } = blob;
    match to.content.length(kind, hash).await? {
        Some(present) if present == bytes => return Ok(BlobCopy::Present),
        Some(_) => to.content.delete(kind, hash).await?,
        None => {}
    }
    let reader = match from.open(kind, hash, None).await {
        Err(BlobError::Missing { .. }) => return Ok(BlobCopy::Lost),
        reader => reader?,
    };
    let mut writer = to.staging.create(None).await?;
    let mut chunks = std::pin::pin!(reader.into_stream());
    while let Some(chunk) = chunks.next().await {
        writer.write(&chunk?).await?;
    }
    let staged = writer.finish().await?;
    if staged.fingerprint().hash != hash {
        return Ok(BlobCopy::Lost);
    }
    to.content.put_staged(kind, staged).await?;
    Ok(BlobCopy::Copied)
}

/// Copies a part of an upload unless the target has it; returns its length if it was copied.
async fn copy_part(from: &Place, to: &Place, part: StoredPart) -> Result<Option<u64>, CopyError> {
    let StoredPart { file, bytes, .. } = part;
    if to.blobs.parts.length(&file).await? == Some(bytes) {
        return Ok(None);
    }
    let mut writer = to.blobs.parts.create(None).await?;
    let mut chunks = std::pin::pin!(from.blobs.parts.read(vec![(file.clone(), bytes)]));
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunk) => writer.write(&chunk).await?,
            Err(error) if is_lost(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    if writer.bytes() != bytes {
        return Ok(None);
    }
    writer.finish_as(&file).await?;
    Ok(Some(bytes))
}

fn is_lost(error: &io::Error) -> bool {
    [io::ErrorKind::NotFound, io::ErrorKind::UnexpectedEof, io::ErrorKind::InvalidFilename]
        .contains(&error.kind())
}

/// Checks that the target has every file with its length. Adds the numbers to `files`.
pub(crate) async fn check(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    files: &mut CopiedFiles,
    progress: &mut impl FnMut(CopyProgress),
) -> Result<Lost, CopyError> {
    let mut lost = Lost::default();
    for kind in [BlobKind::Original, BlobKind::Rendition] {
        let mut counter = Counter::new(progress, "checking files", subject(kind));
        let mut after = None;
        loop {
            let page = to.store.kept_blobs(kind, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.hash);
            let checking = page.into_iter().map(|blob| lost_blob(from, to, blob));
            let mut checked = stream::iter(checking).buffer_unordered(options.files_at_once);
            while let Some(missing) = checked.try_next().await? {
                counter.add(1);
                files.blobs += u64::from(missing.is_none());
                missing.into_iter().for_each(|missing| lost.add(missing));
            }
        }
    }
    let mut counter = Counter::new(progress, "checking files", PARTS);
    let mut after: Option<String> = None;
    loop {
        let page = to.store.upload_parts(after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(lost) };
        after = Some(last.file.clone());
        for part in page {
            counter.add(1);
            if to.blobs.parts.length(&part.file).await? == Some(part.bytes) {
                files.parts += 1;
            } else {
                lost.add(LostFile { location: part.file, reason: "a part of an upload is missing" });
            }
        }
    }
}

/// What is wrong with a blob that the target does not have.
async fn lost_blob(from: &Place, to: &Place, blob: BlobRef) -> Result<Option<LostFile>, CopyError> {
    let BlobRef { kind, hash, bytes } = blob;
    if to.blobs.content.length(kind, hash).await? == Some(bytes) {
        return Ok(None);
    }
    let reason = match from.blobs.content.length(kind, hash).await? {
        None => "missing",
        Some(present) if present == bytes => "damaged",
        Some(_) => "has another length",
    };
    Ok(Some(LostFile { location: from.blobs.content.location(kind, hash), reason }))
}
