use domain::{Album, AlbumId, AlbumOrder, ImageId};
use http::{StatusCode, request::Parts};
use http_server::{Query, reply::Reply};
use maud::{Markup, html};

use super::{
    moves::Step,
    no_album,
    shown::{self, Shown},
};
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
    tiles::{Selected, Tile, tiles},
};

/// `GET /albums/{id}?at=`, or `?from=` in its own order, with a problem of a form that was sent from it.
pub(super) async fn page(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    query: &Query<'_>,
    problem: Option<&str>,
) -> Result<Reply, Reply> {
    let shown = shown::load(site, person, id, query).await.map_err(|error| messages::unavailable(&error))?;
    let shown = shown.ok_or_else(no_album)?;
    let path = paths::album(id);
    let by_hand = shown.album.order == AlbumOrder::ByHand;
    let moved: Vec<&str> = query.get("moved").map(|ids| ids.split(',').collect()).unwrap_or_default();
    let content = html! {
        @if let Some(problem) = problem { p.notice.warn role="alert" { (problem) } }
        (head(site, person, &shown.album, &path))
        @if shown.album.image_count == 0 {
            (empty_state(Icon::Albums, "This album has no photos.", &html! {
                p { "Pick some of your photos. Photos of a " a href=(paths::SEARCH) { "search" } " can be added, too." }
                p { a.button href={ (path) "/add" } { "Add photos" } }
            }))
        } @else {
            (grid(site, person, &shown, &moved))
            @if shown.previous.is_some() || shown.next.is_some() {
                nav.pages aria-label="Pages" {
                    @if let Some((previous, _)) = &shown.previous { a rel="prev" href=(previous) { "Previous photos" } }
                    @if let Some((next, _)) = &shown.next { a rel="next" href=(next) { "Next photos" } }
                }
            }
        }
    };
    let frame = LibraryPage {
        title: &shown.album.title,
        tab: Some(LibraryTab::Albums),
        shows_heading: true,
        scripts: if by_hand {
            &[Asset::Library, Asset::Albums, Asset::AlbumOrder]
        } else {
            &[Asset::Library, Asset::Albums]
        },
        can_compress: problem.is_none() && moved.is_empty(),
    };
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(frame.reply_with(status, &person.header(site, &shown.here), "library", &content))
}

/// The number of photos, and the forms that change the album.
fn head(site: &Site, person: &Person, album: &Album, path: &str) -> Markup {
    let token = csrf_field(&site.forms, &person.token_parts(path));
    let orders = [
        (AlbumOrder::NewestFirst, "newest", "Show the newest first", "newest first"),
        (AlbumOrder::OldestFirst, "oldest", "Show the oldest first", "oldest first"),
        (AlbumOrder::ByHand, "own", "My order", "my order"),
    ];
    let selection = site.forms.sign(&person.token_parts(selection::PURPOSE));
    html! {
        // Photos that are dropped on the page are added to the album.
        p #album .facts data-id=(album.id) data-title=(album.title) data-token=(selection) { (photos(album.image_count)) }
        div.tools {
            @if album.image_count > 0 { a.button href={ (path) "/add" } { "Add photos" } }
            details.ask name="tool" {
                summary { "Rename" }
                form.asked method="post" action=(path) {
                    (token)
                    label for="album-title" { "Title" }
                    input #album-title type="text" name="title" required maxlength="100" value=(album.title)
                        autocomplete="off";
                    button type="submit" { "Rename" }
                }
            }
            details.ask name="tool" {
                @for (order, _, _, name) in orders {
                    @if order == album.order { summary { "Order: " (name) } }
                }
                form.asked.orders method="post" action=(path) {
                    (token)
                    @for (order, value, label, _) in orders {
                        @if order != album.order { button.quiet type="submit" name="order" value=(value) { (label) } }
                    }
                }
            }
            @if album.is_cover_chosen {
                form method="post" action=(path) {
                    (token)
                    button.quiet type="submit" name="cover" value="newest" { "Use the newest photo as the cover" }
                }
            }
            a.button.quiet href={ (path) "/delete" } { "Delete album" }
        }
        @if album.order == AlbumOrder::ByHand && album.image_count > 1 {
            p.facts.moving-help {
                span { "Drag photos to move them (on a touch screen, hold one first), or select some and use the arrows." }
                noscript { "Select photos, then move them with the arrows." }
            }
        }
    }
}

/// The photos. Those whose ids are in `moved` are selected.
fn grid(site: &Site, person: &Person, shown: &Shown, moved: &[&str]) -> Markup {
    let id = &shown.album.id;
    let origin = Origin::Album(id.clone());
    let by_hand = shown.album.order == AlbumOrder::ByHand;
    let mut chosen = [Selected::Here].into_iter().chain(std::iter::repeat(Selected::Yes));
    let tile = |image| {
        let tile = Tile::of(image, &origin);
        let is_moved = moved.contains(&image.id.as_str());
        Tile { selected: if is_moved { chosen.next().unwrap_or_default() } else { Selected::No }, ..tile }
    };
    let beside =
        |page: &Option<(String, ImageId)>| page.as_ref().map(|(_, image)| image.clone()).filter(|_| by_hand);
    html! {
        form #selection .own-order[by_hand] method="post" action=(selection::PATH)
            data-previous=[beside(&shown.previous)] data-next=[beside(&shown.next)] {
            (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
            input type="hidden" name="return_to" value=(shown.here);
            input type="hidden" name="album" value=(id);
            (tiles(shown.images.iter().map(tile), 0))
            div.actions {
                @if by_hand {
                    div.steps role="group" aria-labelledby="move-selected" {
                        span #move-selected { "Move" }
                        @for step in Step::ALL {
                            button.quiet type="submit" formaction={ (paths::album(id)) "/move" } name="step"
                                value=(step.name()) aria-label=(step.label()) title=(step.label()) { (step.icon().markup()) }
                        }
                    }
                }
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
        p.cancel { a.button.quiet href=(path) { "Cancel" } }
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
