use diesel::{OptionalExtension, prelude::*};
use domain::{AccountId, ImageId, Sidecar, Timestamp};
use storage::{AddOutcome, BlobKind, ExistingImage, ImageState, NewImage};

use super::{
    jobs::{enqueue, replace_job, requeue},
    states::{StateRow, by_original},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::is_active,
        blob_registry,
        deletion::undelete,
        originals::{self, Hold, link_files},
        schema::images,
        sidecars,
        value::stored_bytes,
    },
};

/// Adds an image, unless the account already has one with the same original.
pub(crate) fn add(c: &mut SqlConnection, image: &NewImage) -> Result<AddOutcome, SqlError> {
    if !is_active(c, image.account.0)? {
        return Ok(AddOutcome::AccountGone);
    }
    if let Some(row) = by_original(c, image.account, &image.original)? {
        return add_existing(c, image, &row);
    }
    match originals::hold(c, image.account.0, &image.original, image.quota_bytes)? {
        Hold::Done => {}
        Hold::QuotaExceeded => return Ok(AddOutcome::QuotaExceeded),
        Hold::Gone => return Ok(AddOutcome::OriginalGone),
    }
    let seq: i64 = diesel::insert_into(images::table)
        .values((
            images::id.eq(image.id.as_str()),
            images::account_id.eq(image.account.0),
            images::state.eq("pending"),
            images::original.eq(image.original.as_bytes().as_slice()),
            images::original_bytes.eq(stored_bytes(image.original_bytes)?),
            images::media_type.eq(image.media_type),
            images::modified_at_ms.eq(image.modified_at.map(Timestamp::millis)),
            images::added_at_ms.eq(image.added_at.millis()),
            images::file_name.eq(image.file_name.as_deref()),
            images::deleted_at_ms.eq(image.is_deleted.then_some(image.added_at.millis())),
        ))
        .returning(images::seq)
        .get_result(c)?;
    store_sidecars(c, seq, image)?;
    enqueue(c, seq, image.added_at)?;
    // Files with these bytes whose image was purged get the new image.
    link_files(c, image.account.0, &image.original, seq)?;
    Ok(AddOutcome::Added)
}

/// Returns whether any sidecar is new or differs.
fn store_sidecars(c: &mut SqlConnection, seq: i64, image: &NewImage) -> Result<bool, SqlError> {
    let changed = sidecars::store(c, seq, &image.sidecars)?;
    Ok(sidecars::store_missing(c, seq, &image.sidecars_if_missing)? || changed)
}

/// Stores sidecars of an image and queues it, unless its owner deleted it.
pub(super) fn add_sidecars(
    c: &mut SqlConnection,
    account: AccountId,
    image: &ImageId,
    new: &[Sidecar],
    at: Timestamp,
) -> Result<bool, SqlError> {
    let found = images::table
        .filter(images::id.eq(image.as_str()))
        .filter(images::account_id.eq(account.0))
        .filter(images::deleted_at_ms.is_null())
        .select((images::seq, images::state))
        .get_result::<(i64, String)>(c)
        .optional()?;
    let Some((seq, state)) = found else { return Ok(false) };
    if sidecars::store(c, seq, new)? {
        match state.as_str() {
            "failed" => requeue(c, &[seq], at)?,
            _ => replace_job(c, seq, at)?,
        }
    }
    Ok(true)
}

/// Handles an image that the account already has: restores, retries, reindexes or keeps it.
fn add_existing(c: &mut SqlConnection, image: &NewImage, row: &StateRow) -> Result<AddOutcome, SqlError> {
    let known = ExistingImage::try_from(row)?;
    // Ends the announcement that was made for this call.
    blob_registry::keep(c, BlobKind::Original, &image.original)?;
    if known.deleted && !image.restore_deleted.applies(row.deleted_with_files) {
        return Ok(AddOutcome::StaysDeleted(known));
    }
    let sidecars_changed = store_sidecars(c, row.seq, image)?;
    let failed = matches!(known.state, ImageState::Failed { .. });
    if failed {
        requeue(c, &[row.seq], image.added_at)?;
    } else if sidecars_changed {
        replace_job(c, row.seq, image.added_at)?;
    }
    if known.deleted {
        undelete(c, image.account.0, &[row.seq])?;
        let state = if failed { ImageState::Pending } else { known.state };
        return Ok(AddOutcome::Restored(ExistingImage { state, deleted: false, ..known }));
    }
    Ok(match (failed, sidecars_changed) {
        (true, _) => AddOutcome::Retried(known.id),
        (false, true) => AddOutcome::Reindexed(known),
        (false, false) => AddOutcome::Duplicate(known),
    })
}
