//! The OpenAPI 3.1 document of the image and album API, generated from the types of its responses.
#![expect(unused_qualifications, reason = "the macros write paths in full")]
#![expect(dead_code, reason = "these functions and parameter types only hold descriptions")]

use serde::Serialize;
use utoipa::{
    IntoParams, Modify, OpenApi, ToSchema,
    openapi::{
        ContentBuilder, Ref, RefOr, Response, ResponseBuilder,
        path::{Operation, PathItem},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use http_server::body::MAX_BODY_BYTES;

use super::{
    AlbumRecord, Envelope, ImageRecord, LibraryRecord, PREFIX, Page,
    albums::{AlbumChangeBody, NewAlbumBody},
};
use crate::photo_change::PhotoChange;

/// An error, with a message for people. Programs should check the status, not the message.
#[derive(Serialize, ToSchema)]
struct Error {
    error: String,
}

/// The error for a missing or invalid key.
#[derive(Serialize, ToSchema)]
struct Unauthorized {
    message: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    /// Maximum number of results on the page.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u32>,
    /// Earliest capture time, inclusive, in ISO 8601. Without a time zone it is UTC. A date alone means its midnight.
    #[param(rename = "startDate", example = "2024-05-01")]
    start_date: Option<String>,
    /// Latest capture time, inclusive. For the next page, set it to the `capturedAt` of the last image received.
    #[param(rename = "endDate", example = "2024-05-31T23:59:59.999Z")]
    end_date: Option<String>,
    /// Latitude of the centre of a circle, in degrees. A circle needs `latitude`, `longitude` and `radiusMeters`.
    #[param(minimum = -90, maximum = 90)]
    latitude: Option<f64>,
    /// Longitude of the centre of the circle, in degrees.
    #[param(minimum = -180, maximum = 180)]
    longitude: Option<f64>,
    /// Radius of the circle, in metres.
    #[param(rename = "radiusMeters", exclusive_minimum = 0, maximum = 20_037_508)]
    radius_m: Option<f64>,
    /// Photos, videos, or both.
    #[param(pattern = "^(photo|video|all)$", default = "photo")]
    media: Option<String>,
    /// Only favourites, or only images that are none.
    favorite: Option<bool>,
    /// Only archived images, or only images that are not.
    archived: Option<bool>,
    /// Words of the make and the model of a camera.
    #[param(max_length = 200, example = "canon r5")]
    camera: Option<String>,
    /// A city, region or country, in any language; a city or region also with the region or country it is in.
    #[param(max_length = 200, example = "Lisbon")]
    place: Option<String>,
    /// A keyword, in any letter case.
    #[param(max_length = 100)]
    keyword: Option<String>,
    /// Names or ids of people, separated by commas. No person has a name yet, so nothing matches.
    #[param(max_length = 200)]
    people: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
struct SearchParameters {
    /// Words in any language. They are matched with the text in the photo, its description, its place and what it shows. At
    /// least one of `query`, `albumId`, a circle and a filter is required.
    #[param(min_length = 1, max_length = 2000)]
    query: Option<String>,
    /// Only images in this album.
    #[param(rename = "albumId")]
    album_id: Option<String>,
    /// What `query` is matched with: `text` (the description and the text in the photo), `image` (its appearance), or both, separated by commas. Requires `query`; cannot be combined with an album or a circle.
    #[param(pattern = "^(text|image)(,(text|image))*$")]
    channels: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
struct AlbumParameters {
    /// Maximum number of results on the page.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u32>,
    /// Number of albums to skip.
    #[param(maximum = 500, default = 0)]
    offset: Option<u32>,
}

#[utoipa::path(get, path = "/library", summary = "Get library info", responses(
    (status = 200, body = Envelope<LibraryRecord>)))]
fn get_library() {}

#[utoipa::path(get, path = "/images", summary = "List images, newest first", params(ListParameters), responses(
    (status = 200, body = Page<ImageRecord>), (status = 400, body = Error)))]
fn list_images() {}

#[utoipa::path(get, path = "/images/{id}", summary = "Get an image with the URLs of all renditions",
    params(("id" = String, Path)), responses(
    (status = 200, body = Envelope<ImageRecord>), (status = 403, body = Error), (status = 404, body = Error)))]
fn get_image() {}

#[utoipa::path(patch, path = "/images/{id}", summary = "Change an image: favourite, rating, keywords, archive, description, time, place",
    params(("id" = String, Path)), request_body = PhotoChange, responses(
    (status = 200, body = Envelope<ImageRecord>), (status = 400, body = Error), (status = 403, body = Error),
    (status = 404, body = Error)))]
fn change_image() {}

#[utoipa::path(delete, path = "/images/{id}", summary = "Delete an image; its owner can restore it for 30 days",
    params(("id" = String, Path)), responses(
    (status = 204), (status = 403, body = Error), (status = 404, body = Error)))]
fn delete_image() {}

#[utoipa::path(get, path = "/search", summary = "Search images: best match first with a query, newest first without",
    params(SearchParameters, ListParameters), responses(
    (status = 200, body = Page<ImageRecord>), (status = 400, body = Error), (status = 404, body = Error),
    (status = 502, description = "Search is temporarily unavailable; retry later", body = Error)))]
fn search_images() {}

#[utoipa::path(get, path = "/albums", summary = "List albums, newest first", params(AlbumParameters), responses(
    (status = 200, body = Page<AlbumRecord>), (status = 400, body = Error)))]
fn list_albums() {}

#[utoipa::path(post, path = "/albums", summary = "Create an album", request_body = NewAlbumBody, responses(
    (status = 201, body = Envelope<AlbumRecord>), (status = 400, body = Error), (status = 403, body = Error),
    (status = 404, body = Error)))]
fn create_album() {}

#[utoipa::path(get, path = "/albums/{id}", summary = "Get an album", params(("id" = String, Path)), responses(
    (status = 200, body = Envelope<AlbumRecord>), (status = 404, body = Error)))]
fn get_album() {}

#[utoipa::path(patch, path = "/albums/{id}", summary = "Change the title and images of an album, all or nothing",
    params(("id" = String, Path)), request_body = AlbumChangeBody, responses(
    (status = 200, body = Envelope<AlbumRecord>), (status = 400, body = Error), (status = 403, body = Error),
    (status = 404, body = Error)))]
fn change_album() {}

#[utoipa::path(delete, path = "/albums/{id}", summary = "Delete an album; its images stay in the library",
    params(("id" = String, Path)), responses((status = 204), (status = 404, body = Error)))]
fn delete_album() {}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Photo library",
        description = "Lists, searches and deletes the photos of one library, and organises them into albums. Images are served as WebP renditions at signed URLs, which expire after 15 minutes: store image ids, not URLs. Unknown parameters are ignored. If a parameter is repeated, its first value counts. A blank parameter counts as absent.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    paths(
        get_library, list_images, get_image, change_image, delete_image, search_images, list_albums, create_album, get_album,
        change_album, delete_album
    ),
    components(schemas(Error, Unauthorized)),
    security(("key" = [])),
    modifiers(&SharedParts)
)]
struct Document;

/// Adds the parts that operations share: server, key, errors.
struct SharedParts;

impl Modify for SharedParts {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        openapi.servers = Some(vec![utoipa::openapi::Server::new(PREFIX)]);
        let components = openapi.components.get_or_insert_default();
        let scheme =
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("An API key")).build();
        components.add_security_scheme("key", SecurityScheme::Http(scheme));
        for (path, item) in &mut openapi.paths.paths {
            for operation in operations(item) {
                add_errors(operation, path != "/library");
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten()
}

fn add_errors(operation: &mut Operation, needs_sync: bool) {
    let mut add = |status: &str, description: &str, schema: &str| {
        let content = ContentBuilder::new().schema(Some(RefOr::Ref(Ref::from_schema_name(schema)))).build();
        let response: Response =
            ResponseBuilder::new().description(description).content("application/json", content).build();
        operation.responses.responses.insert(status.to_owned(), RefOr::T(response));
    };
    add("401", "The API key is missing, wrong or revoked", &Unauthorized::name());
    add("405", "The method is not allowed at this path", &Error::name());
    add("503", "The photo library is temporarily unavailable; retry with backoff", &Error::name());
    if needs_sync {
        add(
            "409",
            "Photo sync is not set up (the message contains the URL with instructions), or the account already has 500 albums",
            &Error::name(),
        );
    }
    if operation.request_body.is_some() {
        add("408", "The body did not arrive in time", &Error::name());
        add("413", &format!("The body is longer than {MAX_BODY_BYTES} bytes"), &Error::name());
        add(
            "415",
            "The content type of the body is not JSON, or the body has a content encoding",
            &Error::name(),
        );
    }
}

/// The OpenAPI 3.1 document as JSON, ending with a line break.
pub fn openapi_document() -> String {
    let text = Document::openapi().to_pretty_json();
    text.map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_routes_are_described() {
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
