use diesel::{OptionalExtension, dsl::sql, prelude::*, sql_types::Bool};
use domain::{ContentHash, Timestamp};
use storage::{AnnounceOutcome, BlobKind, BlobRef, BlobRegistry};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    sql::{
        schema::{blobs, images},
        value::{Hex, RowReader, stored_bytes},
    },
};

const PENDING: &str = "pending";
const KEPT: &str = "kept";
const REMOVING: &str = "removing";

/// The start of the idle time of a kept blob that was not announced again. It is so early that the blob can be taken as
/// soon as nothing refers to it.
const LONG_AGO_MS: i64 = 0;

operations! {
    impl BlobRegistry {
        write(Lock::Nothing) announce_blobs(blobs: &[BlobRef], at: Timestamp) -> AnnounceOutcome = announce;
        write(Lock::Nothing) take_unreferenced_blobs(
            idle_since: Timestamp, at: Timestamp, max: u32
        ) -> Vec<BlobRef> = take;
        read taken_blobs(max: u32) -> Vec<BlobRef> = taken;
        write(Lock::Nothing) forget_blobs(blobs: &[BlobRef]) -> () = forget;
        read kept_blobs(kind: BlobKind, after: Option<ContentHash>, max: u32) -> Vec<BlobRef> = kept;
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = blobs, check_for_backend(crate::Backend))]
struct BlobRow {
    kind: String,
    hash: Vec<u8>,
    bytes: i64,
}

impl TryFrom<BlobRow> for BlobRef {
    type Error = SqlError;

    fn try_from(row: BlobRow) -> Result<Self, SqlError> {
        let key = Hex(&row.hash);
        let reader = RowReader::new("blobs", &key);
        Ok(Self {
            kind: reader.required("kind", BlobKind::from_name(&row.kind))?,
            hash: reader.hash("hash", &row.hash)?,
            bytes: reader.unsigned("bytes", row.bytes)?,
        })
    }
}

fn state(c: &mut SqlConnection, kind: BlobKind, hash: &ContentHash) -> Result<Option<String>, SqlError> {
    Ok(blobs::table
        .find((kind.as_str(), hash.as_bytes().as_slice()))
        .select(blobs::state)
        .get_result(c)
        .optional()?)
}

/// The state of a blob. Other writes cannot change it until this write ends.
fn locked_state(c: &mut SqlConnection, kind: BlobKind, hash: &[u8]) -> Result<Option<String>, SqlError> {
    let row = blobs::table.find((kind.as_str(), hash)).select(blobs::state);
    Ok(for_update!(row).get_result(c).optional()?)
}

/// Locks the references to an original: no other write adds or removes one until this write ends.
pub(crate) fn lock_original(c: &mut SqlConnection, original: &[u8]) -> Result<(), SqlError> {
    locked_state(c, BlobKind::Original, original)?;
    Ok(())
}

/// As [`lock_original`], for the originals of these images, in the order of their hashes.
pub(crate) fn lock_originals_of(c: &mut SqlConnection, images: &[i64]) -> Result<(), SqlError> {
    let originals: Vec<Vec<u8>> =
        images::table.filter(images::seq.eq_any(images)).select(images::original).load(c)?;
    let rows = blobs::table
        .filter(blobs::kind.eq(BlobKind::Original.as_str()))
        .filter(blobs::hash.eq_any(originals))
        .order(blobs::hash)
        .select(blobs::hash);
    for_update!(rows).load::<Vec<u8>>(c)?;
    Ok(())
}

/// Locks the references to a rendition's blob: no other write adds or removes one until this write ends.
pub(crate) fn lock_rendition(c: &mut SqlConnection, blob: &[u8]) -> Result<(), SqlError> {
    locked_state(c, BlobKind::Rendition, blob)?;
    Ok(())
}

fn announce(
    c: &mut SqlConnection,
    announced: &[BlobRef],
    at: Timestamp,
) -> Result<AnnounceOutcome, SqlError> {
    for blob in announced {
        if locked_state(c, blob.kind, blob.hash.as_bytes())?.as_deref() == Some(REMOVING) {
            return Ok(AnnounceOutcome::BeingRemoved);
        }
    }
    for blob in announced {
        let added = diesel::insert_into(blobs::table)
            .values((
                blobs::kind.eq(blob.kind.as_str()),
                blobs::hash.eq(blob.hash.as_bytes().as_slice()),
                blobs::bytes.eq(stored_bytes(blob.bytes)?),
                blobs::state.eq(PENDING),
                blobs::since_ms.eq(at.millis()),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
        if added == 0 {
            let stored = blobs::table.find((blob.kind.as_str(), blob.hash.as_bytes().as_slice()));
            diesel::update(stored)
                .filter(blobs::since_ms.lt(at.millis()))
                .set(blobs::since_ms.eq(at.millis()))
                .execute(c)?;
        }
    }
    Ok(AnnounceOutcome::Ready)
}

fn take(
    c: &mut SqlConnection,
    idle_since: Timestamp,
    at: Timestamp,
    max: u32,
) -> Result<Vec<BlobRef>, SqlError> {
    // A literal, because SQLite does not match a partial index with a parameter.
    let rows: Vec<BlobRow> = blobs::table
        .filter(sql::<Bool>("state = 'pending'"))
        .filter(blobs::since_ms.lt(idle_since.millis()))
        .order(blobs::since_ms)
        .limit(i64::from(max))
        .select(BlobRow::as_select())
        .load(c)?;
    let mut taken = Vec::new();
    for row in rows {
        // Another write may have announced or kept it since.
        let is_taken = diesel::update(blobs::table.find((&row.kind, &row.hash)))
            .filter(blobs::state.eq(PENDING))
            .filter(blobs::since_ms.lt(idle_since.millis()))
            .set((blobs::state.eq(REMOVING), blobs::since_ms.eq(at.millis())))
            .execute(c)?;
        if is_taken > 0 {
            taken.push(BlobRef::try_from(row)?);
        }
    }
    Ok(taken)
}

fn taken(c: &mut SqlConnection, max: u32) -> Result<Vec<BlobRef>, SqlError> {
    let rows: Vec<BlobRow> = blobs::table
        .filter(sql::<Bool>("state = 'removing'"))
        .limit(i64::from(max))
        .select(BlobRow::as_select())
        .load(c)?;
    rows.into_iter().map(BlobRef::try_from).collect()
}

fn forget(c: &mut SqlConnection, deleted: &[BlobRef]) -> Result<(), SqlError> {
    for blob in deleted {
        let taken = blobs::table
            .find((blob.kind.as_str(), blob.hash.as_bytes().as_slice()))
            .filter(blobs::state.eq(REMOVING));
        diesel::delete(taken).execute(c)?;
    }
    Ok(())
}

fn kept(
    c: &mut SqlConnection,
    kind: BlobKind,
    after: Option<ContentHash>,
    max: u32,
) -> Result<Vec<BlobRef>, SqlError> {
    let after = after.map(|hash| hash.as_bytes().to_vec()).unwrap_or_default();
    blobs::table
        .filter(blobs::kind.eq(kind.as_str()))
        .filter(blobs::hash.gt(after))
        .filter(blobs::state.eq(KEPT))
        .order(blobs::hash)
        .limit(i64::from(max))
        .select(BlobRow::as_select())
        .load(c)?
        .into_iter()
        .map(BlobRef::try_from)
        .collect()
}

/// Whether the blob is registered and not being removed. Other writes cannot change this until this write ends.
pub(crate) fn can_keep(c: &mut SqlConnection, kind: BlobKind, hash: &ContentHash) -> Result<bool, SqlError> {
    Ok(locked_state(c, kind, hash.as_bytes())?.is_some_and(|state| state != REMOVING))
}

/// The length of a registered blob.
pub(crate) fn length(c: &mut SqlConnection, kind: BlobKind, hash: &[u8]) -> Result<i64, SqlError> {
    Ok(blobs::table.find((kind.as_str(), hash)).select(blobs::bytes).get_result(c)?)
}

/// Keeps a blob that is now referenced. Returns `false` and changes nothing when it cannot be kept.
pub(crate) fn keep(c: &mut SqlConnection, kind: BlobKind, hash: &ContentHash) -> Result<bool, SqlError> {
    let kept = diesel::update(blobs::table.find((kind.as_str(), hash.as_bytes().as_slice())))
        .filter(blobs::state.ne(REMOVING))
        .set((blobs::state.eq(KEPT), blobs::since_ms.eq(LONG_AGO_MS)))
        .execute(c)?;
    Ok(kept > 0)
}

/// Keeps a referenced blob in any state, registered or not. Only for the holder of the sweeper's role.
pub(crate) fn keep_always(
    c: &mut SqlConnection,
    kind: BlobKind,
    hash: &[u8],
    bytes: i64,
) -> Result<(), SqlError> {
    set_state(c, (kind, hash), bytes, (KEPT, LONG_AGO_MS))
}

/// Takes a blob in any state, registered or not. Only for the holder of the sweeper's role, who then removes it.
pub(crate) fn take_always(
    c: &mut SqlConnection,
    kind: BlobKind,
    hash: &[u8],
    bytes: i64,
    at: Timestamp,
) -> Result<(), SqlError> {
    set_state(c, (kind, hash), bytes, (REMOVING, at.millis()))
}

fn set_state(
    c: &mut SqlConnection,
    (kind, hash): (BlobKind, &[u8]),
    bytes: i64,
    (state, since_ms): (&str, i64),
) -> Result<(), SqlError> {
    let columns = (blobs::bytes.eq(bytes), blobs::state.eq(state), blobs::since_ms.eq(since_ms));
    diesel::insert_into(blobs::table)
        .values((blobs::kind.eq(kind.as_str()), blobs::hash.eq(hash), columns))
        .on_conflict((blobs::kind, blobs::hash))
        .do_update()
        .set(columns)
        .execute(c)?;
    Ok(())
}

pub(crate) fn is_kept(c: &mut SqlConnection, kind: BlobKind, hash: &ContentHash) -> Result<bool, SqlError> {
    Ok(state(c, kind, hash)?.as_deref() == Some(KEPT))
}

/// The blobs among these that are not registered.
pub(crate) fn unregistered(
    c: &mut SqlConnection,
    kind: BlobKind,
    hashes: &[ContentHash],
) -> Result<Vec<ContentHash>, SqlError> {
    let mut unknown = Vec::new();
    for hash in hashes {
        if state(c, kind, hash)?.is_none() {
            unknown.push(*hash);
        }
    }
    Ok(unknown)
}

/// Releases a kept blob. Its idle time starts at `at`.
pub(crate) fn release_at(
    c: &mut SqlConnection,
    kind: BlobKind,
    hash: &ContentHash,
    at: Timestamp,
) -> Result<(), SqlError> {
    diesel::update(blobs::table.find((kind.as_str(), hash.as_bytes().as_slice())))
        .filter(blobs::state.eq(KEPT))
        .set((blobs::state.eq(PENDING), blobs::since_ms.eq(at.millis())))
        .execute(c)?;
    Ok(())
}

/// Releases a blob that is no longer referenced, so that it can be taken: at once, unless it was announced again.
pub(crate) fn release(c: &mut SqlConnection, kind: BlobKind, hash: &[u8]) -> Result<(), SqlError> {
    diesel::update(blobs::table.find((kind.as_str(), hash)))
        .filter(blobs::state.eq(KEPT))
        .set(blobs::state.eq(PENDING))
        .execute(c)?;
    Ok(())
}
