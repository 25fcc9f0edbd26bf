use diesel::{
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::{AlbumChange, AlbumId, MAX_ALBUMS_PER_ACCOUNT, Timestamp};
use storage::{AlbumWrite, Lookup, NewAlbum, Viewer};

use super::rows;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        images::{Visibility, VisibleImage, resolve_images},
        schema::{album_images, albums},
        statement,
        value::json_text,
    },
};

/// The result of looking up the ids of a request.
enum Resolved {
    Images(Vec<VisibleImage>),
    Refused(AlbumWrite),
}

/// Looks up ids. An image of another account takes precedence over an unknown id, in any order.
fn resolve<'a>(
    c: &mut SqlConnection,
    viewer: Viewer,
    ids: impl Iterator<Item = &'a String>,
) -> Result<Resolved, SqlError> {
    let ids: Vec<&str> = ids.map(String::as_str).collect();
    let found = resolve_images(c, viewer, &ids)?;
    let mut seen = Vec::new();
    let mut unknown = false;
    for id in ids {
        match found.get(id) {
            Some(Lookup::Found(image)) => seen.push(*image),
            Some(Lookup::Foreign) => return Ok(Resolved::Refused(AlbumWrite::ForeignImage)),
            Some(Lookup::Missing) | None => unknown = true,
        }
    }
    Ok(if unknown { Resolved::Refused(AlbumWrite::UnknownImage) } else { Resolved::Images(seen) })
}

pub(super) fn create(
    c: &mut SqlConnection,
    viewer: Viewer,
    album: &NewAlbum,
) -> Result<AlbumWrite, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else {
        return Err(SqlError::Refused("an album cannot be added to a deleted account".to_owned()));
    };
    if rows::count(c, visibility.account)? >= MAX_ALBUMS_PER_ACCOUNT {
        return Ok(AlbumWrite::TooManyAlbums);
    }
    let images = match resolve(c, viewer, album.images.iter())? {
        Resolved::Images(images) => images,
        Resolved::Refused(outcome) => return Ok(outcome),
    };
    let seq: i64 = diesel::insert_into(albums::table)
        .values((
            albums::id.eq(album.id.as_str()),
            albums::account_id.eq(visibility.account),
            albums::title.eq(album.title.as_str()),
            albums::created_at_ms.eq(album.created_at.millis()),
            albums::updated_at_ms.eq(album.created_at.millis()),
        ))
        .returning(albums::seq)
        .get_result(c)?;
    add(c, seq, &images)?;
    done(c, visibility, &album.id)
}

pub(super) fn change(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &AlbumId,
    change: &AlbumChange,
    at: Timestamp,
) -> Result<AlbumWrite, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(AlbumWrite::NoAlbum) };
    let Some(row) = rows::row(c, visibility.account, id)? else { return Ok(AlbumWrite::NoAlbum) };
    let mut images = match resolve(c, viewer, change.add.iter().chain(&change.remove))? {
        Resolved::Images(images) => images,
        Resolved::Refused(outcome) => return Ok(outcome),
    };
    let removed = images.split_off(change.add.len().min(images.len()));
    let mut changed = add(c, row.seq, &images)? + remove(c, row.seq, &removed)?;
    if let Some(title) = change.title.as_ref().filter(|title| title.as_str() != row.title) {
        changed +=
            diesel::update(albums::table.find(row.seq)).set(albums::title.eq(title.as_str())).execute(c)?;
    }
    if changed > 0 {
        diesel::update(albums::table.find(row.seq)).set(albums::updated_at_ms.eq(at.millis())).execute(c)?;
    }
    done(c, visibility, id)
}

pub(super) fn delete(c: &mut SqlConnection, viewer: Viewer, id: &AlbumId) -> Result<bool, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(false) };
    let Some(row) = rows::row(c, visibility.account, id)? else { return Ok(false) };
    diesel::delete(albums::table.find(row.seq)).execute(c)?;
    Ok(true)
}

const ADD_IMAGES: &str = concat!(
    "INSERT INTO album_images (album_seq, image_seq, captured_at_ms, live)
    SELECT $1, first, second, TRUE FROM ",
    integer_pairs!("$2"),
    " AS added WHERE TRUE ON CONFLICT DO NOTHING"
);

/// Adds images; returns how many were not in the album before.
fn add(c: &mut SqlConnection, album_seq: i64, images: &[VisibleImage]) -> Result<usize, SqlError> {
    if images.is_empty() {
        return Ok(0);
    }
    let images: Vec<(i64, i64)> = images.iter().map(|image| (image.seq, image.captured_at_ms)).collect();
    Ok(statement(ADD_IMAGES).bind::<BigInt, _>(album_seq).bind::<Text, _>(json_text(&images)).execute(c)?)
}

/// Removes images; returns how many were in the album before.
fn remove(c: &mut SqlConnection, album_seq: i64, images: &[VisibleImage]) -> Result<usize, SqlError> {
    if images.is_empty() {
        return Ok(0);
    }
    let removed = album_images::table
        .filter(album_images::album_seq.eq(album_seq))
        .filter(album_images::image_seq.eq_any(images.iter().map(|image| image.seq)));
    Ok(diesel::delete(removed).execute(c)?)
}

/// The album after the change.
fn done(c: &mut SqlConnection, visibility: Visibility, id: &AlbumId) -> Result<AlbumWrite, SqlError> {
    match rows::row(c, visibility.account, id)? {
        Some(row) => Ok(AlbumWrite::Done(rows::visible_album(c, row, visibility)?)),
        None => Ok(AlbumWrite::NoAlbum),
    }
}
