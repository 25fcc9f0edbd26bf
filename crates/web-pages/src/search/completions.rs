//! `/web/suggest?q=`: names with which a search could go on, for the script of the search field.

use domain::Rendition;
use http::{HeaderValue, StatusCode, header, request::Parts};
use http_server::{
    Query,
    reply::{Reply, WithHeader as _, json},
};
use library::Named;
use serde::Serialize;

use crate::{
    Site,
    messages::{self, unauthorized},
    pictures::picture_path,
    session::Person,
};

/// Longer texts have no completions.
const MAX_CHARS: usize = 200;

#[derive(Serialize)]
struct Entry {
    /// The whole query.
    q: String,
    name: String,
    /// What the name is, for people.
    kind: &'static str,
    image: String,
}

const fn kind(named: &Named) -> &'static str {
    match named {
        Named::Days(..) => "Date",
        Named::Places(_) => "Place",
        Named::Cameras(..) => "Camera",
        Named::Album(..) => "Album",
        Named::Keyword(_) => "Keyword",
    }
}

pub(super) async fn reply(site: &Site, parts: &Parts, query: &Query<'_>) -> Reply {
    let person = match Person::of(site, &parts.headers).await {
        Ok(Some(person)) => person,
        Ok(None) => return unauthorized(),
        Err(reply) => return reply,
    };
    let typed = query.get("q").unwrap_or_default();
    let typed = if typed.chars().count() > MAX_CHARS { "" } else { typed };
    let found = match site.library.catalogue.complete_query(&person.caller(), typed).await {
        Ok(found) => found,
        Err(error) => return messages::data_unavailable(&error),
    };
    let entries: Vec<Entry> = found
        .into_iter()
        .map(|found| Entry {
            kind: kind(&found.named),
            image: picture_path(&found.image, Rendition::Preview),
            q: found.query,
            name: found.name,
        })
        .collect();
    json(StatusCode::OK, &entries).with(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"))
}
