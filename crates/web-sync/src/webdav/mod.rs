//! WebDAV (RFC 4918) for plain clients and for Nextcloud's apps.
//!
//! All roots show the same files: [`places`] turns a path into a place, and each method has a module. Errors have a body
//! that Nextcloud's apps show ([`error`]). A module parses the request with `dav-protocol`, calls the library and writes
//! the reply.

mod collections;
mod conditions;
mod delete;
mod error;
mod get;
mod locks;
mod make_collection;
mod multistatus;
mod options;
mod places;
mod prop_find;
mod prop_patch;
mod properties;
mod put;
mod report;
mod request;
mod search;
mod transfer;
mod uploads;

use dav_protocol::single_slashes;
use http::{Method, StatusCode, request::Parts};
use http_server::{body::RequestBody, reply::Reply};

use crate::{Sync, authentication};
use error::DavError;
use places::Place;
use request::DavRequest;

/// Whether a request is for WebDAV. The root of the site belongs to the pages, but file managers look for WebDAV there.
pub(crate) fn is_request(method: &Method, path: &str) -> bool {
    let path = &*single_slashes(path);
    let is_below =
        |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_below("/dav")
        || is_below("/remote.php/dav")
        || is_below("/remote.php/webdav")
        || matches!(path, "/remote.php" | "/remote.php/")
        || (path == "/" && (method == Method::OPTIONS || method.as_str() == "PROPFIND"))
}

pub(crate) async fn handle(sync: &Sync, parts: &Parts, mut body: RequestBody) -> Reply {
    // File managers send OPTIONS before they ask for a password. The reply says nothing about an account.
    if parts.method == Method::OPTIONS {
        return options::reply(parts.uri.path());
    }
    let caller = match authentication::caller(sync, &parts.headers).await {
        Ok(caller) => caller,
        Err(reply) if reply.status() == StatusCode::SERVICE_UNAVAILABLE => {
            return DavError::Unavailable.reply(&parts.method);
        }
        Err(reply) => return reply,
    };
    body.discard_up_to(sync.library.settings().limits.max_upload_bytes);
    let request = DavRequest { sync, caller, parts };
    match respond(&request, body).await {
        Ok(reply) => reply,
        Err(error) => error.reply(&parts.method),
    }
}

async fn respond(request: &DavRequest<'_>, body: RequestBody) -> Result<Reply, DavError> {
    let method = request.parts.method.as_str();
    if !options::is_known(method) {
        return Err(DavError::NotImplemented);
    }
    match places::place(request.parts.uri.path(), &request.caller)? {
        Place::File(file) => match method {
            "GET" | "HEAD" => get::get(request, &file).await,
            "PUT" => put::put(request, &file, body).await,
            "DELETE" => delete::delete(request, &file).await,
            "PROPFIND" => prop_find::prop_find(request, file, body).await,
            "PROPPATCH" => prop_patch::prop_patch(request, &file, body).await,
            "MKCOL" => make_collection::make_collection(request, &file, body).await,
            "MOVE" => transfer::transfer(request, &file, transfer::Transfer::Move).await,
            "COPY" => transfer::transfer(request, &file, transfer::Transfer::Copy).await,
            "LOCK" => locks::lock(request, &file, body).await,
            "UNLOCK" => locks::unlock(request, &file).await,
            "REPORT" => report::report(request, &file, body).await,
            _ => Err(DavError::MethodNotAllowed),
        },
        Place::Upload(place) => uploads::handle(request, place, body).await,
        Place::Collection(collection) => match method {
            "GET" | "HEAD" => Ok(get::folder_hint()),
            "PROPFIND" => collections::prop_find(request, collection, body).await,
            "REPORT" => report::in_collection(body).await,
            "SEARCH" if collection.is_searched() => search::search(request, body).await,
            _ => Err(DavError::MethodNotAllowed),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webdav_paths_are_recognised() {
        for (method, path, expect) in [
            ("PUT", "/dav", true),
            ("PUT", "/dav/a", true),
            ("PUT", "/davx", false),
            ("PUT", "/remote.php/dav/files/a/b", true),
            ("PUT", "/remote.php/webdav", true),
            ("PUT", "/remote.php/other", false),
            ("PROPFIND", "/remote.php/", true),
            ("PROPFIND", "/", true),
            ("OPTIONS", "/", true),
            ("PUT", "//dav//a", true),
            ("GET", "/", false),
        ] {
            assert_eq!(is_request(&method.parse().unwrap(), path), expect, "{method} {path}");
        }
    }
}
