use diesel::{OptionalExtension, prelude::*};
use domain::{Album, AlbumId, ImageId, Limit, Offset};
use storage::{AlbumPage, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        images::Visibility,
        schema::{album_images, albums, images},
        value::RowReader,
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
    let albums = rows.into_iter().map(|row| visible_album(c, row, visibility)).collect::<Result<_, _>>()?;
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

/// An album as its owner sees it.
pub(super) fn visible_album(
    c: &mut SqlConnection,
    row: AlbumRow,
    visibility: Visibility,
) -> Result<Album, SqlError> {
    let count: i64 = album_images::table
        .filter(album_images::album_seq.eq(row.seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.ge(visibility.oldest_ms))
        .count()
        .get_result(c)?;
    let newest: Option<i64> = album_images::table
        .filter(album_images::album_seq.eq(row.seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.ge(visibility.oldest_ms))
        .order(album_images::captured_at_ms.desc())
        .select(album_images::image_seq)
        .first(c)
        .optional()?;
    let cover = match newest {
        None => None,
        Some(seq) => {
            let id: String = images::table.find(seq).select(images::id).get_result(c)?;
            Some(RowReader::new("images", &seq).required("id", ImageId::parse(id))?)
        }
    };
    let reader = RowReader::new("albums", &row.seq);
    Ok(Album {
        id: reader.required("id", AlbumId::parse(row.id))?,
        title: row.title,
        image_count: u32::try_from(count).unwrap_or(u32::MAX),
        cover,
        created_at: reader.timestamp("created_at_ms", row.created_at_ms)?,
        updated_at: reader.timestamp("updated_at_ms", row.updated_at_ms)?,
    })
}
