//! The photos of an account that could not be indexed.

use async_trait::async_trait;
use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{AccountId, ImageId, Timestamp};
use storage::{ImageKey, IndexingProgress, ProblemImage, ProblemStore, StorageError};

use crate::{
    Lock, SqlConnection, SqlStore,
    error::SqlError,
    sql::{accounts::is_active, queue::requeue, schema::images, statement, value::RowReader},
};

#[async_trait]
impl ProblemStore for SqlStore {
    async fn page_problems(
        &self,
        account: AccountId,
        before: Option<&ImageId>,
        max: u32,
    ) -> Result<Vec<ProblemImage>, StorageError> {
        let before = before.cloned();
        self.read(move |c| {
            let before = match &before {
                None => None,
                Some(id) => images::table
                    .filter(images::id.eq(id.as_str()))
                    .filter(images::account_id.eq(account.0))
                    .select(images::seq)
                    .get_result(c)
                    .optional()?
                    .map(ImageKey),
            };
            rows(c, account, before, max)?.into_iter().map(ProblemImage::try_from).collect()
        })
        .await
    }

    async fn retry_problem(
        &self,
        account: AccountId,
        id: &ImageId,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let id = id.clone();
        self.write(Lock::Account(account.0), move |c| retry(c, account, &id, at)).await
    }

    async fn retry_problems(
        &self,
        account: AccountId,
        before: Option<ImageKey>,
        at: Timestamp,
        max: u32,
    ) -> Result<Option<(u32, ImageKey)>, StorageError> {
        self.write(Lock::Account(account.0), move |c| {
            let mut seqs: Vec<i64> = rows(c, account, before, max)?.iter().map(|row| row.seq).collect();
            let Some(last) = seqs.last().copied() else { return Ok(None) };
            seqs.reverse();
            requeue(c, &seqs, at)?;
            Ok(Some((u32::try_from(seqs.len()).unwrap_or(u32::MAX), ImageKey(last))))
        })
        .await
    }

    async fn indexing_progress(&self, account: AccountId) -> Result<IndexingProgress, StorageError> {
        self.query(move |c| progress(c, account)).await
    }
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

fn retry(c: &mut SqlConnection, account: AccountId, id: &ImageId, at: Timestamp) -> Result<bool, SqlError> {
    if !is_active(c, account.0)? {
        return Ok(false);
    }
    let failed: Vec<Seq> = statement(
        "SELECT seq FROM images
        WHERE id = $1 AND account_id = $2 AND state = 'failed' AND deleted_at_ms IS NULL",
    )
    .bind::<Text, _>(id.as_str())
    .bind::<BigInt, _>(account.0)
    .load(c)?;
    let seqs: Vec<i64> = failed.into_iter().map(|row| row.seq).collect();
    requeue(c, &seqs, at)?;
    Ok(!seqs.is_empty())
}

#[derive(QueryableByName)]
struct ProgressRow {
    #[diesel(sql_type = BigInt)]
    waiting: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
}

// Waiting photos are found through the queue, which has no others of priority 0.
const PROGRESS: &str = concat!(
    "SELECT
        (
            SELECT count(*) FROM index_jobs AS j ",
    join_after!("images", "i", "i.seq = j.image_seq"),
    "
            WHERE j.priority = 0 AND i.account_id = $1 AND i.deleted_at_ms IS NULL
        ) AS waiting,
        (
            SELECT count(*) FROM images WHERE account_id = $1 AND state = 'failed' AND deleted_at_ms IS NULL
        ) AS failed"
);

fn progress(c: &mut SqlConnection, account: AccountId) -> Result<IndexingProgress, SqlError> {
    let row: ProgressRow = statement(PROGRESS).bind::<BigInt, _>(account.0).get_result(c)?;
    let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(IndexingProgress { waiting: count(row.waiting), failed: count(row.failed) })
}
