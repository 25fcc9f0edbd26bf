use std::collections::HashMap;

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{Album, AlbumId, AlbumOrder, DateRange, Image, ImageId, Limit, Offset, Timestamp};
use storage::{AlbumName, AlbumPage, ListedAlbum, Lookup, PositionedImage, Positions, TimelineOrder, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{ImageRow, Visibility, resolve_images},
        schema::{album_images, albums, images},
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
    oldest_first: bool,
    pub(super) cover_seq: Option<i64>,
    by_hand: bool,
}

impl AlbumRow {
    pub(super) const fn order(&self) -> AlbumOrder {
        match self {
            Self { by_hand: true, .. } => AlbumOrder::ByHand,
            Self { oldest_first: true, .. } => AlbumOrder::OldestFirst,
            _ => AlbumOrder::NewestFirst,
        }
    }
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

/// The names of all albums, newest album first.
pub(super) fn names(c: &mut SqlConnection, viewer: Viewer) -> Result<Vec<AlbumName>, SqlError> {
    let rows: Vec<(i64, String, String)> = albums::table
        .filter(albums::account_id.eq(viewer.account.0))
        .order((albums::created_at_ms.desc(), albums::seq.desc()))
        .select((albums::seq, albums::id, albums::title))
        .load(c)?;
    let read = |(seq, id, title): (i64, String, String)| {
        Ok(AlbumName { id: RowReader::new("albums", &seq).required("id", AlbumId::parse(id))?, title })
    };
    rows.into_iter().map(read).collect()
}

/// All albums, with their covers.
pub(super) fn list(c: &mut SqlConnection, viewer: Viewer) -> Result<Vec<ListedAlbum>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let rows: Vec<AlbumRow> = albums::table
        .filter(albums::account_id.eq(visibility.account))
        .order((albums::created_at_ms.desc(), albums::seq.desc()))
        .select(AlbumRow::as_select())
        .load(c)?;
    let listed = summarized(c, rows, visibility)?;
    let ids: Vec<&str> =
        listed.iter().filter_map(|(album, _)| Some(album.cover.as_ref()?.as_str())).collect();
    let covers: Vec<ImageRow> =
        images::table.filter(images::id.eq_any(ids)).select(ImageRow::as_select()).load(c)?;
    let covers: Vec<Image> = covers.into_iter().map(Image::try_from).collect::<Result<_, _>>()?;
    let covers: HashMap<&ImageId, &Image> = covers.iter().map(|image| (&image.id, image)).collect();
    Ok(listed
        .into_iter()
        .map(|(album, captured)| {
            let cover = album.cover.as_ref().and_then(|id| covers.get(id)).map(|image| (*image).clone());
            ListedAlbum { album, cover, captured }
        })
        .collect())
}

/// Which of these images are in an album, and visible.
pub(super) fn members(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &AlbumId,
    ids: &[ImageId],
) -> Result<Vec<ImageId>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let Some(album) = row(c, visibility.account, id)? else { return Ok(Vec::new()) };
    let found: Vec<(i64, String)> = images::table
        .inner_join(album_images::table.on(album_images::image_seq.eq(images::seq)))
        .filter(album_images::album_seq.eq(album.seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.ge(visibility.oldest_ms))
        .filter(images::id.eq_any(ids.iter().map(ImageId::as_str)))
        .select((images::seq, images::id))
        .load(c)?;
    found
        .into_iter()
        .map(|(seq, id)| RowReader::new("images", &seq).required("id", ImageId::parse(id)))
        .collect()
}

pub(super) fn album(c: &mut SqlConnection, viewer: Viewer, id: &AlbumId) -> Result<Option<Album>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(None) };
    row(c, visibility.account, id)?.map(|row| visible_album(c, row, visibility)).transpose()
}

pub(super) fn count(c: &mut SqlConnection, account: i64) -> Result<u32, SqlError> {
    let count: i64 = albums::table.filter(albums::account_id.eq(account)).count().get_result(c)?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The internal id of an account's album.
pub(crate) fn seq(c: &mut SqlConnection, account: i64, id: &AlbumId) -> Result<Option<i64>, SqlError> {
    Ok(row(c, account, id)?.map(|row| row.seq))
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
    chosen_cover: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    newest: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    oldest_ms: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    newest_ms: Option<i64>,
}

const SUMMARIES: &str = concat!(
    "SELECT chosen.value AS album,
    (
        SELECT count(*) FROM album_images AS n
        WHERE n.album_seq = chosen.value AND n.live = TRUE AND n.captured_at_ms >= $1
    ) AS images,
    (
        SELECT i.id FROM albums AS a
            JOIN album_images AS n ON n.album_seq = a.seq AND n.image_seq = a.cover_seq
            JOIN images AS i ON i.seq = n.image_seq
        WHERE a.seq = chosen.value AND n.live = TRUE AND n.captured_at_ms >= $1
    ) AS chosen_cover,
    (
        SELECT i.id FROM album_images AS n JOIN images AS i ON i.seq = n.image_seq
        WHERE n.album_seq = chosen.value AND n.live = TRUE AND n.captured_at_ms >= $1
        ORDER BY n.captured_at_ms DESC LIMIT 1
    ) AS newest,
    (
        SELECT min(n.captured_at_ms) FROM album_images AS n
        WHERE n.album_seq = chosen.value AND n.live = TRUE AND n.captured_at_ms >= $1
    ) AS oldest_ms,
    (
        SELECT max(n.captured_at_ms) FROM album_images AS n
        WHERE n.album_seq = chosen.value AND n.live = TRUE AND n.captured_at_ms >= $1
    ) AS newest_ms
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
    Ok(summarized(c, rows, visibility)?.into_iter().map(|(album, _)| album).collect())
}

/// An album, and the capture times of its oldest and its newest image.
type Summarized = (Album, Option<(Timestamp, Timestamp)>);

/// Albums as their owner sees them, in the order of the rows.
fn summarized(
    c: &mut SqlConnection,
    rows: Vec<AlbumRow>,
    visibility: Visibility,
) -> Result<Vec<Summarized>, SqlError> {
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

fn read_album(row: AlbumRow, summary: SummaryRow) -> Result<Summarized, SqlError> {
    let reader = RowReader::new("albums", &row.seq);
    let oldest = reader.optional_timestamp("oldest", summary.oldest_ms)?;
    let newest = reader.optional_timestamp("newest", summary.newest_ms)?;
    let is_cover_chosen = summary.chosen_cover.is_some();
    let cover = summary
        .chosen_cover
        .or(summary.newest)
        .map(|id| reader.required("cover", ImageId::parse(id)))
        .transpose()?;
    let album = Album {
        order: row.order(),
        id: reader.required("id", AlbumId::parse(row.id))?,
        title: row.title,
        image_count: u32::try_from(summary.images).unwrap_or(u32::MAX),
        cover,
        is_cover_chosen,
        created_at: reader.timestamp("created_at_ms", row.created_at_ms)?,
        updated_at: reader.timestamp("updated_at_ms", row.updated_at_ms)?,
    };
    Ok((album, oldest.zip(newest)))
}

/// A page of the visible images of an album.
pub(super) fn contents(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &AlbumId,
    range: DateRange,
    order: TimelineOrder,
    limit: Limit,
) -> Result<Option<Vec<Image>>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(None) };
    let Some(album) = row(c, visibility.account, id)? else { return Ok(None) };
    let (start_ms, end_ms) = visibility.range_ms(range);
    let found = album_images::table
        .inner_join(images::table)
        .filter(album_images::album_seq.eq(album.seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.between(start_ms, end_ms))
        .limit(i64::from(limit.get()))
        .select(ImageRow::as_select());
    let rows: Vec<ImageRow> = match order {
        TimelineOrder::NewestFirst => found.order(album_images::captured_at_ms.desc()).load(c)?,
        TimelineOrder::OldestFirst => found.order(album_images::captured_at_ms.asc()).load(c)?,
    };
    rows.into_iter().map(Image::try_from).collect::<Result<_, _>>().map(Some)
}

/// A page of the visible images of an album, in its own order.
pub(super) fn positioned(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &AlbumId,
    positions: Positions,
    limit: Limit,
) -> Result<Option<Vec<PositionedImage>>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(None) };
    let Some(album) = row(c, visibility.account, id)? else { return Ok(None) };
    let found = album_images::table
        .inner_join(images::table)
        .filter(album_images::album_seq.eq(album.seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.ge(visibility.oldest_ms))
        .limit(i64::from(limit.get()))
        .select((album_images::position, ImageRow::as_select()));
    let rows: Vec<(i64, ImageRow)> = match positions {
        Positions::From(first) => {
            found.filter(album_images::position.ge(first)).order(album_images::position.asc()).load(c)?
        }
        Positions::Before(end) => {
            found.filter(album_images::position.lt(end)).order(album_images::position.desc()).load(c)?
        }
    };
    let read = |(position, row)| Ok(PositionedImage { image: Image::try_from(row)?, position });
    rows.into_iter().map(read).collect::<Result<_, SqlError>>().map(Some)
}

/// The albums that contain a visible image.
pub(super) fn of_image(
    c: &mut SqlConnection,
    viewer: Viewer,
    image: &ImageId,
) -> Result<Vec<AlbumName>, SqlError> {
    let found = resolve_images(c, viewer, &[image.as_str()])?.remove(image.as_str());
    let Some(Lookup::Found(image)) = found else { return Ok(Vec::new()) };
    let rows: Vec<(i64, String, String)> = album_images::table
        .inner_join(albums::table.on(albums::seq.eq(album_images::album_seq)))
        .filter(album_images::image_seq.eq(image.seq))
        .order((albums::created_at_ms.desc(), albums::seq.desc()))
        .select((albums::seq, albums::id, albums::title))
        .load(c)?;
    rows.into_iter()
        .map(|(seq, id, title)| {
            Ok(AlbumName { id: RowReader::new("albums", &seq).required("id", AlbumId::parse(id))?, title })
        })
        .collect()
}
