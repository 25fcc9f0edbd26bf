//! The albums of a library, and the pages of one album.

mod add;
mod album;
mod change;
mod list;
mod moves;
mod shown;

use std::net::IpAddr;

use domain::AlbumId;
use http::{Method, StatusCode, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, found, method_not_allowed, not_found},
};

use crate::{
    Site,
    layout::Link,
    messages::{self, message_with_link},
    paths,
    session::Person,
};

/// Whether a path belongs to this module.
pub(crate) fn is_path(path: &str) -> bool {
    path.strip_prefix(paths::ALBUMS).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Handles a request to `/albums…`.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let rest = parts.uri.path().strip_prefix(paths::ALBUMS).unwrap_or_default();
    let is_get = matches!(parts.method, Method::GET | Method::HEAD);
    let is_post = parts.method == Method::POST;
    let result = if rest.is_empty() {
        match (is_get, is_post) {
            (true, _) => list::show(site, parts).await,
            (_, true) => list::create(site, parts, body, address).await,
            _ => Ok(method_not_allowed("GET, HEAD, POST")),
        }
    } else {
        let rest = rest.trim_start_matches('/');
        let (id, action) = rest.split_once('/').unwrap_or((rest, ""));
        let Some(id) = AlbumId::parse(id) else { return not_found() };
        match (action, is_get, is_post) {
            ("", true, _) => show(site, parts, &id).await,
            ("", _, true) => change::submit(site, parts, body, address, &id).await,
            ("add", true, _) => add::show(site, parts, &id).await,
            ("add", _, true) => add::turn(site, parts, body, address, &id).await,
            ("cover", _, true) => change::set_cover(site, parts, body, address, &id).await,
            ("delete", true, _) => album::confirm_delete(site, parts, &id).await,
            ("delete", _, true) => change::delete(site, parts, body, address, &id).await,
            // After a form was rejected, the address bar shows its path, so a browser may request the path by GET.
            ("move", _, true) => moves::submit(site, parts, body, address, &id).await,
            ("cover" | "move", true, _) => lead_to_page(site, parts, &id).await,
            ("" | "add" | "delete" | "cover" | "move", ..) => Ok(method_not_allowed("GET, HEAD, POST")),
            _ => Ok(not_found()),
        }
    };
    result.unwrap_or_else(|reply| reply)
}

/// Redirects to the page of an album.
async fn lead_to_page(site: &Site, parts: &Parts, id: &AlbumId) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let album = site.library.catalogue.album(&person.caller(), id.as_str()).await;
    album.map_err(|error| messages::unavailable(&error))?.ok_or_else(no_album)?;
    Ok(found(&paths::album(id)))
}

async fn show(site: &Site, parts: &Parts, id: &AlbumId) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    album::page(site, &person, id, &Query::parse(parts.uri.query()), None).await
}

/// The reply for an album that the person does not have.
fn no_album() -> Reply {
    message_with_link(
        StatusCode::NOT_FOUND,
        "Album not found",
        "There is no album at this address. It may have been deleted.",
        Link { href: paths::ALBUMS, label: "Go to your albums" },
    )
}
