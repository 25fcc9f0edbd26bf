//! The photos of an account that could not be indexed.

use std::collections::HashMap;

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{AccountId, FilePath, ImageId, Timestamp};
use storage::{ImageKey, IndexingProgress, ProblemImage, ProblemStore, StorageError};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    sql::{
        account_rows::is_active,
        deletion::mark_deleted,
        files::Folders,
        queue::requeue,
        schema::{files, images},
        statement,
        value::{RowReader, json_array},
    },
};

operations! {
    impl ProblemStore {
        write(Lock::Account(account.0)) retry_problem(account: AccountId, id: &ImageId, at: Timestamp) -> bool
            = retry;
        write(Lock::Account(account.0)) retry_problems(
            account: AccountId, before: Option<ImageKey>, at: Timestamp, max: u32
        ) -> Option<(u32, ImageKey)> = retry_page;
        write(Lock::Account(account.0)) dismiss_problem(account: AccountId, id: &ImageId) -> bool
            = dismiss_one;
        write(Lock::Account(account.0)) dismiss_problems(
            account: AccountId, before: Option<ImageKey>, max: u32
        ) -> Option<(u32, ImageKey)> = dismiss_page;
        write(Lock::Account(account.0)) delete_problem(account: AccountId, id: &ImageId, at: Timestamp) -> bool
            = delete;
        read indexing_progress(account: AccountId) -> IndexingProgress = progress;
    }
    by hand {
        async fn page_problems(
            &self,
            account: AccountId,
            before: Option<&ImageId>,
            max: u32,
        ) -> Result<Vec<ProblemImage>, StorageError> {
            let before = before.cloned();
            self.read(move |c| page(c, account, before.as_ref(), max)).await
        }
    }
}

fn page(
    c: &mut SqlConnection,
    account: AccountId,
    before: Option<&ImageId>,
    max: u32,
) -> Result<Vec<ProblemImage>, SqlError> {
    let before = match before {
        None => None,
        Some(id) => images::table
            .filter(images::id.eq(id.as_str()))
            .filter(images::account_id.eq(account.0))
            .select(images::seq)
            .get_result(c)
            .optional()?
            .map(ImageKey),
    };
    let rows = rows(c, account, before, max)?;
    let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    let mut paths = folders_of(c, account, &seqs)?;
    rows.into_iter()
        .map(|row| {
            let folder = paths.remove(&row.seq);
            Ok(ProblemImage { folder, ..ProblemImage::try_from(row)? })
        })
        .collect()
}

/// The folders of images that files have. An image of several files has the folder of one of them.
fn folders_of(
    c: &mut SqlConnection,
    account: AccountId,
    seqs: &[i64],
) -> Result<HashMap<i64, FilePath>, SqlError> {
    let found: Vec<(Option<i64>, Option<i64>)> = files::table
        .filter(files::account_id.eq(account.0))
        .filter(files::image_seq.eq_any(seqs.iter().copied()))
        .select((files::image_seq, files::parent_id))
        .load(c)?;
    let mut folders = Folders::default();
    let mut paths = HashMap::new();
    for (seq, parent) in found {
        let (Some(seq), Some(parent)) = (seq, parent) else { continue };
        if let Some(path) = folders.path(c, parent)? {
            paths.entry(seq).or_insert(path);
        }
    }
    Ok(paths)
}

/// Deletes a photo that could not be indexed. It can be restored.
fn delete(c: &mut SqlConnection, account: AccountId, id: &ImageId, at: Timestamp) -> Result<bool, SqlError> {
    let seqs = failed(c, account, id)?;
    mark_deleted(c, account.0, &seqs, at, false)?;
    Ok(!seqs.is_empty())
}

fn retry(c: &mut SqlConnection, account: AccountId, id: &ImageId, at: Timestamp) -> Result<bool, SqlError> {
    let seqs = failed(c, account, id)?;
    requeue(c, &seqs, at)?;
    Ok(!seqs.is_empty())
}

fn retry_page(
    c: &mut SqlConnection,
    account: AccountId,
    before: Option<ImageKey>,
    at: Timestamp,
    max: u32,
) -> Result<Option<(u32, ImageKey)>, SqlError> {
    let mut seqs: Vec<i64> = rows(c, account, before, max)?.iter().map(|row| row.seq).collect();
    let Some(last) = seqs.last().copied() else { return Ok(None) };
    seqs.reverse();
    requeue(c, &seqs, at)?;
    Ok(Some((u32::try_from(seqs.len()).unwrap_or(u32::MAX), ImageKey(last))))
}

fn dismiss_one(c: &mut SqlConnection, account: AccountId, id: &ImageId) -> Result<bool, SqlError> {
    let seqs = failed(c, account, id)?;
    dismiss(c, &seqs)?;
    Ok(!seqs.is_empty())
}

fn dismiss_page(
    c: &mut SqlConnection,
    account: AccountId,
    before: Option<ImageKey>,
    max: u32,
) -> Result<Option<(u32, ImageKey)>, SqlError> {
    let seqs: Vec<i64> = rows(c, account, before, max)?.iter().map(|row| row.seq).collect();
    let Some(last) = seqs.last().copied() else { return Ok(None) };
    dismiss(c, &seqs)?;
    Ok(Some((u32::try_from(seqs.len()).unwrap_or(u32::MAX), ImageKey(last))))
}

#[derive(QueryableByName)]
struct ProblemRow {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Nullable<Text>)]
    file_name: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    failure: Option<String>,
    #[diesel(sql_type = BigInt)]
    added_at_ms: i64,
}

impl TryFrom<ProblemRow> for ProblemImage {
    type Error = SqlError;

    fn try_from(row: ProblemRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("images", &row.seq);
        Ok(Self {
            id: reader.required("id", ImageId::parse(row.id))?,
            file_name: row.file_name,
            folder: None,
            reason: reader.required("failure", row.failure)?,
            added_at: reader.timestamp("added_at_ms", row.added_at_ms)?,
        })
    }
}

const PAGE: &str = concat!(
    "SELECT i.seq AS seq, i.id AS id, i.file_name AS file_name, i.failure AS failure, i.added_at_ms AS added_at_ms
    FROM images AS i ",
    by_index!("images_problems"),
    " WHERE i.account_id = $1 AND i.state = 'failed' AND i.deleted_at_ms IS NULL AND i.seq < $2
        AND NOT EXISTS (
            SELECT 1 FROM dismissed_problems AS d WHERE d.image_seq = i.seq AND d.failure = i.failure
        )
    ORDER BY i.seq DESC LIMIT $3"
);

fn rows(
    c: &mut SqlConnection,
    account: AccountId,
    before: Option<ImageKey>,
    max: u32,
) -> Result<Vec<ProblemRow>, SqlError> {
    if !is_active(c, account.0)? {
        return Ok(Vec::new());
    }
    Ok(statement(PAGE)
        .bind::<BigInt, _>(account.0)
        .bind::<BigInt, _>(before.map_or(i64::MAX, |key| key.0))
        .bind::<BigInt, _>(i64::from(max))
        .load(c)?)
}

#[derive(QueryableByName)]
struct Seq {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

/// The row of a photo that could not be indexed, if the account has it.
fn failed(c: &mut SqlConnection, account: AccountId, id: &ImageId) -> Result<Vec<i64>, SqlError> {
    if !is_active(c, account.0)? {
        return Ok(Vec::new());
    }
    let failed: Vec<Seq> = statement(
        "SELECT seq FROM images
        WHERE id = $1 AND account_id = $2 AND state = 'failed' AND deleted_at_ms IS NULL",
    )
    .bind::<Text, _>(id.as_str())
    .bind::<BigInt, _>(account.0)
    .load(c)?;
    Ok(failed.into_iter().map(|row| row.seq).collect())
}

const DISMISS: &str = concat!(
    "INSERT INTO dismissed_problems (image_seq, failure)
    SELECT i.seq, i.failure FROM ",
    integers!("$1"),
    " AS dismissed ",
    join_after!("images", "i", "i.seq = dismissed.value"),
    " WHERE i.state = 'failed' AND i.failure IS NOT NULL
    ON CONFLICT (image_seq) DO UPDATE SET failure = excluded.failure"
);

fn dismiss(c: &mut SqlConnection, seqs: &[i64]) -> Result<(), SqlError> {
    statement(DISMISS).bind::<Text, _>(json_array(seqs)).execute(c)?;
    Ok(())
}

#[derive(QueryableByName)]
struct CountRow {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

impl CountRow {
    fn read(&self) -> u32 {
        u32::try_from(self.number).unwrap_or(u32::MAX)
    }
}

// The conditions are those of the index, as literals, because SQLite does not match a partial index with a parameter.
const WAITING: &str = concat!(
    "SELECT count(*) AS number FROM images AS i ",
    by_index!("images_waiting"),
    " WHERE i.account_id = $1 AND i.state = 'pending' AND i.deleted_at_ms IS NULL"
);

/// The number of photos that are queued or being indexed for the first time.
pub(crate) fn waiting(c: &mut SqlConnection, account: AccountId) -> Result<u32, SqlError> {
    let row: CountRow = statement(WAITING).bind::<BigInt, _>(account.0).get_result(c)?;
    Ok(row.read())
}

const FAILED: &str = concat!(
    "SELECT count(*) AS number FROM images AS i ",
    by_index!("images_problems"),
    " WHERE i.account_id = $1 AND i.state = 'failed' AND i.deleted_at_ms IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM dismissed_problems AS d WHERE d.image_seq = i.seq AND d.failure = i.failure
        )"
);

fn progress(c: &mut SqlConnection, account: AccountId) -> Result<IndexingProgress, SqlError> {
    let failed: CountRow = statement(FAILED).bind::<BigInt, _>(account.0).get_result(c)?;
    Ok(IndexingProgress { waiting: waiting(c, account)?, failed: failed.read() })
}
