use std::collections::HashMap;

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{Album, AlbumId, ImageId, Limit, Offset};
use storage::{AlbumPage, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        images::Visibility,
        schema::albums,
        statement,
        value::{RowReader, json_array},
    },
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = albums, check_for_backend(crate::Backend))]
pub(super) struct AlbumRow {
    pub(super) seq: i64,
    id: String,
    pub(super) title: String,
    created_at_ms: i64,
    updated_at_ms: i64,
}

pub(super) fn page(
    c: &mut SqlConnection,
    viewer: Viewer,
    limit: Limit,
    offset: Offset,
) -> Result<AlbumPage, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else {
        return Ok(AlbumPage { albums: Vec::new(), total: 0 });
    };
    let rows: Vec<AlbumRow> = albums::table
        .filter(albums::account_id.eq(visibility.account))
        .order((albums::created_at_ms.desc(), albums::seq.desc()))
        .limit(i64::from(limit.get()))
        .offset(i64::from(offset.get()))
        .select(AlbumRow::as_select())
        .load(c)?;
    let albums = visible_albums(c, rows, visibility)?;
    Ok(AlbumPage { albums, total: count(c, visibility.account)? })
}

pub(super) fn album(c: &mut SqlConnection, viewer: Viewer, id: &AlbumId) -> Result<Option<Album>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(None) };
    row(c, visibility.account, id)?.map(|row| visible_album(c, row, visibility)).transpose()
}

/// The number of albums of an account.
pub(super) fn count(c: &mut SqlConnection, account: i64) -> Result<u32, SqlError> {
    let count: i64 = albums::table.filter(albums::account_id.eq(account)).count().get_result(c)?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The row of an account's album.
pub(super) fn row(c: &mut SqlConnection, account: i64, id: &AlbumId) -> Result<Option<AlbumRow>, SqlError> {
    Ok(albums::table
        .filter(albums::id.eq(id.as_str()))
        .filter(albums::account_id.eq(account))
        .select(AlbumRow::as_select())
        .get_result(c)
        .optional()?)
}

#[derive(QueryableByName)]
struct SummaryRow {
    #[diesel(sql_type = BigInt)]
    album: i64,
    #[diesel(sql_type = BigInt)]
    images: i64,
    #[diesel(sql_type = Nullable<Text>)]
    cover: Option<String>,
}

const SUMMARIES: &str = concat!(
    "SELECT chosen.value AS album,
    (
        SELECT count(*) FROM album_images AS n
        WHERE n.album_seq = chosen.value AND n.live = TRUE AND n.captured_at_ms >= $1
    ) AS images,
    (
        SELECT i.id FROM album_images AS n JOIN images AS i ON i.seq = n.image_seq
        WHERE n.album_seq = chosen.value AND n.live = TRUE AND n.captured_at_ms >= $1
        ORDER BY n.captured_at_ms DESC LIMIT 1
    ) AS cover
FROM ",
    integers!("$2"),
    " AS chosen"
);

/// Albums as their owner sees them, in the order of the rows.
fn visible_albums(
    c: &mut SqlConnection,
    rows: Vec<AlbumRow>,
    visibility: Visibility,
) -> Result<Vec<Album>, SqlError> {
    let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    let summaries: Vec<SummaryRow> = statement(SUMMARIES)
        .bind::<BigInt, _>(visibility.oldest_ms)
        .bind::<Text, _>(json_array(&seqs))
        .load(c)?;
    let mut by_album: HashMap<i64, SummaryRow> =
        summaries.into_iter().map(|summary| (summary.album, summary)).collect();
    rows.into_iter()
        .map(|row| {
            let reader = RowReader::new("albums", &row.seq);
            let summary = reader.required("images", by_album.remove(&row.seq))?;
            read_album(row, summary)
        })
        .collect()
}

/// An album as its owner sees it.
pub(super) fn visible_album(
    c: &mut SqlConnection,
    row: AlbumRow,
    visibility: Visibility,
) -> Result<Album, SqlError> {
    let seq = row.seq;
    let album = visible_albums(c, vec![row], visibility)?.pop();
    RowReader::new("albums", &seq).required("seq", album)
}

fn read_album(row: AlbumRow, summary: SummaryRow) -> Result<Album, SqlError> {
    let reader = RowReader::new("albums", &row.seq);
    let cover = summary.cover.map(|id| reader.required("cover", ImageId::parse(id))).transpose()?;
    Ok(Album {
        id: reader.required("id", AlbumId::parse(row.id))?,
        title: row.title,
        image_count: u32::try_from(summary.images).unwrap_or(u32::MAX),
        cover,
        created_at: reader.timestamp("created_at_ms", row.created_at_ms)?,
        updated_at: reader.timestamp("updated_at_ms", row.updated_at_ms)?,
    })
}
