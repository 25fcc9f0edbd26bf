use std::collections::{HashMap, HashSet};

use diesel::{OptionalExtension, dsl::sql, prelude::*, sql_types::Bool};
use domain::{AccountId, ContentHash, Email, ImageId};
use storage::{ExistingImage, FailedImage, ImageState, QueueLength};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{accounts, images, index_jobs, rendition_jobs},
        value::RowReader,
    },
};

/// The state columns of an image.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
pub(super) struct StateRow {
    pub(super) seq: i64,
    pub(super) id: String,
    state: String,
    failure: Option<String>,
    decoder_version: Option<i64>,
    deleted_at_ms: Option<i64>,
    pub(super) deleted_with_files: bool,
}

impl TryFrom<&StateRow> for ImageState {
    type Error = SqlError;

    fn try_from(row: &StateRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("images", &row.seq);
        match row.state.as_str() {
            "pending" => Ok(Self::Pending),
            "ready" => Ok(Self::Ready),
            "failed" => {
                let version = reader.required("decoder_version", row.decoder_version)?;
                Ok(Self::Failed {
                    reason: reader.required("failure", row.failure.clone())?,
                    decoder_version: reader.unsigned("decoder_version", version)?,
                })
            }
            _ => Err(reader.unreadable("state")),
        }
    }
}

impl TryFrom<&StateRow> for ExistingImage {
    type Error = SqlError;

    fn try_from(row: &StateRow) -> Result<Self, SqlError> {
        let id = RowReader::new("images", &row.seq).required("id", ImageId::parse(row.id.as_str()))?;
        Ok(Self { id, state: ImageState::try_from(row)?, deleted: row.deleted_at_ms.is_some() })
    }
}

/// The image of an undeleted account with this original.
pub(super) fn by_original(
    c: &mut SqlConnection,
    account: AccountId,
    original: &ContentHash,
) -> Result<Option<StateRow>, SqlError> {
    Ok(images::table
        .inner_join(accounts::table)
        .filter(images::account_id.eq(account.0))
        .filter(images::original.eq(original.as_bytes().as_slice()))
        .filter(accounts::deleted_at_ms.is_null())
        .select(StateRow::as_select())
        .get_result(c)
        .optional()?)
}

pub(super) fn existing(
    c: &mut SqlConnection,
    account: AccountId,
    original: &ContentHash,
) -> Result<Option<ExistingImage>, SqlError> {
    by_original(c, account, original)?.as_ref().map(ExistingImage::try_from).transpose()
}

/// Which of these originals the account has as images that are neither deleted nor failed.
pub(super) fn known(
    c: &mut SqlConnection,
    account: AccountId,
    originals: &[ContentHash],
) -> Result<Vec<ContentHash>, SqlError> {
    let originals = originals.iter().map(|original| original.as_bytes().as_slice());
    let rows: Vec<(i64, Vec<u8>)> = images::table
        .inner_join(accounts::table)
        .filter(images::account_id.eq(account.0))
        .filter(images::original.eq_any(originals))
        .filter(images::deleted_at_ms.is_null())
        .filter(images::state.ne("failed"))
        .filter(accounts::deleted_at_ms.is_null())
        .select((images::seq, images::original))
        .load(c)?;
    rows.iter().map(|(seq, original)| RowReader::new("images", seq).hash("original", original)).collect()
}

pub(super) fn states(c: &mut SqlConnection, ids: &[ImageId]) -> Result<Vec<(ImageId, ImageState)>, SqlError> {
    let rows: Vec<(String, StateRow)> = images::table
        .inner_join(accounts::table)
        .filter(images::id.eq_any(ids.iter().map(ImageId::as_str)))
        .filter(accounts::deleted_at_ms.is_null())
        .select((images::id, StateRow::as_select()))
        .load(c)?;
    let by_id: HashMap<&str, &StateRow> = rows.iter().map(|(id, row)| (&**id, row)).collect();
    ids.iter()
        .filter_map(|id| by_id.get(id.as_str()).map(|row| Ok((id.clone(), ImageState::try_from(*row)?))))
        .collect()
}

pub(super) fn queued(c: &mut SqlConnection, ids: &[ImageId]) -> Result<Vec<ImageId>, SqlError> {
    let queued: Vec<String> = images::table
        .inner_join(index_jobs::table)
        .inner_join(accounts::table)
        .filter(images::id.eq_any(ids.iter().map(ImageId::as_str)))
        .filter(images::deleted_at_ms.is_null())
        .filter(accounts::deleted_at_ms.is_null())
        .select(images::id)
        .load(c)?;
    let queued: HashSet<String> = queued.into_iter().collect();
    Ok(ids.iter().filter(|id| queued.contains(id.as_str())).cloned().collect())
}

/// Number, email, file name and reason.
type FailedRow = (i64, Option<String>, Option<String>, Option<String>);

pub(super) fn failed(c: &mut SqlConnection, max: u32) -> Result<Vec<FailedImage>, SqlError> {
    let rows: Vec<FailedRow> = images::table
        .inner_join(accounts::table)
        // A literal, because SQLite does not match a partial index with a parameter.
        .filter(sql::<Bool>("images.state = 'failed'"))
        .filter(images::deleted_at_ms.is_null())
        .filter(accounts::deleted_at_ms.is_null())
        .order(images::seq.desc())
        .limit(i64::from(max))
        .select((images::seq, accounts::email, images::file_name, images::failure))
        .load(c)?;
    let read = |(seq, email, file_name, failure): FailedRow| {
        let reader = RowReader::new("images", &seq);
        let email = reader.required("email", email.and_then(|email| Email::parse(&email).ok()))?;
        Ok(FailedImage { email, file_name, reason: reader.required("failure", failure)? })
    };
    rows.into_iter().map(read).collect()
}

pub(super) fn queue_length(c: &mut SqlConnection) -> Result<QueueLength, SqlError> {
    let pending: i64 = index_jobs::table.filter(index_jobs::priority.eq(0)).count().get_result(c)?;
    // Leaves out failed images that are tried again, because they may be old.
    let oldest: Option<(i64, i64)> = index_jobs::table
        .inner_join(images::table)
        .filter(index_jobs::priority.eq(0))
        .filter(images::decoder_version.is_null())
        .order(index_jobs::id)
        .select((images::seq, images::added_at_ms))
        .first(c)
        .optional()?;
    let reindexes: i64 = index_jobs::table.filter(index_jobs::priority.gt(0)).count().get_result(c)?;
    let renditions: i64 = rendition_jobs::table.count().get_result(c)?;
    // A literal, because SQLite does not match a partial index with a parameter.
    let failed: i64 = images::table
        .inner_join(accounts::table)
        .filter(sql::<Bool>("images.state = 'failed'"))
        .filter(images::deleted_at_ms.is_null())
        .filter(accounts::deleted_at_ms.is_null())
        .count()
        .get_result(c)?;
    let row_count = |number: i64| u64::try_from(number).unwrap_or(0);
    Ok(QueueLength {
        pending: row_count(pending),
        oldest_pending: oldest
            .map(|(seq, at_ms)| RowReader::new("images", &seq).timestamp("added_at_ms", at_ms))
            .transpose()?,
        failed: row_count(failed),
        reindexes: row_count(reindexes),
        renditions: row_count(renditions),
    })
}
