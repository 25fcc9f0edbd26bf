//! The albums and the neighbours of an image, and how its camera was set.

use async_trait::async_trait;
use diesel::{OptionalExtension, prelude::*};
use domain::{AlbumId, ImageId, LocalTime};
use storage::{Lookup, MAX_ALBUMS_OF_PHOTO, PhotoContext, PhotoContextStore, StorageError, Viewer};

use crate::{
    SqlConnection, SqlStore,
    error::SqlError,
    sql::{
        camera_settings,
        image_rows::{Visibility, VisibleImage, resolve_image},
        local_time::{CapturedAtOfImage, LocalTimeOfImage},
        marks::IsNotArchived,
        schema::{album_images, albums, images},
        value::RowReader,
    },
};

#[async_trait]
impl PhotoContextStore for SqlStore {
    async fn photo_context(
        &self,
        viewer: Viewer,
        id: &ImageId,
        album: Option<&AlbumId>,
    ) -> Result<PhotoContext, StorageError> {
        let id = id.clone();
        match album {
            None => self.read(move |c| context(c, viewer, &id, None)).await,
            Some(album) => {
                self.read_placed(viewer, album, move |c, album| context(c, viewer, &id, Some(album))).await
            }
        }
    }
}

fn context(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &ImageId,
    album: Option<&AlbumId>,
) -> Result<PhotoContext, SqlError> {
    let Lookup::Found(image) = resolve_image(c, viewer, id)? else { return Ok(PhotoContext::default()) };
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(PhotoContext::default()) };
    let ((previous, next), position) = match album {
        None => (in_timeline(c, visibility, image)?, None),
        Some(album) => in_album(c, visibility, image, album)?,
    };
    let read = |id: Option<String>| {
        id.map(|id| RowReader::new("images", &id).required("id", ImageId::parse(id.as_str()))).transpose()
    };
    Ok(PhotoContext {
        albums: albums_of(c, visibility, image)?,
        previous: read(previous)?,
        next: read(next)?,
        position,
        settings: camera_settings::of(c, image.seq)?,
    })
}

fn albums_of(
    c: &mut SqlConnection,
    visibility: Visibility,
    image: VisibleImage,
) -> Result<Vec<(AlbumId, String)>, SqlError> {
    let rows: Vec<(String, String)> = album_images::table
        .inner_join(albums::table.on(albums::seq.eq(album_images::album_seq)))
        .filter(album_images::image_seq.eq(image.seq))
        .filter(albums::account_id.eq(visibility.account))
        .order((albums::title, albums::seq))
        .limit(i64::from(MAX_ALBUMS_OF_PHOTO))
        .select((albums::id, albums::title))
        .load(c)?;
    rows.into_iter()
        .map(|(id, title)| {
            Ok((RowReader::new("albums", &id).required("id", AlbumId::parse(id.as_str()))?, title))
        })
        .collect()
}

/// The ids of the previous and the next image.
type Neighbours = (Option<String>, Option<String>);

fn in_timeline(
    c: &mut SqlConnection,
    visibility: Visibility,
    image: VisibleImage,
) -> Result<Neighbours, SqlError> {
    let place: i64 = images::table.find(image.seq).select(LocalTimeOfImage).get_result(c)?;
    let between = |first: i64, last: i64| {
        images::table
            .filter(images::account_id.eq(visibility.account))
            .filter(images::live.eq(true))
            .filter(LocalTimeOfImage.between(first, last))
            .filter(CapturedAtOfImage.ge(visibility.oldest_ms))
            .filter(IsNotArchived)
            .limit(1)
            .select(images::id)
    };
    let newer =
        between(place + 1, LocalTime::MAX.number()).order(LocalTimeOfImage.asc()).get_result(c).optional()?;
    let older = between(visibility.oldest_place().number(), place - 1)
        .order(LocalTimeOfImage.desc())
        .get_result(c)
        .optional()?;
    Ok((newer, older))
}

fn in_album(
    c: &mut SqlConnection,
    visibility: Visibility,
    image: VisibleImage,
    album: &AlbumId,
) -> Result<(Neighbours, Option<i64>), SqlError> {
    let found: Option<(i64, bool, bool, i64)> = albums::table
        .inner_join(album_images::table.on(album_images::album_seq.eq(albums::seq)))
        .filter(albums::id.eq(album.as_str()))
        .filter(albums::account_id.eq(visibility.account))
        .filter(album_images::image_seq.eq(image.seq))
        .select((albums::seq, albums::by_hand, albums::oldest_first, album_images::position))
        .get_result(c)
        .optional()?;
    let Some((seq, by_hand, oldest_first, position)) = found else { return Ok(((None, None), None)) };
    if by_hand {
        return Ok((in_own_order(c, visibility, seq, position)?, Some(position)));
    }
    let at_ms = image.captured_at_ms;
    let between = |start_ms: i64, end_ms: i64| {
        album_images::table
            .inner_join(images::table)
            .filter(album_images::album_seq.eq(seq))
            .filter(album_images::live.eq(true))
            .filter(album_images::captured_at_ms.between(start_ms, end_ms))
            .limit(1)
            .select(images::id)
    };
    let newer =
        between(at_ms + 1, i64::MAX).order(album_images::captured_at_ms.asc()).get_result(c).optional()?;
    let older = between(visibility.oldest_ms, at_ms - 1)
        .order(album_images::captured_at_ms.desc())
        .get_result(c)
        .optional()?;
    Ok((if oldest_first { (older, newer) } else { (newer, older) }, None))
}

fn in_own_order(
    c: &mut SqlConnection,
    visibility: Visibility,
    album_seq: i64,
    position: i64,
) -> Result<Neighbours, SqlError> {
    let visible = || {
        album_images::table
            .inner_join(images::table)
            .filter(album_images::album_seq.eq(album_seq))
            .filter(album_images::live.eq(true))
            .filter(album_images::captured_at_ms.ge(visibility.oldest_ms))
            .limit(1)
            .select(images::id)
    };
    let previous = visible().filter(album_images::position.lt(position)).order(album_images::position.desc());
    let next = visible().filter(album_images::position.gt(position)).order(album_images::position.asc());
    Ok((previous.get_result(c).optional()?, next.get_result(c).optional()?))
}
