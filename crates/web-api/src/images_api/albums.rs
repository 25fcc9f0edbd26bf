use domain::AlbumChange;
use http::StatusCode;
use library::AlbumWrite;
use mcp_wire::parse_arguments;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{AlbumRecord, ApiError, Call, Envelope, Page, Pagination, album_record, parameters::album_page};
use http_server::reply::{Reply, empty, json};

/// A new album.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewAlbumBody {
    /// 1 to 100 characters after trimming.
    #[schema(min_length = 1, max_length = 100, pattern = r"\S", required, nullable = false)]
    title: Option<String>,
    /// Ids of its first images.
    #[schema(max_items = 100)]
    image_ids: Option<Vec<String>>,
}

/// A change to an album. At least one field is required.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(min_properties = 1)]
pub(super) struct AlbumChangeBody {
    /// The new title, 1 to 100 characters after trimming.
    #[schema(min_length = 1, max_length = 100, pattern = r"\S")]
    title: Option<String>,
    /// Ids of images to add. Images that are already in the album are ignored.
    #[schema(max_items = 100)]
    add_image_ids: Option<Vec<String>>,
    /// Ids of images to remove. Images that are not in the album are ignored.
    #[schema(max_items = 100)]
    remove_image_ids: Option<Vec<String>>,
}

pub(super) async fn list(call: &Call<'_>) -> Result<Reply, ApiError> {
    let (limit, offset) = album_page(&call.query)?;
    let page = call.api.library.catalogue.albums(&call.caller, limit, offset).await?;
    let links = call.api.links();
    let results: Vec<AlbumRecord> =
        page.albums.into_iter().map(|album| album_record(album, &links)).collect();
    let pagination = Pagination { total: page.total, offset: offset.get(), limit: limit.get() };
    Ok(json(StatusCode::OK, &Page { results, pagination }))
}

pub(super) async fn create(call: &Call<'_>, body: &Map<String, Value>) -> Result<Reply, ApiError> {
    let body: NewAlbumBody = parse_arguments(body)?;
    let (title, images) = AlbumChange::creation(body.title.as_deref(), body.image_ids)?;
    let written = call.api.library.catalogue.create_album(&call.caller, title, images).await?;
    album(call, written, StatusCode::CREATED)
}

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, ApiError> {
    let album = call.api.library.catalogue.album(&call.caller, &call.id).await?.ok_or(ApiError::NoAlbum)?;
    Ok(json(StatusCode::OK, &Envelope { result: album_record(album, &call.api.links()) }))
}

pub(super) async fn change(call: &Call<'_>, body: &Map<String, Value>) -> Result<Reply, ApiError> {
    let body: AlbumChangeBody = parse_arguments(body)?;
    let change = AlbumChange::new(body.title.as_deref(), body.add_image_ids, body.remove_image_ids)?;
    let written = call.api.library.catalogue.change_album(&call.caller, &call.id, change).await?;
    album(call, written, StatusCode::OK)
}

pub(super) async fn delete(call: &Call<'_>) -> Result<Reply, ApiError> {
    if call.api.library.catalogue.delete_album(&call.caller, &call.id).await? {
        Ok(empty(StatusCode::NO_CONTENT))
    } else {
        Err(ApiError::NoAlbum)
    }
}

fn album(call: &Call<'_>, written: AlbumWrite, status: StatusCode) -> Result<Reply, ApiError> {
    match written {
        AlbumWrite::Done(album) => {
            Ok(json(status, &Envelope { result: album_record(album, &call.api.links()) }))
        }
        AlbumWrite::NoAlbum => Err(ApiError::NoAlbum),
        AlbumWrite::ForeignImage => Err(ApiError::ForeignImageId),
        AlbumWrite::UnknownImage => Err(ApiError::UnknownImageId),
        AlbumWrite::TooManyAlbums => Err(ApiError::TooManyAlbums),
    }
}
