//! The deleted images of an account.

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{AccountId, Image, ImageId, Rendition, Selection, Timestamp};
use storage::{RenditionSource, SelectionCursor, SelectionStep, StorageError, TrashStore, TrashedImage};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    sql::{
        account_rows::is_active,
        image_rows::load_in_order,
        images::remove_forever,
        renditions::trashed_source,
        schema::images,
        selection::{self, Selectable},
        statement,
        value::RowReader,
    },
};

operations! {
    impl TrashStore {
        query count_trash(account: AccountId) -> u32 = count;
        query trashed_rendition(
            account: AccountId, id: &ImageId, rendition: Rendition
        ) -> Option<RenditionSource> = trashed_source;
        write(Lock::Account(account.0)) purge_selection(
            account: AccountId, selection: &Selection, cursor: SelectionCursor, max: u32
        ) -> SelectionStep = purge_selection;
        write(Lock::Account(account.0)) empty_trash(
            account: AccountId, deleted_until: Timestamp, max: u32
        ) -> u32 = empty;
    }
    by hand {
        async fn page_trash(
            &self,
            account: AccountId,
            after: Option<&ImageId>,
            max: u32,
        ) -> Result<Vec<TrashedImage>, StorageError> {
            let after = after.cloned();
            self.read(move |c| page(c, account, after.as_ref(), max)).await
        }
    }
}

fn purge_selection(
    c: &mut SqlConnection,
    account: AccountId,
    selection: &Selection,
    cursor: SelectionCursor,
    max: u32,
) -> Result<SelectionStep, SqlError> {
    let from = Selectable::Deleted { account: account.0, at_ms: None };
    let batch = selection::batch(c, from, selection, cursor, max)?;
    Ok(SelectionStep { changed: remove_forever(c, &batch.seqs())?, next: batch.next })
}

fn empty(
    c: &mut SqlConnection,
    account: AccountId,
    deleted_until: Timestamp,
    max: u32,
) -> Result<u32, SqlError> {
    let rows = rows(c, account, (deleted_until.millis(), i64::MAX), max)?;
    remove_forever(c, &rows.iter().map(|row| row.seq).collect::<Vec<_>>())
}

#[derive(QueryableByName)]
struct TrashRow {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Nullable<Text>)]
    file_name: Option<String>,
    #[diesel(sql_type = BigInt)]
    deleted_at_ms: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    captured_at_ms: Option<i64>,
}

// The range of times makes SQLite use the partial index.
const PAGE: &str = concat!(
    "SELECT i.seq AS seq, i.id AS id, i.file_name AS file_name, i.deleted_at_ms AS deleted_at_ms,
        i.captured_at_ms AS captured_at_ms
    FROM images AS i ",
    by_index!("images_trash"),
    " WHERE i.account_id = $1 AND i.deleted_at_ms <= $2 AND (i.deleted_at_ms < $2 OR i.seq < $3)
    ORDER BY i.deleted_at_ms DESC, i.seq DESC LIMIT $4"
);

/// The rows after a time of deletion and a number.
fn rows(
    c: &mut SqlConnection,
    account: AccountId,
    (deleted_at_ms, seq): (i64, i64),
    max: u32,
) -> Result<Vec<TrashRow>, SqlError> {
    Ok(statement(PAGE)
        .bind::<BigInt, _>(account.0)
        .bind::<BigInt, _>(deleted_at_ms)
        .bind::<BigInt, _>(seq)
        .bind::<BigInt, _>(i64::from(max))
        .load(c)?)
}

fn page(
    c: &mut SqlConnection,
    account: AccountId,
    after: Option<&ImageId>,
    max: u32,
) -> Result<Vec<TrashedImage>, SqlError> {
    if !is_active(c, account.0)? {
        return Ok(Vec::new());
    }
    let position: Option<(Option<i64>, i64)> = match after {
        None => None,
        Some(id) => images::table
            .filter(images::id.eq(id.as_str()))
            .filter(images::account_id.eq(account.0))
            .select((images::deleted_at_ms, images::seq))
            .get_result(c)
            .optional()?,
    };
    let after = match position {
        Some((Some(deleted_at_ms), seq)) => (deleted_at_ms, seq),
        _ => (i64::MAX, i64::MAX),
    };
    let rows = rows(c, account, after, max)?;
    let indexed: Vec<i64> =
        rows.iter().filter(|row| row.captured_at_ms.is_some()).map(|row| row.seq).collect();
    let mut images = load_in_order(c, &indexed)?.into_iter().peekable();
    rows.into_iter()
        .map(|row| {
            let reader = RowReader::new("images", &row.seq);
            Ok(TrashedImage {
                deleted_at: reader.timestamp("deleted_at_ms", row.deleted_at_ms)?,
                id: reader.required("id", ImageId::parse(row.id))?,
                file_name: row.file_name,
                image: images.next_if(|image| image.seq == row.seq).map(Image::try_from).transpose()?,
            })
        })
        .collect()
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

fn count(c: &mut SqlConnection, account: AccountId) -> Result<u32, SqlError> {
    let found: Count =
        statement("SELECT count(*) AS count FROM images WHERE account_id = $1 AND deleted_at_ms IS NOT NULL")
            .bind::<BigInt, _>(account.0)
            .get_result(c)?;
    Ok(u32::try_from(found.count).unwrap_or(u32::MAX))
}
