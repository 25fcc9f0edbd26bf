//! The photo library as pages: the timeline, and what its scripts load.

mod empty;
mod months;
mod timeline;

use http::{Method, request::Parts};
use http_server::reply::{Reply, found, method_not_allowed, not_found};

use crate::{Site, messages::unauthorized, pictures, return_to::ReturnTo, session::Person, set_up};

/// Whether a path belongs to this module.
pub(crate) fn is_path(path: &str) -> bool {
    matches!(path, "/" | months::STATE_PATH)
        || path.starts_with(pictures::PREFIX)
        || path.starts_with(months::PREFIX)
}

/// Handles the timeline, its data and its images.
pub(crate) async fn handle(site: &Site, parts: &Parts) -> Reply {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    let path = parts.uri.path();
    let person = if path == months::STATE_PATH {
        Person::of_open_page(site, &parts.headers).await
    } else {
        Person::of(site, &parts.headers).await
    };
    let person = match person {
        Ok(Some(person)) => person,
        Ok(None) if path == "/" => {
            return set_up::pending(site).await.unwrap_or_else(|| found(&ReturnTo::start().via_sign_in()));
        }
        Ok(None) => return unauthorized(),
        Err(reply) => return reply,
    };
    match path {
        "/" => timeline::page(site, &person, parts).await,
        _ if path.starts_with(pictures::PREFIX) => pictures::handle(site, parts, &person).await,
        _ if path == months::STATE_PATH || path.starts_with(months::PREFIX) => {
            months::handle(site, parts, &person).await
        }
        _ => not_found(),
    }
}
