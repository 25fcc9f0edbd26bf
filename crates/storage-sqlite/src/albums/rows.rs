use diesel::{OptionalExtension, SqliteConnection, prelude::*};
use domain::{Album, AlbumId, ImageId, Limit, Offset};
use storage::{AlbumPage, Viewer};

use crate::{
    error::Failure,
    images::Sight,
    schema::{album_images, albums, images},
    value::RowName,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = albums, check_for_backend(diesel::sqlite::Sqlite))]
pub(super) struct AlbumRow {
    pub(super) seq: i64,
    id: String,
    pub(super) title: String,
    created_at_ms: i64,
    updated_at_ms: i64,
}

pub(super) fn page(
    c: &mut SqliteConnection,
    viewer: Viewer,
    limit: Limit,
    offset: Offset,
) -> Result<AlbumPage, Failure> {
    let Some(sight) = Sight::of(c, viewer)? else { return Ok(AlbumPage { albums: Vec::new(), total: 0 }) };
    let rows: Vec<AlbumRow> = albums::table
        .filter(albums::account_id.eq(sight.account))
        .order((albums::created_at_ms.desc(), albums::seq.desc()))
        .limit(i64::from(limit.get()))
        .offset(i64::from(offset.get()))
        .select(AlbumRow::as_select())
        .load(c)?;
    let albums = rows.into_iter().map(|row| seen(c, row, sight)).collect::<Result<_, _>>()?;
    Ok(AlbumPage { albums, total: count(c, sight.account)? })
}

pub(super) fn album(
    c: &mut SqliteConnection,
    viewer: Viewer,
    id: &AlbumId,
) -> Result<Option<Album>, Failure> {
    let Some(sight) = Sight::of(c, viewer)? else { return Ok(None) };
    row(c, sight.account, id)?.map(|row| seen(c, row, sight)).transpose()
}

/// How many albums an account has.
pub(super) fn count(c: &mut SqliteConnection, account: i64) -> Result<u32, Failure> {
    let count: i64 = albums::table.filter(albums::account_id.eq(account)).count().get_result(c)?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The row of an account's album.
pub(super) fn row(c: &mut SqliteConnection, account: i64, id: &AlbumId) -> Result<Option<AlbumRow>, Failure> {
    Ok(albums::table
        .filter(albums::id.eq(id.as_str()))
        .filter(albums::account_id.eq(account))
        .select(AlbumRow::as_select())
        .get_result(c)
        .optional()?)
}

/// An album with what is seen of its images.
pub(super) fn seen(c: &mut SqliteConnection, row: AlbumRow, sight: Sight) -> Result<Album, Failure> {
    let count: i64 = album_images::table
        .filter(album_images::album_seq.eq(row.seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.ge(sight.oldest_ms))
        .count()
        .get_result(c)?;
    let newest: Option<i64> = album_images::table
        .filter(album_images::album_seq.eq(row.seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.ge(sight.oldest_ms))
        .order(album_images::captured_at_ms.desc())
        .select(album_images::image_seq)
        .get_result(c)
        .optional()?;
    let cover = match newest {
        None => None,
        Some(seq) => {
            let id: String = images::table.find(seq).select(images::id).get_result(c)?;
            Some(RowName::new("images", &seq).some("id", ImageId::parse(id))?)
        }
    };
    let name = RowName::new("albums", &row.seq);
    Ok(Album {
        id: name.some("id", AlbumId::parse(row.id))?,
        title: row.title,
        image_count: u32::try_from(count).unwrap_or(u32::MAX),
        cover,
        created_at: name.timestamp("created_at_ms", row.created_at_ms)?,
        updated_at: name.timestamp("updated_at_ms", row.updated_at_ms)?,
    })
}
