use domain::{Album, AlbumId, AlbumOrder, DateRange, Image, Limit, Timestamp};
use http::{StatusCode, request::Parts};
use http_server::{Query, reply::Reply};
use library::StorageError;
use maud::{Markup, html};

use super::no_album;
use crate::{
    Site,
    assets::Asset,
    forms::csrf_field,
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    marks::Mark,
    messages,
    origin::Origin,
    paths,
    selection::{self, photos},
    session::Person,
    tiles::{Tile, tiles},
};

/// Photos on a page.
const PAGE: u32 = 60;

/// A page of an album.
struct Shown {
    album: Album,
    images: Vec<Image>,
    /// The capture time of the first photo of the next page.
    next: Option<Timestamp>,
    /// The capture time of the first photo of the previous page.
    previous: Option<Timestamp>,
}

const fn reversed(order: AlbumOrder) -> AlbumOrder {
    match order {
        AlbumOrder::NewestFirst => AlbumOrder::OldestFirst,
        AlbumOrder::OldestFirst => AlbumOrder::NewestFirst,
    }
}

/// The capture times from a photo on, in an order.
fn range_from(at: Option<Timestamp>, order: AlbumOrder) -> DateRange {
    let range = match order {
        AlbumOrder::NewestFirst => DateRange::new(None, at),
        AlbumOrder::OldestFirst => DateRange::new(at, None),
    };
    range.unwrap_or_default()
}

async fn load(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    at: Option<Timestamp>,
) -> Result<Option<Shown>, StorageError> {
    let caller = person.caller();
    let Some(album) = site.library.catalogue.album(&caller, id.as_str()).await? else { return Ok(None) };
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let limit = Limit::new(PAGE + 1).unwrap_or_default();
    let order = album.order;
    let found = site.library.catalogue.album_images(&caller, id, range_from(at, order), order, limit).await?;
    let Some(mut images) = found else { return Ok(None) };
    let next = images.get(page).map(|image| image.captured_at);
    images.truncate(page);
    let previous = match at {
        None => None,
        Some(at) => {
            let step = if order == AlbumOrder::NewestFirst { 1 } else { -1 };
            let before = range_from(Some(at.plus_millis(step)), reversed(order));
            let limit = Limit::new(PAGE).unwrap_or_default();
            let before =
                site.library.catalogue.album_images(&caller, id, before, reversed(order), limit).await?;
            before.and_then(|before| before.last().map(|image| image.captured_at))
        }
    };
    Ok(Some(Shown { album, images, next, previous }))
}

/// `GET /albums/{id}?at=`, with a problem of a form that was sent from it.
pub(super) async fn page(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    query: &Query<'_>,
    problem: Option<&str>,
) -> Result<Reply, Reply> {
    let at = query.get("at").and_then(|text| text.parse().ok()).and_then(Timestamp::from_millis);
    let shown = load(site, person, id, at).await.map_err(|error| messages::unavailable(&error))?;
    let shown = shown.ok_or_else(no_album)?;
    let path = paths::album(id);
    let here = at.map_or_else(|| path.clone(), |at| format!("{path}?at={}", at.millis()));
    let content = html! {
        @if let Some(problem) = problem { p.notice.warn role="alert" { (problem) } }
        (head(site, person, &shown.album, &path))
        @if shown.album.image_count == 0 {
            (empty_state(Icon::Albums, "This album has no photos.", &html! {
                p { "Pick some of your photos. Photos of a " a href=(paths::SEARCH) { "search" } " can be added, too." }
                p { a.button href={ (path) "/add" } { "Add photos" } }
            }))
        } @else {
            (grid(site, person, &shown, &here))
            @if shown.previous.is_some() || shown.next.is_some() {
                nav.pages aria-label="Pages" {
                    @if let Some(at) = shown.previous { a rel="prev" href={ (path) "?at=" (at.millis()) } { "Previous photos" } }
                    @if let Some(at) = shown.next { a rel="next" href={ (path) "?at=" (at.millis()) } { "Next photos" } }
                }
            }
        }
    };
    let frame = LibraryPage {
        title: &shown.album.title,
        tab: Some(LibraryTab::Albums),
        shows_heading: true,
        scripts: &[Asset::Library, Asset::Albums],
        can_compress: problem.is_none(),
    };
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(frame.reply_with(status, &person.header(site, &here), "library", &content))
}

/// The number of photos, and the forms that change the album.
fn head(site: &Site, person: &Person, album: &Album, path: &str) -> Markup {
    let token = csrf_field(&site.forms, &person.token_parts(path));
    let (order, label) = match album.order {
        AlbumOrder::NewestFirst => ("oldest", "Show the oldest first"),
        AlbumOrder::OldestFirst => ("newest", "Show the newest first"),
    };
    let selection = site.forms.sign(&person.token_parts(selection::PATH));
    html! {
        // Photos that are dropped on the page are added to the album.
        p #album .facts data-id=(album.id) data-title=(album.title) data-token=(selection) { (photos(album.image_count)) }
        div.tools {
            @if album.image_count > 0 { a.button href={ (path) "/add" } { "Add photos" } }
            details.ask {
                summary { "Rename" }
                form.asked method="post" action=(path) {
                    (token)
                    label for="album-title" { "Title" }
                    input #album-title type="text" name="title" required maxlength="100" value=(album.title)
                        autocomplete="off";
                    button type="submit" { "Rename" }
                }
            }
            form method="post" action=(path) {
                (token)
                button.quiet type="submit" name="order" value=(order) { (label) }
            }
            @if album.is_cover_chosen {
                form method="post" action=(path) {
                    (token)
                    button.quiet type="submit" name="cover" value="newest" { "Use the newest photo as the cover" }
                }
            }
            a.button.quiet href={ (path) "/delete" } { "Delete album" }
        }
    }
}

fn grid(site: &Site, person: &Person, shown: &Shown, here: &str) -> Markup {
    let id = &shown.album.id;
    let origin = Origin::Album(id.clone());
    html! {
        form #selection method="post" action=(selection::PATH) {
            (csrf_field(&site.forms, &person.token_parts(selection::PATH)))
            input type="hidden" name="return_to" value=(here);
            input type="hidden" name="album" value=(id);
            (tiles(shown.images.iter().map(|image| Tile::of(image, &origin)), 0))
            div.actions {
                button.quiet type="submit" name="action" value="remove_from_album" { "Remove from album" }
                button.quiet.cover type="submit" formaction={ (paths::album(id)) "/cover" } { "Use as the cover" }
                button.quiet type="submit" name="action" value="choose_album" { "Add to another album" }
                button.quiet type="submit" formaction="/photos/edit" { "Edit" }
                (selection::mark_buttons(&[Mark::Favorite, Mark::Archive]))
                button.danger type="submit" name="action" value="delete" { "Delete" }
            }
        }
    }
}

/// `GET /albums/{id}/delete`: asks before an album is deleted.
pub(super) async fn confirm_delete(site: &Site, parts: &Parts, id: &AlbumId) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let album = site.library.catalogue.album(&person.caller(), id.as_str()).await;
    let album = album.map_err(|error| messages::unavailable(&error))?.ok_or_else(no_album)?;
    let path = paths::album(id);
    let content = html! {
        p { "The album “" (album.title) "” is deleted. Its " (photos(album.image_count)) " stay in the library." }
        form method="post" action={ (path) "/delete" } {
            (csrf_field(&site.forms, &person.token_parts(&path)))
            button.danger type="submit" { "Delete album" }
        }
        p { a href=(path) { "Back without a change" } }
    };
    let frame = LibraryPage {
        title: "Delete album",
        tab: Some(LibraryTab::Albums),
        shows_heading: true,
        scripts: &[Asset::Library],
        can_compress: true,
    };
    Ok(frame.reply(&person.header(site, &path), "library step", &content))
}
