use async_trait::async_trait;
use diesel::{OptionalExtension, SqliteConnection, dsl::sql, prelude::*, sql_types::Bool};
use domain::{ContentHash, Timestamp};
use storage::{AnnounceOutcome, BlobKind, BlobRef, BlobRegistry, StorageError};

use crate::{
    SqliteStore,
    error::SqliteError,
    schema::blobs,
    value::{Hex, RowReader, stored_bytes},
};

const PENDING: &str = "pending";
const KEPT: &str = "kept";
const REMOVING: &str = "removing";

/// The idle time of a kept blob that was not announced again: once nothing refers to it, it can be taken at once.
const LONG_AGO_MS: i64 = 0;

#[async_trait]
impl BlobRegistry for SqliteStore {
    async fn announce_blobs(
        &self,
        blobs: &[BlobRef],
        at: Timestamp,
    ) -> Result<AnnounceOutcome, StorageError> {
        let blobs = blobs.to_vec();
        self.write(move |c| announce(c, &blobs, at)).await
    }

    async fn take_unreferenced_blobs(
        &self,
        idle_since: Timestamp,
        at: Timestamp,
        max: u32,
    ) -> Result<Vec<BlobRef>, StorageError> {
        self.write(move |c| take(c, idle_since, at, max)).await
    }

    async fn taken_blobs(&self, max: u32) -> Result<Vec<BlobRef>, StorageError> {
        self.read(move |c| taken(c, max)).await
    }

    async fn forget_blobs(&self, blobs: &[BlobRef]) -> Result<(), StorageError> {
        let blobs = blobs.to_vec();
        self.write(move |c| forget(c, &blobs)).await
    }

    async fn kept_blobs(
        &self,
        kind: BlobKind,
        after: Option<ContentHash>,
        max: u32,
    ) -> Result<Vec<BlobRef>, StorageError> {
        self.read(move |c| kept(c, kind, after, max)).await
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = blobs, check_for_backend(diesel::sqlite::Sqlite))]
struct BlobRow {
    kind: String,
    hash: Vec<u8>,
    bytes: i64,
}

impl TryFrom<BlobRow> for BlobRef {
    type Error = SqliteError;

    fn try_from(row: BlobRow) -> Result<Self, SqliteError> {
        let key = Hex(&row.hash);
        let reader = RowReader::new("blobs", &key);
        Ok(Self {
            kind: reader.required("kind", BlobKind::from_name(&row.kind))?,
            hash: reader.hash("hash", &row.hash)?,
            bytes: reader.unsigned("bytes", row.bytes)?,
        })
    }
}

fn state(
    c: &mut SqliteConnection,
    kind: BlobKind,
    hash: &ContentHash,
) -> Result<Option<String>, SqliteError> {
    Ok(blobs::table
        .find((kind.as_str(), hash.as_bytes().as_slice()))
        .select(blobs::state)
        .get_result(c)
        .optional()?)
}

fn announce(
    c: &mut SqliteConnection,
    announced: &[BlobRef],
    at: Timestamp,
) -> Result<AnnounceOutcome, SqliteError> {
    for blob in announced {
        if state(c, blob.kind, &blob.hash)?.as_deref() == Some(REMOVING) {
            return Ok(AnnounceOutcome::BeingRemoved);
        }
    }
    for blob in announced {
        let added = diesel::insert_or_ignore_into(blobs::table)
            .values((
                blobs::kind.eq(blob.kind.as_str()),
                blobs::hash.eq(blob.hash.as_bytes().as_slice()),
                blobs::bytes.eq(stored_bytes(blob.bytes)?),
                blobs::state.eq(PENDING),
                blobs::since_ms.eq(at.millis()),
            ))
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
    c: &mut SqliteConnection,
    idle_since: Timestamp,
    at: Timestamp,
    max: u32,
) -> Result<Vec<BlobRef>, SqliteError> {
    // A literal, because SQLite does not match a partial index with a parameter.
    let rows: Vec<BlobRow> = blobs::table
        .filter(sql::<Bool>("state = 'pending'"))
        .filter(blobs::since_ms.lt(idle_since.millis()))
        .order(blobs::since_ms)
        .limit(i64::from(max))
        .select(BlobRow::as_select())
        .load(c)?;
    for row in &rows {
        diesel::update(blobs::table.find((&row.kind, &row.hash)))
            .set((blobs::state.eq(REMOVING), blobs::since_ms.eq(at.millis())))
            .execute(c)?;
    }
    rows.into_iter().map(BlobRef::try_from).collect()
}

fn taken(c: &mut SqliteConnection, max: u32) -> Result<Vec<BlobRef>, SqliteError> {
    let rows: Vec<BlobRow> = blobs::table
        .filter(sql::<Bool>("state = 'removing'"))
        .limit(i64::from(max))
        .select(BlobRow::as_select())
        .load(c)?;
    rows.into_iter().map(BlobRef::try_from).collect()
}

fn forget(c: &mut SqliteConnection, deleted: &[BlobRef]) -> Result<(), SqliteError> {
    for blob in deleted {
        let taken = blobs::table
            .find((blob.kind.as_str(), blob.hash.as_bytes().as_slice()))
            .filter(blobs::state.eq(REMOVING));
        diesel::delete(taken).execute(c)?;
    }
    Ok(())
}

fn kept(
    c: &mut SqliteConnection,
    kind: BlobKind,
    after: Option<ContentHash>,
    max: u32,
) -> Result<Vec<BlobRef>, SqliteError> {
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

/// Whether the blob is registered and not being removed.
pub(crate) fn can_keep(
    c: &mut SqliteConnection,
    kind: BlobKind,
    hash: &ContentHash,
) -> Result<bool, SqliteError> {
    Ok(state(c, kind, hash)?.is_some_and(|state| state != REMOVING))
}

/// The length of a registered blob.
pub(crate) fn length(c: &mut SqliteConnection, kind: BlobKind, hash: &[u8]) -> Result<i64, SqliteError> {
    Ok(blobs::table.find((kind.as_str(), hash)).select(blobs::bytes).get_result(c)?)
}

/// Keeps a blob that is now referenced. Returns `false` and changes nothing when it cannot be kept.
pub(crate) fn keep(
    c: &mut SqliteConnection,
    kind: BlobKind,
    hash: &ContentHash,
) -> Result<bool, SqliteError> {
    let kept = diesel::update(blobs::table.find((kind.as_str(), hash.as_bytes().as_slice())))
        .filter(blobs::state.ne(REMOVING))
        .set((blobs::state.eq(KEPT), blobs::since_ms.eq(LONG_AGO_MS)))
        .execute(c)?;
    Ok(kept > 0)
}

/// Keeps a referenced blob in any state, registered or not. Only for the holder of the sweeper's role.
pub(crate) fn keep_always(
    c: &mut SqliteConnection,
    kind: BlobKind,
    hash: &[u8],
    bytes: i64,
) -> Result<(), SqliteError> {
    set_state(c, (kind, hash), bytes, (KEPT, LONG_AGO_MS))
}

/// Takes a blob in any state, registered or not. Only for the holder of the sweeper's role, who then removes it.
pub(crate) fn take_always(
    c: &mut SqliteConnection,
    kind: BlobKind,
    hash: &[u8],
    bytes: i64,
    at: Timestamp,
) -> Result<(), SqliteError> {
    set_state(c, (kind, hash), bytes, (REMOVING, at.millis()))
}

fn set_state(
    c: &mut SqliteConnection,
    (kind, hash): (BlobKind, &[u8]),
    bytes: i64,
    (state, since_ms): (&str, i64),
) -> Result<(), SqliteError> {
    diesel::replace_into(blobs::table)
        .values((
            blobs::kind.eq(kind.as_str()),
            blobs::hash.eq(hash),
            blobs::bytes.eq(bytes),
            blobs::state.eq(state),
            blobs::since_ms.eq(since_ms),
        ))
        .execute(c)?;
    Ok(())
}

/// Whether the blob is kept.
pub(crate) fn is_kept(
    c: &mut SqliteConnection,
    kind: BlobKind,
    hash: &ContentHash,
) -> Result<bool, SqliteError> {
    Ok(state(c, kind, hash)?.as_deref() == Some(KEPT))
}

/// Those of these blobs that are not registered.
pub(crate) fn unregistered(
    c: &mut SqliteConnection,
    kind: BlobKind,
    hashes: &[ContentHash],
) -> Result<Vec<ContentHash>, SqliteError> {
    let mut unknown = Vec::new();
    for hash in hashes {
        if state(c, kind, hash)?.is_none() {
            unknown.push(*hash);
        }
    }
    Ok(unknown)
}

/// Releases a kept blob. Its idle time starts at that moment.
pub(crate) fn release_at(
    c: &mut SqliteConnection,
    kind: BlobKind,
    hash: &ContentHash,
    at: Timestamp,
) -> Result<(), SqliteError> {
    diesel::update(blobs::table.find((kind.as_str(), hash.as_bytes().as_slice())))
        .filter(blobs::state.eq(KEPT))
        .set((blobs::state.eq(PENDING), blobs::since_ms.eq(at.millis())))
        .execute(c)?;
    Ok(())
}

/// Releases a blob that is no longer referenced, so that it can be taken: at once, unless it was announced again.
pub(crate) fn release(c: &mut SqliteConnection, kind: BlobKind, hash: &[u8]) -> Result<(), SqliteError> {
    diesel::update(blobs::table.find((kind.as_str(), hash)))
        .filter(blobs::state.eq(KEPT))
        .set(blobs::state.eq(PENDING))
        .execute(c)?;
    Ok(())
}
