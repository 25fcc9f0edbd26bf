//! The OpenAPI 3.1 description of the image and album API, generated from the types that write its answers.
#![expect(unused_qualifications, reason = "the macros write paths in full")]
#![expect(dead_code, reason = "the functions and parameter types here only carry descriptions")]

use serde::Serialize;
use utoipa::{
    IntoParams, Modify, OpenApi, ToSchema,
    openapi::{
        ContentBuilder, Ref, RefOr, Response, ResponseBuilder,
        path::{Operation, PathItem},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use super::{
    AlbumRecord, Envelope, ImageRecord, LibraryRecord, PREFIX, Page,
    albums::{AlbumChangeBody, NewAlbumBody},
};

/// A refusal, with a message for people. Decide by the status, not by the message.
#[derive(Serialize, ToSchema)]
struct Refusal {
    error: String,
}

/// The refusal of a key.
#[derive(Serialize, ToSchema)]
struct Unauthorized {
    message: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    /// The size of the page.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u32>,
    /// The earliest capture time: ISO 8601; without a zone UTC, a date alone its midnight.
    #[param(rename = "startDate", example = "2024-05-01")]
    start_date: Option<String>,
    /// The latest capture time, inclusive. For the next page: the `capturedAt` of the last image received.
    #[param(rename = "endDate", example = "2024-05-31T23:59:59.999Z")]
    end_date: Option<String>,
    /// Of the circle's centre in degrees; the circle's three parameters go together.
    #[param(minimum = -90, maximum = 90)]
    latitude: Option<f64>,
    /// Of the circle's centre in degrees.
    #[param(minimum = -180, maximum = 180)]
    longitude: Option<f64>,
    /// Of the circle, in metres.
    #[param(rename = "radiusMeters", exclusive_minimum = 0, maximum = 20_037_508)]
    radius_m: Option<f64>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
struct SearchParameters {
    /// Plain words, in any language: what is written in or about the photo, where it was taken, what it looks like. At least
    /// one of `query`, `albumId` and a full circle is needed.
    #[param(min_length = 1, max_length = 2000)]
    query: Option<String>,
    /// Only images of this album.
    #[param(rename = "albumId")]
    album_id: Option<String>,
    /// Comma-separated `text` (description and words read in it), `image` (what it looks like). Only with `query`, and neither with an album nor with a circle.
    #[param(pattern = "^(text|image)(,(text|image))*$")]
    channels: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
struct AlbumParameters {
    /// The size of the page.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u32>,
    /// How many albums to pass over.
    #[param(maximum = 500, default = 0)]
    offset: Option<u32>,
}

#[utoipa::path(get, path = "/library", summary = "Get library info", responses(
    (status = 200, body = Envelope<LibraryRecord>)))]
fn get_library() {}

#[utoipa::path(get, path = "/images", summary = "List images, newest first", params(ListParameters), responses(
    (status = 200, body = Page<ImageRecord>), (status = 400, body = Refusal)))]
fn list_images() {}

#[utoipa::path(get, path = "/images/{id}", summary = "Get image with URLs of all renditions",
    params(("id" = String, Path)), responses(
    (status = 200, body = Envelope<ImageRecord>), (status = 403, body = Refusal), (status = 404, body = Refusal)))]
fn get_image() {}

#[utoipa::path(delete, path = "/images/{id}", summary = "Delete image; its owner can restore it for 30 days",
    params(("id" = String, Path)), responses(
    (status = 204), (status = 403, body = Refusal), (status = 404, body = Refusal)))]
fn delete_image() {}

#[utoipa::path(get, path = "/search", summary = "Search images: by words best first, else newest first",
    params(SearchParameters, ListParameters), responses(
    (status = 200, body = Page<ImageRecord>), (status = 400, body = Refusal), (status = 404, body = Refusal),
    (status = 502, description = "Search is temporarily down; retry after a wait", body = Refusal)))]
fn search_images() {}

#[utoipa::path(get, path = "/albums", summary = "List albums, newest first", params(AlbumParameters), responses(
    (status = 200, body = Page<AlbumRecord>), (status = 400, body = Refusal)))]
fn list_albums() {}

#[utoipa::path(post, path = "/albums", summary = "Create album", request_body = NewAlbumBody, responses(
    (status = 201, body = Envelope<AlbumRecord>), (status = 400, body = Refusal), (status = 403, body = Refusal),
    (status = 404, body = Refusal)))]
fn create_album() {}

#[utoipa::path(get, path = "/albums/{id}", summary = "Get album", params(("id" = String, Path)), responses(
    (status = 200, body = Envelope<AlbumRecord>), (status = 404, body = Refusal)))]
fn get_album() {}

#[utoipa::path(patch, path = "/albums/{id}", summary = "Change an album's title and images, all of it or nothing",
    params(("id" = String, Path)), request_body = AlbumChangeBody, responses(
    (status = 200, body = Envelope<AlbumRecord>), (status = 400, body = Refusal), (status = 403, body = Refusal),
    (status = 404, body = Refusal)))]
fn change_album() {}

#[utoipa::path(delete, path = "/albums/{id}", summary = "Delete album; its images stay",
    params(("id" = String, Path)), responses((status = 204), (status = 404, body = Refusal)))]
fn delete_album() {}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Photo library",
        description = "Lists, searches, shows and organises the photos of one library. Images are served only as WebP renditions behind signed URLs that work for 15 minutes: store image ids, not URLs. Unknown parameters are ignored; if one is repeated, its first value counts; a blank one counts as absent.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    paths(
        get_library, list_images, get_image, delete_image, search_images, list_albums, create_album, get_album,
        change_album, delete_album
    ),
    components(schemas(Refusal, Unauthorized)),
    security(("key" = [])),
    modifiers(&Common)
)]
struct Document;

/// What every operation shares.
struct Common;

impl Modify for Common {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        openapi.servers = Some(vec![utoipa::openapi::Server::new(PREFIX)]);
        let components = openapi.components.get_or_insert_default();
        let scheme =
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("An API key")).build();
        components.add_security_scheme("key", SecurityScheme::Http(scheme));
        for (path, item) in &mut openapi.paths.paths {
            for operation in operations(item) {
                share(operation, path != "/library");
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten()
}

fn share(operation: &mut Operation, needs_sync: bool) {
    let mut add = |status: &str, description: &str, schema: &str| {
        let content = ContentBuilder::new().schema(Some(RefOr::Ref(Ref::from_schema_name(schema)))).build();
        let response: Response =
            ResponseBuilder::new().description(description).content("application/json", content).build();
        operation.responses.responses.insert(status.to_owned(), RefOr::T(response));
    };
    add("401", "The key is missing, wrong or revoked", &Unauthorized::name());
    add("405", "The method is not served at this path", &Refusal::name());
    add("503", "The service is temporarily down; retry with backoff", &Refusal::name());
    if needs_sync {
        add(
            "409",
            "Photo sync is not set up (the message says how), or there are 500 albums already",
            &Refusal::name(),
        );
    }
    if operation.request_body.is_some() {
        add("408", "The body did not arrive in time", &Refusal::name());
        add("413", "The body is longer than 512000 bytes", &Refusal::name());
        add("415", "The body is not JSON", &Refusal::name());
    }
}

/// The OpenAPI 3.1 document as JSON, ending in a line break.
pub fn openapi_document() -> String {
    let text = Document::openapi().to_pretty_json();
    text.map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described_and_nothing_else() {
        let document = Document::openapi();
        let described: Vec<&str> = document.paths.paths.keys().map(String::as_str).collect();
        let mut routes: Vec<&str> = super::super::ROUTES.iter().map(|route| route.path).collect();
        routes.sort_unstable();
        assert_eq!(described, routes);
        for route in super::super::ROUTES {
            let item = &document.paths.paths[route.path];
            let count = [&item.get, &item.post, &item.patch, &item.delete].into_iter().flatten().count();
            assert_eq!(count, route.operations.len(), "{}", route.path);
        }
        assert!(openapi_document().starts_with("{\n  \"openapi\": \"3.1"));
    }
}
