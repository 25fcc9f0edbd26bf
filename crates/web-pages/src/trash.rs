//! `/trash`: deleted photos, until they are purged.

use std::net::IpAddr;

use domain::{ImageId, Rendition, Timestamp};
use http::{Method, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, method_not_allowed, see_other},
};
use library::{StorageError, TrashedImage};
use maud::{Markup, html};
use tracing::Instrument as _;

use crate::{
    Site,
    assets::Asset,
    form_reader::read_signed_form,
    forms::csrf_field,
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    messages,
    photo_text::date_of,
    pictures::picture_path,
    selection::{self, photos},
    session::Person,
    tiles::{Selected, Tile, tiles},
};

const PATH: &str = "/trash";

/// The form that empties the trash; also the purpose of its token.
const EMPTY_PATH: &str = "/trash/empty";

/// Photos on a page.
const PAGE: u32 = 60;

/// Whether a path belongs to this module.
pub(crate) fn is_path(path: &str) -> bool {
    matches!(path, PATH | EMPTY_PATH)
}

/// Handles a request to `/trash` or `/trash/empty`.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let is_get = matches!(parts.method, Method::GET | Method::HEAD);
    let result = match (parts.uri.path(), is_get) {
        (EMPTY_PATH, true) => confirm(site, parts).await,
        (EMPTY_PATH, false) if parts.method == Method::POST => empty(site, parts, body, address).await,
        (EMPTY_PATH, false) => Ok(method_not_allowed("GET, HEAD, POST")),
        (_, true) => show(site, parts).await,
        (_, false) => Ok(method_not_allowed("GET, HEAD")),
    };
    result.unwrap_or_else(|reply| reply)
}

/// A page of the trash.
struct Shown {
    images: Vec<TrashedImage>,
    total: u32,
    has_more: bool,
}

async fn load(site: &Site, person: &Person, after: Option<&ImageId>) -> Result<Shown, StorageError> {
    let caller = person.caller();
    let mut images = site.library.catalogue.trash(&caller, after, PAGE + 1).await?;
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let has_more = images.len() > page;
    images.truncate(page);
    Ok(Shown { images, total: site.library.catalogue.count_trash(&caller).await?, has_more })
}

/// `GET /trash?after=`: the photos deleted before the photo `after`.
async fn show(site: &Site, parts: &Parts) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let query = Query::parse(parts.uri.query());
    let after = query.get("after").and_then(ImageId::parse);
    let shown = load(site, &person, after.as_ref()).await.map_err(|error| messages::unavailable(&error))?;
    let here = after.as_ref().map_or_else(|| PATH.to_owned(), |after| format!("{PATH}?after={after}"));
    let content = html! {
        @if shown.total == 0 {
            (empty_state(Icon::Trash, "The trash is empty.", &html! {
                p { "Deleted photos stay here for 30 days. Until then, you can restore them. They return to their albums." }
                p { a.button href="/" { "Go to the timeline" } }
            }))
        } @else {
            p.facts { (photos(shown.total)) ". Each is deleted for good 30 days after it came here." }
            div.tools { a.button.quiet href=(EMPTY_PATH) { "Empty the trash" } }
            (grid(site, &person, &shown.images, &here))
        }
        @if after.is_some() || shown.has_more {
            nav.pages aria-label="Pages" {
                @if after.is_some() { a rel="prev" href=(PATH) { "Last deleted photos" } }
                @if let Some(last) = shown.images.last().filter(|_| shown.has_more) {
                    a rel="next" href={ (PATH) "?after=" (last.id) } { "Photos deleted earlier" }
                }
            }
        }
    };
    Ok(frame("Trash").reply(&person.header(site, &here), "library", &content))
}

const fn frame(title: &str) -> LibraryPage<'_> {
    LibraryPage {
        title,
        tab: Some(LibraryTab::Trash),
        shows_heading: true,
        scripts: &[Asset::Library],
        can_compress: true,
    }
}

/// When a photo is purged.
fn purged_on(deleted_at: Timestamp) -> String {
    date_of(deleted_at.plus_millis(library::RESTORABLE_MS))
}

fn grid(site: &Site, person: &Person, trash: &[TrashedImage], here: &str) -> Markup {
    let unreadable: Vec<&TrashedImage> = trash.iter().filter(|trashed| trashed.image.is_none()).collect();
    html! {
        form #selection method="post" action=(selection::PATH) {
            (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
            input type="hidden" name="return_to" value=(here);
            (tiles(trash.iter().filter_map(tile_of), 0))
            @if !unreadable.is_empty() {
                h2 { "Without a picture" }
                ul.entries {
                    @for trashed in unreadable {
                        li {
                            label.check {
                                input type="checkbox" name="image" value=(trashed.id);
                                span {
                                    (trashed.file_name.as_deref().unwrap_or("A photo without a name"))
                                    ", deleted for good on " (purged_on(trashed.deleted_at))
                                }
                            }
                        }
                    }
                }
            }
            div.actions {
                button type="submit" name="action" value="restore" { "Restore" }
                button.danger type="submit" name="action" value="delete_forever" { "Delete for good" }
            }
        }
    }
}

/// A deleted photo has no page, so its tile leads to the picture.
fn tile_of(trashed: &TrashedImage) -> Option<Tile<'_>> {
    let image = trashed.image.as_ref()?;
    let purged = trashed.deleted_at.plus_millis(library::RESTORABLE_MS).wall(0);
    let note = html! { "Until " (purged.strftime("%-d %b").to_string()) };
    Some(Tile {
        image,
        href: picture_path(image, Rendition::Medium),
        note: Some(note),
        day: None,
        selected: Selected::No,
    })
}

/// `GET /trash/empty`: asks before the trash is emptied.
async fn confirm(site: &Site, parts: &Parts) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let total = site.library.catalogue.count_trash(&person.caller()).await;
    let total = total.map_err(|error| messages::unavailable(&error))?;
    let content = html! {
        p { (photos(total)) " are deleted for good. They cannot be restored." }
        form method="post" action=(EMPTY_PATH) {
            (csrf_field(&site.forms, &person.token_parts(EMPTY_PATH)))
            button.danger type="submit" { "Empty the trash" }
        }
        p.cancel { a.button.quiet href=(PATH) { "Cancel" } }
    };
    Ok(frame("Empty the trash").reply(&person.header(site, PATH), "library step", &content))
}

/// `POST /trash/empty`.
async fn empty(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Result<Reply, Reply> {
    let (person, _) = read_signed_form(site, parts, body, address, EMPTY_PATH, PATH).await?;
    let (library, caller) = (site.library.clone(), person.caller());
    // In a task of its own, so that it is finished even if the browser does not wait.
    let emptied =
        tokio::spawn(async move { library.catalogue.empty_trash(&caller).await }.in_current_span()).await;
    match emptied {
        Ok(Ok(_)) => Ok(see_other(PATH)),
        Ok(Err(error)) => Err(messages::unavailable(&error)),
        Err(error) => Err(messages::unavailable(&error)),
    }
}
