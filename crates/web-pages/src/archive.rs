//! `/archive`: photos that the timeline leaves out.

use domain::{DateRange, Filter, Limit, Timestamp};
use http::{Method, request::Parts};
use http_server::{
    Query,
    reply::{Reply, method_not_allowed},
};
use maud::html;

use crate::{
    Site,
    assets::Asset,
    forms::csrf_field,
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    marks::Mark,
    messages,
    origin::Origin,
    paths, selection,
    session::Person,
    tiles::{Tile, tiles},
};

/// Photos on a page.
const PAGE: u32 = 60;

/// Handles a request to `/archive`.
pub(crate) async fn handle(site: &Site, parts: &Parts) -> Reply {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    show(site, parts).await.unwrap_or_else(|reply| reply)
}

/// `GET /archive?at=`: the archived photos from a time on, newest first.
async fn show(site: &Site, parts: &Parts) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let query = Query::parse(parts.uri.query());
    let at = query.get("at").and_then(|text| text.parse().ok()).and_then(Timestamp::from_millis);
    let range = DateRange::new(None, at).unwrap_or_default();
    let filter = Filter { archived: Some(true), range, ..Filter::default() };
    // One more, to know where the next page begins.
    let limit = Limit::new(PAGE + 1).unwrap_or_default();
    let found = site.library.catalogue.newest_photos(&person.caller(), &filter, limit).await;
    let mut hits = found.map_err(|error| messages::unavailable(&error))?;
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let next = hits.get(page).map(|hit| hit.image.captured_at);
    hits.truncate(page);
    let path_at = |at: Timestamp| format!("{}?at={}", paths::ARCHIVE, at.millis());
    let here = at.map_or_else(|| paths::ARCHIVE.to_owned(), path_at);
    let origin = Origin::of_page(&here);
    let content = html! {
        @if hits.is_empty() && at.is_none() {
            (empty_state(Icon::Archive, "No photos are archived.", &html! {
                p { "Archived photos are not in the timeline, but search and albums have them. To archive photos, select them and choose Archive." }
                p { a.button href="/" { "Go to the timeline" } }
            }))
        } @else {
            p.facts { "Archived photos are not in the timeline, but search and albums have them." }
            form #selection method="post" action=(selection::PATH) {
                (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
                input type="hidden" name="return_to" value=(here);
                (tiles(hits.iter().map(|hit| Tile::of(&hit.image, &origin)), 0))
                (selection::actions(&[Mark::Unarchive, Mark::Favorite]))
            }
        }
        @if at.is_some() || next.is_some() {
            nav.pages aria-label="Pages" {
                @if at.is_some() { a rel="prev" href=(paths::ARCHIVE) { "Newest photos" } }
                @if let Some(next) = next { a rel="next" href=(path_at(next)) { "Older photos" } }
            }
        }
    };
    let frame = LibraryPage {
        title: "Archive",
        tab: Some(LibraryTab::Archive),
        shows_heading: true,
        scripts: &[Asset::Library],
        can_compress: true,
    };
    Ok(frame.reply(&person.header(site, &here), "library", &content))
}
