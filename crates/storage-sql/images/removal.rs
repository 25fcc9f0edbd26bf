use std::collections::BTreeSet;

use diesel::{OptionalExtension, prelude::*};
use domain::{AccountId, ImageId, Timestamp};
use storage::{Lookup, Viewer};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock, place_index,
    sql::{
        account_rows::{adjust_live_images, is_active},
        blob_registry,
        deletion::{mark_deleted, undelete},
        files::remove_all_files,
        image_rows::resolve_image,
        map, months, originals, rendition_queue, renditions,
        schema::{accounts, images},
        text::remove_text,
    },
};

/// Deletes a visible image. It can be restored.
pub(super) fn delete(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &ImageId,
    at: Timestamp,
) -> Result<Lookup<()>, SqlError> {
    let found = match resolve_image(c, viewer, id)? {
        Lookup::Found(found) => found,
        Lookup::Foreign => return Ok(Lookup::Foreign),
        Lookup::Missing => return Ok(Lookup::Missing),
    };
    mark_deleted(c, viewer.account.0, &[found.seq], at, false)?;
    Ok(Lookup::Found(()))
}

/// Restores a deleted image.
pub(super) fn restore(c: &mut SqlConnection, account: AccountId, id: &ImageId) -> Result<bool, SqlError> {
    if !is_active(c, account.0)? {
        return Ok(false);
    }
    let deleted = images::table
        .filter(images::id.eq(id.as_str()))
        .filter(images::account_id.eq(account.0))
        .filter(images::deleted_at_ms.is_not_null())
        .select(images::seq)
        .get_result::<i64>(c)
        .optional()?;
    match deleted {
        None => Ok(false),
        Some(seq) => {
            undelete(c, account.0, &[seq])?;
            Ok(true)
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
struct RemovableImage {
    seq: i64,
    account_id: i64,
    original: Vec<u8>,
    state: String,
    live: bool,
}

/// Permanently removes a batch of images; when no image is left, a batch of files of deleted accounts; when no file is
/// left, these accounts.
pub(super) fn purge(c: &mut SqlConnection, deleted_before: Timestamp, max: u32) -> Result<u32, SqlError> {
    let removable = lock_removable_images(c, deleted_before, i64::from(max))?;
    for image in &removable {
        remove(c, image)?;
    }
    if removable.is_empty() && max > 0 {
        return remove_accounts(c, max);
    }
    Ok(u32::try_from(removable.len()).unwrap_or(u32::MAX))
}

/// Removes the deleted accounts, which have no images left, after up to `max` of their files. Returns the number of
/// files, or 0 when the accounts are removed.
fn remove_accounts(c: &mut SqlConnection, max: u32) -> Result<u32, SqlError> {
    let deleted: Vec<i64> =
        accounts::table.filter(accounts::deleted_at_ms.is_not_null()).select(accounts::id).load(c)?;
    let mut left = max;
    for account in deleted {
        lock::take(c, Lock::Account(account))?;
        // The account may have been deleted after the images were listed.
        let image = images::table.filter(images::account_id.eq(account)).select(images::seq).limit(1);
        if image.get_result::<i64>(c).optional()?.is_some() {
            return Ok(max);
        }
        left = left.saturating_sub(remove_all_files(c, account, left)?);
        if left == 0 {
            return Ok(max);
        }
        diesel::delete(accounts::table.find(account)).execute(c)?;
    }
    Ok(0)
}

/// Takes the locks of the accounts of a batch of images, and returns those that can still be removed.
fn lock_removable_images(
    c: &mut SqlConnection,
    deleted_before: Timestamp,
    max: i64,
) -> Result<Vec<RemovableImage>, SqlError> {
    let found = removable_images(c, deleted_before, max)?;
    let accounts: BTreeSet<i64> = found.iter().map(|image| image.account_id).collect();
    for account in &accounts {
        lock::take(c, Lock::Account(*account))?;
    }
    let mut removable = removable_images(c, deleted_before, max)?;
    removable.retain(|image| accounts.contains(&image.account_id));
    Ok(removable)
}

fn removable_images(
    c: &mut SqlConnection,
    deleted_before: Timestamp,
    max: i64,
) -> Result<Vec<RemovableImage>, SqlError> {
    let mut removable: Vec<RemovableImage> = images::table
        .filter(images::deleted_at_ms.lt(deleted_before.millis()))
        .order(images::deleted_at_ms)
        .limit(max)
        .select(RemovableImage::as_select())
        .load(c)?;
    let left = max.saturating_sub(i64::try_from(removable.len()).unwrap_or(max));
    if left > 0 {
        let deleted = accounts::table.filter(accounts::deleted_at_ms.is_not_null()).select(accounts::id);
        let of_deleted_accounts: Vec<RemovableImage> = images::table
            .filter(images::account_id.eq_any(deleted))
            .filter(images::deleted_at_ms.is_null().or(images::deleted_at_ms.ge(deleted_before.millis())))
            .limit(left)
            .select(RemovableImage::as_select())
            .load(c)?;
        removable.extend(of_deleted_accounts);
    }
    Ok(removable)
}

/// Permanently removes the deleted images among these; returns their number.
pub(crate) fn remove_forever(c: &mut SqlConnection, seqs: &[i64]) -> Result<u32, SqlError> {
    let removable: Vec<RemovableImage> = images::table
        .filter(images::seq.eq_any(seqs))
        .filter(images::deleted_at_ms.is_not_null())
        .select(RemovableImage::as_select())
        .load(c)?;
    for image in &removable {
        remove(c, image)?;
    }
    Ok(u32::try_from(removable.len()).unwrap_or(u32::MAX))
}

fn remove(c: &mut SqlConnection, image: &RemovableImage) -> Result<(), SqlError> {
    if image.state == "ready" {
        // The index entries are removed first, because finding them needs the row of the image.
        remove_text(c, &[image.seq])?;
        place_index::remove(c, image.seq)?;
        map::remove(c, image.seq)?;
    }
    if image.live {
        months::remove(c, &[image.seq])?;
    }
    blob_registry::lock_original(c, &image.original)?;
    diesel::delete(images::table.find(image.seq)).execute(c)?;
    if image.live {
        adjust_live_images(c, image.account_id, -1)?;
    }
    rendition_queue::drop_unneeded_job(c, &image.original)?;
    if !originals::has_image(c, &image.original)? {
        renditions::remove_all(c, &image.original)?;
    }
    originals::release(c, image.account_id, &image.original)
}
