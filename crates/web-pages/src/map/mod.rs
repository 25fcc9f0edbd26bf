//! `/map` and `/web/map`: where photos were taken. `/web/map/pin`: the map on which a place is chosen.
//!
//! The page is an image in SVG whose clusters are links. Its script moves the map, loads the clusters while it moves, and takes
//! the rest from the page of the new view. `places` has the map of the world, so nothing comes from elsewhere.

mod clusters;
mod labels;
mod land;
mod page;
mod pin;
mod small;
mod towns;
mod view;

use domain::Position;
use http::{Method, StatusCode, request::Parts};
use http_server::{
    Query,
    reply::{Reply, error, found, method_not_allowed},
};

pub(crate) use small::small_map;

use crate::{Site, messages::unauthorized, paths, return_to::ReturnTo, session::Person};

/// The path of the clusters.
const DATA_PATH: &str = "/web/map";

/// The path of the map on which a place is chosen.
const PIN_PATH: &str = "/web/map/pin";

/// Whether a path belongs to this module.
pub(crate) fn is_path(path: &str) -> bool {
    [paths::MAP, DATA_PATH, PIN_PATH].contains(&path)
}

/// The address of the map around a place.
pub(crate) fn around(position: Position) -> String {
    format!("{}?{}", paths::MAP, view::View::around(position).parameters())
}

/// The parameters of a view of a place, or of the world without one, for the map on which a place is chosen.
pub(crate) fn start(position: Option<Position>) -> String {
    position
        .map_or_else(|| "z=0.6&lat=15&lon=0".to_owned(), |position| view::View::around(position).parameters())
}

/// Handles the page and its data.
pub(crate) async fn handle(site: &Site, parts: &Parts) -> Reply {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    let is_page = parts.uri.path() == paths::MAP;
    let person = match Person::of(site, &parts.headers).await {
        Ok(Some(person)) => person,
        Ok(None) if is_page => {
            let here = parts.uri.path_and_query().map_or(paths::MAP, http::uri::PathAndQuery::as_str);
            return found(&ReturnTo::here(here).via_sign_in());
        }
        Ok(None) => return unauthorized(),
        Err(reply) => return reply,
    };
    let query = Query::parse(parts.uri.query());
    if is_page {
        return page::page(site, &person, &query).await;
    }
    let invalid = |invalid: domain::Invalid| error(StatusCode::BAD_REQUEST, &invalid.to_string());
    if parts.uri.path() == PIN_PATH {
        return match pin::Request::parse(&query) {
            Ok(request) => pin::data(request).await,
            Err(reason) => invalid(reason),
        };
    }
    match clusters::Request::parse(&query) {
        Ok(request) => clusters::data(site, &person, &request).await,
        Err(reason) => invalid(reason),
    }
}
