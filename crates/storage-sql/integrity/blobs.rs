use diesel::{OptionalExtension, prelude::*};
use domain::{BlobKind, ContentHash, ImageId, Rendition, Timestamp};
use storage::{BlobRef, BlobUse, BlobUser, ImageReference};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        blob_registry::{is_kept, keep_always, release_at, take_always},
        originals,
        queue::replace_job,
        rendition_queue,
        schema::{accounts, files, images, renditions},
        value::{RowReader, stored_bytes},
    },
};

/// The blobs among these that are kept although nothing refers to them.
pub(super) fn kept_without_use(
    c: &mut SqlConnection,
    kind: BlobKind,
    hashes: &[ContentHash],
) -> Result<Vec<ContentHash>, SqlError> {
    let mut unused = Vec::new();
    for hash in hashes {
        if is_kept(c, kind, hash)? && !is_used(c, kind, hash)? {
            unused.push(*hash);
        }
    }
    Ok(unused)
}

pub(super) fn release_without_use(
    c: &mut SqlConnection,
    kind: BlobKind,
    hashes: &[ContentHash],
    at: Timestamp,
) -> Result<(), SqlError> {
    let unused = kept_without_use(c, kind, hashes)?;
    unused.iter().try_for_each(|hash| release_at(c, kind, hash, at))
}

fn is_used(c: &mut SqlConnection, kind: BlobKind, hash: &ContentHash) -> Result<bool, SqlError> {
    let hash = hash.as_bytes().as_slice();
    let used = match kind {
        BlobKind::Original => originals::has_image(c, hash)? || originals::has_partial_file(c, hash)?,
        BlobKind::Rendition => {
            let uses = renditions::table.filter(renditions::blob.eq(hash)).select(renditions::name);
            uses.get_result::<String>(c).optional()?.is_some()
        }
    };
    Ok(used)
}

/// Stores the length of an original for its blob, its images and its files.
pub(super) fn correct_length(
    c: &mut SqlConnection,
    original: &ContentHash,
    bytes: u64,
) -> Result<(), SqlError> {
    let (hash, bytes) = (original.as_bytes().as_slice(), stored_bytes(bytes)?);
    if is_kept(c, BlobKind::Original, original)? {
        keep_always(c, BlobKind::Original, hash, bytes)?;
    }
    let of_original = images::table.filter(images::original.eq(hash));
    let mut holders: Vec<i64> = diesel::update(of_original)
        .set(images::original_bytes.eq(bytes))
        .returning(images::account_id)
        .get_results(c)?;
    let of_original = files::table.filter(files::original.eq(hash)).filter(files::kind.eq("partial"));
    let changed: Vec<(i64, Option<i64>)> = diesel::update(of_original)
        .set(files::bytes.eq(bytes))
        .returning((files::account_id, files::parent_id))
        .get_results(c)?;
    holders.extend(changed.iter().map(|(account, _)| *account));
    for folder in changed.into_iter().filter_map(|(_, folder)| folder) {
        super::files::add_up(c, folder)?;
    }
    holders.sort_unstable();
    holders.dedup();
    holders.into_iter().try_for_each(|account| originals::recount_stored_bytes(c, account))
}

/// References to a kept blob, without those of deleted accounts.
pub(super) fn uses(
    c: &mut SqlConnection,
    kind: BlobKind,
    hash: &ContentHash,
    max: u32,
) -> Result<Vec<BlobUse>, SqlError> {
    if !is_kept(c, kind, hash)? {
        return Ok(Vec::new());
    }
    let originals: Vec<(Vec<u8>, Option<String>)> = match kind {
        BlobKind::Original => vec![(hash.as_bytes().to_vec(), None)],
        BlobKind::Rendition => renditions::table
            .filter(renditions::blob.eq(hash.as_bytes().as_slice()))
            .order(renditions::original)
            .limit(i64::from(max))
            .select((renditions::original, renditions::name.nullable()))
            .load(c)?,
    };
    let mut uses = Vec::new();
    for (original, name) in originals {
        let left = usize::try_from(max).unwrap_or(usize::MAX).saturating_sub(uses.len());
        uses.extend(uses_of_original(c, &original, name.as_deref(), left)?);
    }
    if kind == BlobKind::Original {
        let left = usize::try_from(max).unwrap_or(usize::MAX).saturating_sub(uses.len());
        uses.extend(partial_files(c, hash, left)?);
    }
    Ok(uses)
}

/// Up to `max` partial files with this original.
fn partial_files(
    c: &mut SqlConnection,
    original: &ContentHash,
    max: usize,
) -> Result<Vec<BlobUse>, SqlError> {
    let rows: Vec<(i64, Option<String>, String, i64)> = files::table
        .inner_join(accounts::table)
        .filter(files::original.eq(original.as_bytes().as_slice()))
        .filter(files::kind.eq("partial"))
        .filter(accounts::deleted_at_ms.is_null())
        .order(files::id)
        .limit(i64::try_from(max).unwrap_or(i64::MAX))
        .select((files::id, accounts::email, files::name, files::bytes))
        .load(c)?;
    rows.into_iter()
        .map(|(id, account, name, bytes)| {
            Ok(BlobUse {
                user: BlobUser::PartialFile { account, name },
                original: *original,
                original_bytes: RowReader::new("files", &id).unsigned("bytes", bytes)?,
                rendition: None,
            })
        })
        .collect()
}

/// Up to `max` images with this original, as uses of its rendition of that name, or of the original itself without a
/// name.
fn uses_of_original(
    c: &mut SqlConnection,
    original: &[u8],
    rendition: Option<&str>,
    max: usize,
) -> Result<Vec<BlobUse>, SqlError> {
    type Row = (i64, String, i64, Option<String>, Option<String>);
    let rows: Vec<Row> = images::table
        .inner_join(accounts::table)
        .filter(images::original.eq(original))
        .filter(accounts::deleted_at_ms.is_null())
        .order(images::seq)
        .limit(i64::try_from(max).unwrap_or(i64::MAX))
        .select((images::seq, images::id, images::original_bytes, accounts::email, images::file_name))
        .load(c)?;
    rows.into_iter()
        .map(|(seq, id, bytes, account, file_name)| {
            let reader = RowReader::new("images", &seq);
            let id = reader.required("id", ImageId::parse(id))?;
            let known =
                rendition.map(|name| reader.required("rendition", Rendition::from_name(name))).transpose()?;
            Ok(BlobUse {
                user: BlobUser::Image(ImageReference { id, account, file_name }),
                original: reader.hash("original", original)?,
                original_bytes: reader.unsigned("original_bytes", bytes)?,
                rendition: known,
            })
        })
        .collect()
}

/// Removes the references to a rendition's blob, takes the blob, and queues the rendition.
pub(super) fn discard_rendition(
    c: &mut SqlConnection,
    blob: BlobRef,
    at: Timestamp,
) -> Result<u32, SqlError> {
    let hash = blob.hash.as_bytes().as_slice();
    let of_blob = renditions::table.filter(renditions::blob.eq(hash));
    let originals: Vec<(Vec<u8>, String)> =
        of_blob.select((renditions::original, renditions::name)).load(c)?;
    diesel::delete(of_blob).execute(c)?;
    take_always(c, BlobKind::Rendition, hash, stored_bytes(blob.bytes)?, at)?;
    for (original, name) in &originals {
        if Rendition::from_name(name).is_some_and(Rendition::is_displayable) {
            requeue_images(c, original, at)?;
        }
        rendition_queue::update_job(c, original)?;
    }
    Ok(u32::try_from(originals.len()).unwrap_or(u32::MAX))
}

fn requeue_images(c: &mut SqlConnection, original: &[u8], at: Timestamp) -> Result<(), SqlError> {
    let ready: Vec<i64> = images::table
        .inner_join(accounts::table)
        .filter(images::original.eq(original))
        .filter(images::state.eq("ready"))
        .filter(accounts::deleted_at_ms.is_null())
        .select(images::seq)
        .load(c)?;
    ready.into_iter().try_for_each(|seq| replace_job(c, seq, at))
}
