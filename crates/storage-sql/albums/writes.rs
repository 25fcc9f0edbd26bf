use diesel::{
    OptionalExtension,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::{AlbumChange, AlbumCover, AlbumId, AlbumOrder, MAX_ALBUMS_PER_ACCOUNT, Timestamp};
use storage::{AlbumWrite, Lookup, NewAlbum, Viewer};

use super::{moves, rows};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{Visibility, VisibleImage, resolve_images},
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
    add(c, seq, &pairs(&images))?;
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
    let cover = match &change.cover {
        None => None,
        Some(AlbumCover::Newest) => Some(None),
        Some(AlbumCover::Image(id)) => match image_of_album(c, viewer, row.seq, id)? {
            Some(image) => Some(Some(image)),
            None => return Ok(AlbumWrite::UnknownImage),
        },
    };
    let removed = images.split_off(change.add.len().min(images.len()));
    let mut changed = add(c, row.seq, &pairs(&images))? + remove(c, row.seq, &pairs(&removed))?;
    if let Some(title) = change.title.as_ref().filter(|title| title.as_str() != row.title) {
        changed +=
            diesel::update(albums::table.find(row.seq)).set(albums::title.eq(title.as_str())).execute(c)?;
    }
    if let Some(order) = change.order.filter(|order| *order != row.order()) {
        changed += set_order(c, &row, order)?;
    }
    if cover.is_some_and(|cover| cover != row.cover_seq) {
        changed += diesel::update(albums::table.find(row.seq))
            .set(albums::cover_seq.eq(cover.flatten()))
            .execute(c)?;
    }
    if changed > 0 {
        set_updated(c, row.seq, at)?;
    }
    done(c, visibility, id)
}

fn set_order(c: &mut SqlConnection, album: &rows::AlbumRow, order: AlbumOrder) -> Result<usize, SqlError> {
    let row = albums::table.find(album.seq);
    if order == AlbumOrder::ByHand {
        moves::place_the_rest(c, album)?;
        // The other column stays as it is, and is set when the album gets another order.
        return Ok(diesel::update(row).set(albums::by_hand.eq(true)).execute(c)?);
    }
    let oldest_first = order == AlbumOrder::OldestFirst;
    let order = (albums::oldest_first.eq(oldest_first), albums::by_hand.eq(false));
    Ok(diesel::update(row).set(order).execute(c)?)
}

/// The internal id of a visible image of an album.
fn image_of_album(
    c: &mut SqlConnection,
    viewer: Viewer,
    album_seq: i64,
    id: &str,
) -> Result<Option<i64>, SqlError> {
    let Some(Lookup::Found(image)) = resolve_images(c, viewer, &[id])?.remove(id) else { return Ok(None) };
    Ok(album_images::table
        .find((album_seq, image.seq))
        .select(album_images::image_seq)
        .get_result(c)
        .optional()?)
}

pub(super) fn delete(c: &mut SqlConnection, viewer: Viewer, id: &AlbumId) -> Result<bool, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(false) };
    let Some(row) = rows::row(c, visibility.account, id)? else { return Ok(false) };
    diesel::delete(albums::table.find(row.seq)).execute(c)?;
    Ok(true)
}

const ADD_IMAGES: &str = concat!(
    "INSERT INTO album_images (album_seq, image_seq, captured_at_ms, live, position)
    SELECT $1, first, second, TRUE, third FROM ",
    integer_triples!("$2"),
    " AS added WHERE TRUE ON CONFLICT DO NOTHING"
);

/// The internal ids and capture times of images.
fn pairs(images: &[VisibleImage]) -> Vec<(i64, i64)> {
    images.iter().map(|image| (image.seq, image.captured_at_ms)).collect()
}

/// Adds visible images, given by internal id and capture time; returns how many were not in the album before. An album in its
/// own order shows them at its end, in this order.
pub(crate) fn add(c: &mut SqlConnection, album_seq: i64, images: &[(i64, i64)]) -> Result<usize, SqlError> {
    if images.is_empty() {
        return Ok(0);
    }
    let by_hand = albums::table.find(album_seq).select(albums::by_hand).get_result(c)?;
    let (mut position, step) = if by_hand {
        moves::place_added(c, album_seq)?;
        (moves::last_position(c, album_seq)?, moves::STEP)
    } else {
        (0, 0)
    };
    let mut added = Vec::with_capacity(images.len());
    for (image, captured_at_ms) in images {
        position += step;
        added.push((image, captured_at_ms, position));
    }
    Ok(statement(ADD_IMAGES).bind::<BigInt, _>(album_seq).bind::<Text, _>(json_text(&added)).execute(c)?)
}

const REMOVE_IMAGES: &str = concat!(
    "DELETE FROM album_images WHERE album_seq = $1 AND image_seq IN (SELECT first FROM ",
    integer_pairs!("$2"),
    " AS removed)"
);

const FORGET_COVER: &str = concat!(
    "UPDATE albums SET cover_seq = NULL WHERE seq = $1 AND cover_seq IN (SELECT first FROM ",
    integer_pairs!("$2"),
    " AS removed)"
);

/// Removes images, given by internal id and capture time; returns how many were in the album before.
pub(crate) fn remove(
    c: &mut SqlConnection,
    album_seq: i64,
    images: &[(i64, i64)],
) -> Result<usize, SqlError> {
    if images.is_empty() {
        return Ok(0);
    }
    let images = json_text(images);
    statement(FORGET_COVER).bind::<BigInt, _>(album_seq).bind::<Text, _>(&images).execute(c)?;
    Ok(statement(REMOVE_IMAGES).bind::<BigInt, _>(album_seq).bind::<Text, _>(images).execute(c)?)
}

/// Records a change of an album.
pub(crate) fn set_updated(c: &mut SqlConnection, album_seq: i64, at: Timestamp) -> Result<(), SqlError> {
    diesel::update(albums::table.find(album_seq)).set(albums::updated_at_ms.eq(at.millis())).execute(c)?;
    Ok(())
}

/// The album after the change.
fn done(c: &mut SqlConnection, visibility: Visibility, id: &AlbumId) -> Result<AlbumWrite, SqlError> {
    match rows::row(c, visibility.account, id)? {
        Some(row) => Ok(AlbumWrite::Done(rows::visible_album(c, row, visibility)?)),
        None => Ok(AlbumWrite::NoAlbum),
    }
}
