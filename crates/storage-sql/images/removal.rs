use std::collections::BTreeSet;

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use domain::{AccountId, ImageId, Timestamp};
use storage::{Lookup, Viewer};

use super::{
    lookup::resolve_image,
    renditions,
    text::{add_text, remove_text},
};
use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock, place_index,
    sql::{
        accounts::{adjust_live_images, is_active},
        blob_registry,
        files::remove_all_files,
        map, originals, rendition_queue,
        schema::{accounts, album_images, files, images},
        statement, timeline,
        value::json_array,
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

/// Deletes an image, indexed or not, if no file has it any more. One that is deleted already stays as it is.
pub(crate) fn delete_without_files(c: &mut SqlConnection, seq: i64, at: Timestamp) -> Result<(), SqlError> {
    let file = files::table.filter(files::image_seq.eq(seq)).select(files::id).first::<i64>(c).optional()?;
    if file.is_none() {
        let account = images::table.find(seq).select(images::account_id).get_result(c)?;
        mark_deleted(c, account, &[seq], at, true)?;
    }
    Ok(())
}

const DELETE: &str = concat!(
    "UPDATE images SET deleted_at_ms = $1, deleted_with_files = $2
    WHERE deleted_at_ms IS NULL AND seq IN (SELECT value FROM ",
    integers!("$3"),
    " AS chosen)"
);

/// Deletes images of an account, indexed or not. Returns how many it deleted; those deleted before do not count.
pub(crate) fn mark_deleted(
    c: &mut SqlConnection,
    account: i64,
    seqs: &[i64],
    at: Timestamp,
    with_files: bool,
) -> Result<u32, SqlError> {
    if seqs.is_empty() {
        return Ok(0);
    }
    let live = live_among(c, seqs)?;
    let deleted = statement(DELETE)
        .bind::<BigInt, _>(at.millis())
        .bind::<Bool, _>(with_files)
        .bind::<Text, _>(json_array(seqs))
        .execute(c)?;
    if !live.is_empty() {
        // In the index, a deleted image would displace hits of others, and its words would stay in the vocabulary.
        remove_text(c, &live)?;
        live.iter().try_for_each(|seq| map::update(c, *seq))?;
        set_live_in_albums(c, &live, false)?;
        timeline::remove(c, &live)?;
        adjust_live_images(c, account, -len(&live))?;
        rendition_queue::drop_unneeded_jobs(c, &live)?;
    }
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

#[derive(QueryableByName)]
struct Seq {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

const LIVE_AMONG: &str = concat!(
    "SELECT i.seq AS seq FROM ",
    integers!("$1"),
    " AS chosen ",
    join_after!("images", "i", "i.seq = chosen.value"),
    " WHERE i.live = TRUE"
);

fn live_among(c: &mut SqlConnection, seqs: &[i64]) -> Result<Vec<i64>, SqlError> {
    let live: Vec<Seq> = statement(LIVE_AMONG).bind::<Text, _>(json_array(seqs)).load(c)?;
    Ok(live.into_iter().map(|row| row.seq).collect())
}

fn len(seqs: &[i64]) -> i64 {
    i64::try_from(seqs.len()).unwrap_or(i64::MAX)
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

const RESTORE: &str = concat!(
    "UPDATE images SET deleted_at_ms = NULL, deleted_with_files = FALSE
    WHERE deleted_at_ms IS NOT NULL AND seq IN (SELECT value FROM ",
    integers!("$1"),
    " AS chosen)"
);

/// Reverts the deletion of images of an account in all tables. Returns how many there were. All are deleted.
pub(crate) fn undelete(c: &mut SqlConnection, account: i64, seqs: &[i64]) -> Result<u32, SqlError> {
    if seqs.is_empty() {
        return Ok(0);
    }
    let restored = statement(RESTORE).bind::<Text, _>(json_array(seqs)).execute(c)?;
    let live = live_among(c, seqs)?;
    if !live.is_empty() {
        add_text(c, &live)?;
        live.iter().try_for_each(|seq| map::update(c, *seq))?;
        set_live_in_albums(c, &live, true)?;
        timeline::add(c, &live)?;
        adjust_live_images(c, account, len(&live))?;
        rendition_queue::update_jobs(c, &live)?;
    }
    Ok(u32::try_from(restored).unwrap_or(u32::MAX))
}

/// Updates the copies of an image's capture time in albums.
pub(super) fn set_capture_time_in_albums(
    c: &mut SqlConnection,
    seq: i64,
    captured_at_ms: i64,
) -> Result<(), SqlError> {
    diesel::update(album_images::table.filter(album_images::image_seq.eq(seq)))
        .set(album_images::captured_at_ms.eq(captured_at_ms))
        .execute(c)?;
    Ok(())
}

const SET_LIVE_IN_ALBUMS: &str = concat!(
    "UPDATE album_images SET live = $1 WHERE image_seq IN (SELECT value FROM ",
    integers!("$2"),
    " AS chosen)"
);

fn set_live_in_albums(c: &mut SqlConnection, seqs: &[i64], live: bool) -> Result<(), SqlError> {
    statement(SET_LIVE_IN_ALBUMS).bind::<Bool, _>(live).bind::<Text, _>(json_array(seqs)).execute(c)?;
    Ok(())
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

/// Permanently removes a batch of images; when none is left, a batch of files of deleted accounts; when none is left,
/// these accounts.
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
        // It may have been deleted after the images were listed.
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

/// Permanently removes images, which are deleted; returns their number.
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
        // First the indexes, because they look up their entries by the image.
        remove_text(c, &[image.seq])?;
        place_index::remove(c, image.seq)?;
        map::remove(c, image.seq)?;
    }
    if image.live {
        timeline::remove(c, &[image.seq])?;
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
