use diesel::prelude::*;
use domain::{AlbumChange, AlbumId, MAX_ALBUMS_PER_ACCOUNT, Timestamp};
use storage::{AlbumWrite, Lookup, NewAlbum, Viewer};

use super::rows;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        images::{ImageResolver, Visibility, VisibleImage},
        schema::{album_images, albums},
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
    let mut resolver = ImageResolver::new(viewer);
    let mut seen = Vec::new();
    let mut unknown = false;
    for id in ids {
        match resolver.resolve(c, id)? {
            Lookup::Found(image) => seen.push(image),
            Lookup::Foreign => return Ok(Resolved::Refused(AlbumWrite::ForeignImage)),
            Lookup::Missing => unknown = true,
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

/// Adds images; returns how many were not in the album before.
fn add(c: &mut SqlConnection, album_seq: i64, images: &[VisibleImage]) -> Result<usize, SqlError> {
    let mut added = 0;
    for image in images {
        added += diesel::insert_into(album_images::table)
            .values((
                album_images::album_seq.eq(album_seq),
                album_images::image_seq.eq(image.seq),
                album_images::captured_at_ms.eq(image.captured_at_ms),
                album_images::live.eq(true),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
    }
    Ok(added)
}

/// Removes images; returns how many were in the album before.
fn remove(c: &mut SqlConnection, album_seq: i64, images: &[VisibleImage]) -> Result<usize, SqlError> {
    let mut removed = 0;
    for image in images {
        removed += diesel::delete(album_images::table.find((album_seq, image.seq))).execute(c)?;
    }
    Ok(removed)
}

/// The album after the change.
fn done(c: &mut SqlConnection, visibility: Visibility, id: &AlbumId) -> Result<AlbumWrite, SqlError> {
    match rows::row(c, visibility.account, id)? {
        Some(row) => Ok(AlbumWrite::Done(rows::visible_album(c, row, visibility)?)),
        None => Ok(AlbumWrite::NoAlbum),
    }
}
