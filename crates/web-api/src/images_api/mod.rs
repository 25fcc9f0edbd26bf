//! The image and album API under `/api/ext/v2`.
//!
//! Order of checks: key (401), path (404), method (405), photo sync (409), length (413), type (415) and content (400) of
//! the body, then the ids (403, 404).

mod albums;
mod api_error;
mod images;
mod openapi;
mod parameters;
mod records;

use std::sync::LazyLock;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use library::Caller;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

pub(crate) use api_error::ApiError;
pub use openapi::openapi_document;
pub(crate) use records::{
    AlbumRecord, Envelope, ImageRecord, LibraryRecord, NO_MODEL, Page, Pagination, album_record,
    image_record, library_record,
};

use http_server::{
    Query,
    authorization_header::bearer_or_bare,
    body::{BodyKind, MAX_BODY_BYTES, ReadBodyError, RequestBody},
    reply::{JSON, Reply, WithHeader as _, method_not_allowed, with_body},
    response_body::full,
};

use crate::{Api, BuildError};

const PREFIX: &str = "/api/ext/v2";

/// Whether a path belongs to this API.
pub(crate) fn is_path(path: &str) -> bool {
    path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    LibraryInfo,
    ListImages,
    GetImage,
    ChangeImage,
    DeleteImage,
    SearchImages,
    ListAlbums,
    CreateAlbum,
    GetAlbum,
    ChangeAlbum,
    DeleteAlbum,
}

/// A path with its operation for each method, and the value of `Allow`.
struct Route {
    path: &'static str,
    operations: &'static [(Method, Operation)],
    allow: &'static str,
}

const ROUTES: &[Route] = &[
    Route { path: "/library", operations: &[(Method::GET, Operation::LibraryInfo)], allow: "GET, HEAD" },
    Route { path: "/images", operations: &[(Method::GET, Operation::ListImages)], allow: "GET, HEAD" },
    Route {
        path: "/images/{id}",
        operations: &[
            (Method::GET, Operation::GetImage),
            (Method::PATCH, Operation::ChangeImage),
            (Method::DELETE, Operation::DeleteImage),
        ],
        allow: "GET, HEAD, PATCH, DELETE",
    },
    Route { path: "/search", operations: &[(Method::GET, Operation::SearchImages)], allow: "GET, HEAD" },
    Route {
        path: "/albums",
        operations: &[(Method::GET, Operation::ListAlbums), (Method::POST, Operation::CreateAlbum)],
        allow: "GET, HEAD, POST",
    },
    Route {
        path: "/albums/{id}",
        operations: &[
            (Method::GET, Operation::GetAlbum),
            (Method::PATCH, Operation::ChangeAlbum),
            (Method::DELETE, Operation::DeleteAlbum),
        ],
        allow: "GET, HEAD, PATCH, DELETE",
    },
];

/// Matches a path to its route.
pub(crate) struct Router(matchit::Router<&'static Route>);

impl Router {
    pub(crate) fn new() -> Result<Self, BuildError> {
        let mut router = matchit::Router::new();
        for route in ROUTES {
            router
                .insert(route.path, route)
                .map_err(|error| BuildError(format!("{}: {error}", route.path)))?;
        }
        Ok(Self(router))
    }
}

/// An authenticated request to an existing operation.
pub(crate) struct Call<'a> {
    pub(crate) api: &'a Api,
    pub(crate) caller: Caller,
    /// The id in the path, as sent.
    pub(crate) id: String,
    pub(crate) query: Query<'a>,
}

pub(crate) async fn handle(api: &Api, parts: &Parts, body: RequestBody) -> Reply {
    if parts.uri.path() == "/api/ext/v2/openapi.json" {
        return document(parts);
    }
    respond(api, parts, body).await.unwrap_or_else(ApiError::into_reply)
}

async fn respond(api: &Api, parts: &Parts, body: RequestBody) -> Result<Reply, ApiError> {
    let key = bearer_or_bare(&parts.headers).ok_or(ApiError::Unauthorized)?;
    let caller = api.library.accounts.caller_by_key(key).await?.ok_or(ApiError::Unauthorized)?;
    let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let matched = api.images_api.0.at(path).map_err(|_| ApiError::NoPath)?;
    let method = if parts.method == Method::HEAD { &Method::GET } else { &parts.method };
    let Some((_, operation)) = matched.value.operations.iter().find(|(served, _)| served == method) else {
        return Ok(method_not_allowed(matched.value.allow));
    };
    if caller.account.synced_at.is_none() && *operation != Operation::LibraryInfo {
        return Err(ApiError::SyncNotSetUp { install_url: crate::links::install_url(&api.base_url) });
    }
    let id =
        percent_decode_str(matched.params.get("id").unwrap_or_default()).decode_utf8_lossy().into_owned();
    let call = Call { api, caller, id, query: Query::parse(parts.uri.query()) };
    match operation {
        Operation::LibraryInfo => images::library_info(&call).await,
        Operation::ListImages => images::list(&call).await,
        Operation::GetImage => images::get(&call).await,
        Operation::ChangeImage => images::change(&call, &json_object(parts, body).await?).await,
        Operation::DeleteImage => images::delete(&call).await,
        Operation::SearchImages => images::search(&call).await,
        Operation::ListAlbums => albums::list(&call).await,
        Operation::CreateAlbum => albums::create(&call, &json_object(parts, body).await?).await,
        Operation::GetAlbum => albums::get(&call).await,
        Operation::ChangeAlbum => albums::change(&call, &json_object(parts, body).await?).await,
        Operation::DeleteAlbum => albums::delete(&call).await,
    }
}

/// Reads a body that must be a JSON object.
async fn json_object(parts: &Parts, body: RequestBody) -> Result<Map<String, Value>, ApiError> {
    let bytes = json_bytes(parts, body).await?;
    strict_json::parse_object(&bytes).map_err(|error| match error {
        strict_json::Error::NotAnObject => ApiError::invalid_body("must be a JSON object"),
        strict_json::Error::Malformed(error) => {
            ApiError::invalid_body(&format!("is not valid JSON: {error}"))
        }
        duplicate @ strict_json::Error::DuplicateMember { .. } => ApiError::Invalid(duplicate.to_string()),
    })
}

/// Reads a body with the content type JSON.
pub(crate) async fn json_bytes(parts: &Parts, body: RequestBody) -> Result<Bytes, ApiError> {
    let bytes = body.read(MAX_BODY_BYTES).await.map_err(|error| match error {
        ReadBodyError::TooLarge => ApiError::BodyTooLarge,
        ReadBodyError::TooSlow => ApiError::BodyTooSlow,
        ReadBodyError::Broken => ApiError::invalid_body("was cut off"),
        ReadBodyError::Encoded => ApiError::BodyEncoded,
    })?;
    if BodyKind::of(&parts.headers) == Some(BodyKind::Json) { Ok(bytes) } else { Err(ApiError::NotJson) }
}

/// The OpenAPI document, serialized once.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| openapi_document().into());

/// Serves the OpenAPI document, which needs no key.
fn document(parts: &Parts) -> Reply {
    match parts.method {
        Method::GET | Method::HEAD => with_body(StatusCode::OK, full(DOCUMENT.clone()))
            .with(header::CONTENT_TYPE, JSON)
            .with(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
        _ => method_not_allowed("GET, HEAD"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    #[tokio::test]
    async fn openapi_document_is_serialized_once() {
        let (parts, ()) = http::Request::new(()).into_parts();
        let mut addresses = Vec::new();
        for _ in 0..2 {
            let body = document(&parts).into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, openapi_document());
            addresses.push(body.as_ptr());
        }
        assert_eq!(addresses[0], addresses[1], "both replies share the same bytes");
    }

    #[test]
    fn routes_are_valid() {
        assert!(Router::new().is_ok());
        for route in ROUTES {
            let served: Vec<&str> = route.operations.iter().map(|(method, _)| method.as_str()).collect();
            let allowed: Vec<&str> = route.allow.split(", ").filter(|method| *method != "HEAD").collect();
            assert_eq!(served, allowed, "{}", route.path);
        }
    }
}
