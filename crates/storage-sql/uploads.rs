use diesel::{
    OptionalExtension,
    dsl::{count_star, sql},
    prelude::*,
    sql_types::{Bool, Nullable},
};
use domain::{AccountId, ContentHash, Timestamp};
use storage::{
    AddPart, BeginUpload, MAX_FINISHED_UPLOADS, MAX_UPLOAD_PARTS, MAX_UPLOADS, NewUpload, StorageError,
    SweptUploads, UploadId, UploadPart, UploadProtocol, UploadState, UploadStore,
};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock,
    sql::{
        account_rows::{adjust_stored_bytes, is_active, store_bytes},
        originals,
        schema::{accounts, upload_parts, uploads},
        value::{RowReader, stored_bytes},
    },
};

/// How many finished uploads one write forgets.
const MAX_FORGOTTEN: i64 = 100;

operations! {
    impl UploadStore {
        write(Lock::Account(upload.account.0)) begin_upload(upload: NewUpload as ref) -> BeginUpload = begin;
        read upload(account: AccountId, protocol: UploadProtocol, name: &str) -> Option<UploadState> = upload;
        write_of_account(move |c| account_of(c, upload)) finish_upload(
            upload: UploadId, result: &str, at: Timestamp
        ) -> Vec<String> = finish;
        write_of_account(move |c| account_of(c, upload)) delete_upload(upload: UploadId) -> Vec<String> {
            |c| delete(c, upload.0)
        }
        write_of_account(move |c| account_of(c, upload)) remove_part(
            upload: UploadId, number: u64
        ) -> Option<String> { |c| remove_counted_part(c, upload.0, number) }
        write(Lock::Nothing) sweep_uploads(
            protocol: UploadProtocol, before: Timestamp, max: u32
        ) -> SweptUploads = sweep;
        query known_part_files(files: &[String]) -> Vec<String> = known_part_files;
        query stored_bytes(account: AccountId) -> u64 = bytes_of_account;
        read stores_original(account: AccountId, original: &ContentHash) -> bool {
            |c| originals::is_held(c, account.0, original.as_bytes())
        }
    }
    by hand {
        async fn add_part(
            &self,
            upload: UploadId,
            part: UploadPart,
            quota_bytes: Option<u64>,
        ) -> Result<AddPart, StorageError> {
            let added = self
                .write_of_account(
                    move |c| account_of(c, upload),
                    move |c| add_part(c, upload, &part, quota_bytes).map(Some),
                )
                .await?;
            Ok(added.unwrap_or(AddPart::NoUpload))
        }
    }
}

fn known_part_files(c: &mut SqlConnection, files: &[String]) -> Result<Vec<String>, SqlError> {
    let known = upload_parts::table.filter(upload_parts::file.eq_any(files));
    Ok(known.select(upload_parts::file).load(c)?)
}

fn bytes_of_account(c: &mut SqlConnection, account: AccountId) -> Result<u64, SqlError> {
    let stored = accounts::table.find(account.0).select(accounts::stored_bytes);
    let stored: i64 = stored.get_result(c).optional()?.unwrap_or_default();
    RowReader::new("accounts", &account.0).unsigned("stored_bytes", stored)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = uploads, check_for_backend(crate::Backend))]
struct UploadRow {
    id: i64,
    account_id: i64,
    protocol: String,
    name: String,
    total_bytes: Option<i64>,
    metadata: String,
    result: Option<String>,
    touched_at_ms: i64,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = upload_parts, check_for_backend(crate::Backend))]
struct PartRow {
    upload_id: i64,
    number: i64,
    name: String,
    bytes: i64,
    file: String,
    received_at_ms: i64,
}

impl TryFrom<PartRow> for UploadPart {
    type Error = SqlError;

    fn try_from(row: PartRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("upload_parts", &row.upload_id);
        Ok(Self {
            number: reader.unsigned("number", row.number)?,
            name: row.name,
            bytes: reader.unsigned("bytes", row.bytes)?,
            file: row.file,
            received_at: reader.timestamp("received_at_ms", row.received_at_ms)?,
        })
    }
}

fn begin(c: &mut SqlConnection, upload: &NewUpload) -> Result<BeginUpload, SqlError> {
    if !is_active(c, upload.account.0)? {
        return Ok(BeginUpload::AccountGone);
    }
    if let Some(row) = by_name(c, upload.account, upload.protocol, &upload.name)? {
        if row.result.is_none() {
            return Ok(BeginUpload::Exists);
        }
        delete(c, row.id)?;
    }
    if unfinished(c, upload.account, upload.protocol)? >= i64::from(MAX_UPLOADS) {
        return Ok(BeginUpload::TooMany);
    }
    let id = diesel::insert_into(uploads::table)
        .values((
            uploads::account_id.eq(upload.account.0),
            uploads::protocol.eq(upload.protocol.as_str()),
            uploads::name.eq(&upload.name),
            uploads::total_bytes.eq(upload.total_bytes.map(stored_bytes).transpose()?),
            uploads::metadata.eq(&upload.metadata),
            uploads::touched_at_ms.eq(upload.at.millis()),
        ))
        .returning(uploads::id)
        .get_result(c)?;
    Ok(BeginUpload::Begun(UploadId(id)))
}

fn by_name(
    c: &mut SqlConnection,
    account: AccountId,
    protocol: UploadProtocol,
    name: &str,
) -> Result<Option<UploadRow>, SqlError> {
    Ok(uploads::table
        .filter(uploads::account_id.eq(account.0))
        .filter(uploads::protocol.eq(protocol.as_str()))
        .filter(uploads::name.eq(name))
        .select(UploadRow::as_select())
        .get_result(c)
        .optional()?)
}

fn unfinished(c: &mut SqlConnection, account: AccountId, protocol: UploadProtocol) -> Result<i64, SqlError> {
    Ok(uploads::table
        .filter(uploads::account_id.eq(account.0))
        .filter(uploads::protocol.eq(protocol.as_str()))
        .filter(uploads::result.is_null())
        .select(count_star())
        .get_result(c)?)
}

fn upload(
    c: &mut SqlConnection,
    account: AccountId,
    protocol: UploadProtocol,
    name: &str,
) -> Result<Option<UploadState>, SqlError> {
    let Some(row) = by_name(c, account, protocol, name)? else { return Ok(None) };
    if !is_active(c, row.account_id)? {
        return Ok(None);
    }
    let parts: Vec<PartRow> = upload_parts::table
        .filter(upload_parts::upload_id.eq(row.id))
        .order(upload_parts::number)
        .select(PartRow::as_select())
        .load(c)?;
    let reader = RowReader::new("uploads", &row.id);
    let total_bytes = row.total_bytes.map(|bytes| reader.unsigned("total_bytes", bytes)).transpose()?;
    Ok(Some(UploadState {
        id: UploadId(row.id),
        protocol,
        name: row.name,
        total_bytes,
        metadata: row.metadata,
        result: row.result,
        touched_at: reader.timestamp("touched_at_ms", row.touched_at_ms)?,
        parts: parts.into_iter().map(UploadPart::try_from).collect::<Result<_, _>>()?,
    }))
}

fn add_part(
    c: &mut SqlConnection,
    upload: UploadId,
    part: &UploadPart,
    quota_bytes: Option<u64>,
) -> Result<AddPart, SqlError> {
    let row = uploads::table.find(upload.0).select(UploadRow::as_select()).get_result(c).optional()?;
    let Some(row) = row.filter(|row: &UploadRow| row.result.is_none()) else { return Ok(AddPart::NoUpload) };
    if !is_active(c, row.account_id)? {
        return Ok(AddPart::NoUpload);
    }
    let (parts, bytes) = totals(c, upload.0)?;
    let number = stored_bytes(part.number)?;
    if row.protocol == UploadProtocol::Tus.as_str() && bytes != number {
        return Ok(AddPart::WrongOffset(RowReader::new("uploads", &upload.0).unsigned("bytes", bytes)?));
    }
    let present = present_bytes(c, upload.0, number)?;
    if present.is_none() && parts >= i64::from(MAX_UPLOAD_PARTS) {
        return Ok(AddPart::TooMany);
    }
    let added = stored_bytes(part.bytes)? - present.unwrap_or_default();
    if !store_bytes(c, row.account_id, added, quota_bytes)? {
        return Ok(AddPart::QuotaExceeded);
    }
    let replaced = remove_part(c, upload.0, number)?;
    insert_part(c, upload, part)?;
    diesel::update(uploads::table.find(upload.0))
        .filter(uploads::touched_at_ms.lt(part.received_at.millis()))
        .set(uploads::touched_at_ms.eq(part.received_at.millis()))
        .execute(c)?;
    Ok(AddPart::Added { replaced })
}

/// The number of parts of an upload and the sum of their bytes.
fn totals(c: &mut SqlConnection, upload: i64) -> Result<(i64, i64), SqlError> {
    let sum = sql::<Nullable<diesel::sql_types::BigInt>>("CAST(sum(bytes) AS BIGINT)");
    let (parts, bytes): (i64, Option<i64>) = upload_parts::table
        .filter(upload_parts::upload_id.eq(upload))
        .select((sql::<diesel::sql_types::BigInt>("count(*)"), sum))
        .get_result(c)?;
    Ok((parts, bytes.unwrap_or_default()))
}

/// The length of a part; `None` if there is none of this number.
fn present_bytes(c: &mut SqlConnection, upload: i64, number: i64) -> Result<Option<i64>, SqlError> {
    let part = upload_parts::table.find((upload, number)).select(upload_parts::bytes);
    Ok(part.get_result(c).optional()?)
}

/// Removes a part and its bytes from what the account stores; returns its file.
fn remove_counted_part(c: &mut SqlConnection, upload: i64, number: u64) -> Result<Option<String>, SqlError> {
    let number = stored_bytes(number)?;
    let account = uploads::table.find(upload).filter(uploads::result.is_null()).select(uploads::account_id);
    let account: Option<i64> = account.get_result(c).optional()?;
    let (Some(account), Some(bytes)) = (account, present_bytes(c, upload, number)?) else { return Ok(None) };
    adjust_stored_bytes(c, account, -bytes)?;
    remove_part(c, upload, number)
}

/// Removes a part; returns its file.
fn remove_part(c: &mut SqlConnection, upload: i64, number: i64) -> Result<Option<String>, SqlError> {
    Ok(diesel::delete(upload_parts::table.find((upload, number)))
        .returning(upload_parts::file)
        .get_result(c)
        .optional()?)
}

fn insert_part(c: &mut SqlConnection, upload: UploadId, part: &UploadPart) -> Result<(), SqlError> {
    diesel::insert_into(upload_parts::table)
        .values((
            upload_parts::upload_id.eq(upload.0),
            upload_parts::number.eq(stored_bytes(part.number)?),
            upload_parts::name.eq(&part.name),
            upload_parts::bytes.eq(stored_bytes(part.bytes)?),
            upload_parts::file.eq(&part.file),
            upload_parts::received_at_ms.eq(part.received_at.millis()),
        ))
        .execute(c)?;
    Ok(())
}

fn finish(
    c: &mut SqlConnection,
    upload: UploadId,
    result: &str,
    at: Timestamp,
) -> Result<Vec<String>, SqlError> {
    let finished: Option<(i64, String)> = diesel::update(uploads::table.find(upload.0))
        .filter(uploads::result.is_null())
        .set((uploads::result.eq(result), uploads::touched_at_ms.eq(at.millis())))
        .returning((uploads::account_id, uploads::protocol))
        .get_result(c)
        .optional()?;
    let Some((account, protocol)) = finished else { return Ok(Vec::new()) };
    forget_finished(c, account, &protocol)?;
    remove_parts(c, upload.0, account)
}

/// Forgets the oldest finished uploads above the maximum; they have no parts. Each upload that finishes makes at most
/// one too many. Earlier releases may have left more.
fn forget_finished(c: &mut SqlConnection, account: i64, protocol: &str) -> Result<(), SqlError> {
    // A literal, because SQLite does not match a partial index with a parameter.
    let surplus: Vec<i64> = uploads::table
        .filter(uploads::account_id.eq(account))
        .filter(uploads::protocol.eq(protocol))
        .filter(sql::<Bool>("result IS NOT NULL"))
        .order((uploads::touched_at_ms.desc(), uploads::id.desc()))
        .offset(MAX_FINISHED_UPLOADS.into())
        .limit(MAX_FORGOTTEN)
        .select(uploads::id)
        .load(c)?;
    if !surplus.is_empty() {
        diesel::delete(uploads::table.filter(uploads::id.eq_any(surplus))).execute(c)?;
    }
    Ok(())
}

/// Removes all parts of an upload; returns their files.
fn remove_parts(c: &mut SqlConnection, upload: i64, account: i64) -> Result<Vec<String>, SqlError> {
    let removed: Vec<(String, i64)> =
        diesel::delete(upload_parts::table.filter(upload_parts::upload_id.eq(upload)))
            .returning((upload_parts::file, upload_parts::bytes))
            .get_results(c)?;
    let bytes: i64 = removed.iter().map(|(_, bytes)| *bytes).sum();
    adjust_stored_bytes(c, account, -bytes)?;
    Ok(removed.into_iter().map(|(file, _)| file).collect())
}

/// The account of an upload, which never changes; `None` if there is no such upload.
fn account_of(c: &mut SqlConnection, upload: UploadId) -> Result<Option<i64>, SqlError> {
    Ok(uploads::table.find(upload.0).select(uploads::account_id).get_result(c).optional()?)
}

fn delete(c: &mut SqlConnection, upload: i64) -> Result<Vec<String>, SqlError> {
    let Some(account) = account_of(c, UploadId(upload))? else { return Ok(Vec::new()) };
    let files = remove_parts(c, upload, account)?;
    diesel::delete(uploads::table.find(upload)).execute(c)?;
    Ok(files)
}

fn sweep(
    c: &mut SqlConnection,
    protocol: UploadProtocol,
    before: Timestamp,
    max: u32,
) -> Result<SweptUploads, SqlError> {
    let max = i64::from(max);
    let mut expired: Vec<i64> = uploads::table
        .filter(uploads::protocol.eq(protocol.as_str()))
        .filter(uploads::touched_at_ms.lt(before.millis()))
        .order(uploads::touched_at_ms)
        .limit(max)
        .select(uploads::id)
        .load(c)?;
    let left = max.saturating_sub(i64::try_from(expired.len()).unwrap_or(max));
    expired.extend(of_deleted_accounts(c, protocol, before, left)?);
    let mut swept = SweptUploads::default();
    for upload in expired {
        // It may have been continued since it was listed.
        let Some(account) = account_of(c, UploadId(upload))? else { continue };
        lock::take(c, Lock::Account(account))?;
        let touched_at_ms: Option<i64> =
            uploads::table.find(upload).select(uploads::touched_at_ms).get_result(c).optional()?;
        if touched_at_ms.is_some_and(|touched| touched < before.millis()) || !is_active(c, account)? {
            swept.files.extend(delete(c, upload)?);
            swept.uploads += 1;
        }
    }
    Ok(swept)
}

/// Up to `max` uploads of deleted accounts that were written to since `since`.
fn of_deleted_accounts(
    c: &mut SqlConnection,
    protocol: UploadProtocol,
    since: Timestamp,
    max: i64,
) -> Result<Vec<i64>, SqlError> {
    // A literal, because SQLite does not match a partial index with a parameter.
    let is_deleted = sql::<Bool>("accounts.deleted_at_ms IS NOT NULL");
    let deleted = accounts::table.filter(is_deleted).select(accounts::id);
    Ok(uploads::table
        .filter(uploads::account_id.eq_any(deleted))
        .filter(uploads::protocol.eq(protocol.as_str()))
        .filter(uploads::touched_at_ms.ge(since.millis()))
        .limit(max)
        .select(uploads::id)
        .load(c)?)
}
