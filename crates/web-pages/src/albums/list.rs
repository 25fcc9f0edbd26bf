use std::net::IpAddr;

use domain::{AlbumTitle, Month, Rendition, Timestamp};
use http::{StatusCode, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, see_other},
};
use library::{AlbumSort, AlbumWrite, ListedAlbum, is_titled};
use maud::{Markup, html};

use crate::{
    Site,
    assets::Asset,
    form_reader::read_signed_form,
    forms::csrf_field,
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    messages, paths,
    pictures::picture_path,
    selection::{photos, sentence},
    session::Person,
};

/// With this many albums, the page has a field to find one.
const MANY: usize = 9;

/// Number of albums whose covers are loaded with the page, because they are on the first screen.
const EAGER: usize = 8;

/// Longer texts find no album.
const MAX_TEXT_CHARS: usize = 100;

/// The orders, their names in the address, and their labels.
const ORDERS: [(AlbumSort, &str, &str); 3] = [
    (AlbumSort::Changed, "changed", "Last changed"),
    (AlbumSort::Created, "created", "Newest"),
    (AlbumSort::Title, "title", "Title"),
];

/// A title that was rejected.
struct Rejected<'a> {
    title: &'a str,
    reason: String,
}

/// Which albums a page shows, and in which order.
#[derive(Default)]
struct View<'a> {
    /// The text that their titles contain.
    text: &'a str,
    sort: AlbumSort,
}

/// `GET /albums?q=&sort=`.
pub(super) async fn show(site: &Site, parts: &Parts) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let query = Query::parse(parts.uri.query());
    let sort = query.get("sort").and_then(|name| ORDERS.iter().find(|(_, known, _)| *known == name));
    let text = query.get("q").unwrap_or_default().trim();
    let text = if text.chars().count() > MAX_TEXT_CHARS { "" } else { text };
    page(site, &person, View { text, sort: sort.map_or(AlbumSort::default(), |(sort, ..)| *sort) }, None)
        .await
}

/// `POST /albums`: creates an album.
pub(super) async fn create(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
) -> Result<Reply, Reply> {
    let (person, form) = read_signed_form(site, parts, body, address, paths::ALBUMS, paths::ALBUMS).await?;
    let title = form.get("title").unwrap_or_default();
    let rejected = |reason: &str| Some(Rejected { title, reason: sentence(reason) });
    let parsed = match AlbumTitle::parse(title) {
        Ok(parsed) => parsed,
        Err(invalid) => {
            let rejected = rejected(&format!("the title {}", invalid.reason));
            return page(site, &person, View::default(), rejected).await;
        }
    };
    let created = site.library.catalogue.create_album(&person.caller(), parsed, Vec::new()).await;
    match created.map_err(|error| messages::unavailable(&error))? {
        AlbumWrite::Done(album) => Ok(see_other(&paths::album(&album.id))),
        _ => {
            let reason = "there are 500 albums already; delete one first";
            page(site, &person, View::default(), rejected(reason)).await
        }
    }
}

async fn page(
    site: &Site,
    person: &Person,
    view: View<'_>,
    rejected: Option<Rejected<'_>>,
) -> Result<Reply, Reply> {
    let albums = site.library.catalogue.album_list(&person.caller(), view.sort).await;
    let albums = albums.map_err(|error| messages::unavailable(&error))?;
    let shown: Vec<bool> = albums.iter().map(|listed| is_titled(&listed.album.title, view.text)).collect();
    let has_finder = albums.len() >= MANY || !view.text.is_empty();
    let content = html! {
        @if albums.is_empty() {
            (empty_state(Icon::Albums, "There are no albums yet.", &html! {
                p { "Create one here, or select photos in the " a href="/" { "timeline" } " and add them to a new album." }
                (create_form(site, person, rejected.as_ref(), true))
            }))
        } @else {
            (create_form(site, person, rejected.as_ref(), false))
            @if has_finder { (finder(&view)) }
            // The script shows the others again when the text changes.
            p.unfound hidden[shown.contains(&true)] { "No album has this text in its title." }
            ul.albums.covers {
                @for (place, (listed, is_shown)) in albums.iter().zip(&shown).enumerate() {
                    (entry(listed, *is_shown, place < EAGER))
                }
            }
        }
    };
    let frame = LibraryPage {
        title: "Albums",
        tab: Some(LibraryTab::Albums),
        shows_heading: true,
        scripts: if has_finder { &[Asset::Library, Asset::Albums] } else { &[Asset::Library] },
        can_compress: rejected.is_none() && view.text.is_empty(),
    };
    let status = if rejected.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(frame.reply_with(status, &person.header(site, paths::ALBUMS), "library", &content))
}

/// The field that finds albums by their titles, and the orders.
fn finder(view: &View<'_>) -> Markup {
    html! {
        form #find-albums .inline role="search" aria-label="Albums" action=(paths::ALBUMS) {
            label for="find-album" { "Find an album" }
            input #find-album type="search" name="q" value=(view.text) maxlength=(MAX_TEXT_CHARS) autocomplete="off"
                placeholder="Find an album";
            label for="sort-albums" { "Order" }
            select #sort-albums name="sort" {
                @for (sort, name, label) in ORDERS {
                    option value=(name) selected[sort == view.sort] { (label) }
                }
            }
            button.quiet type="submit" { "Show" }
        }
    }
}

fn create_form(site: &Site, person: &Person, rejected: Option<&Rejected<'_>>, is_open: bool) -> Markup {
    html! {
        div.tools {
            details.ask open[is_open || rejected.is_some()] {
                summary { "New album" }
                form.asked method="post" action=(paths::ALBUMS) {
                    (csrf_field(&site.forms, &person.token_parts(paths::ALBUMS)))
                    label for="new-title" { "Title" }
                    input #new-title type="text" name="title" required maxlength="100" autocomplete="off"
                        value=[rejected.map(|rejected| rejected.title)] aria-invalid=[rejected.map(|_| "true")]
                        aria-describedby=[rejected.map(|_| "title-problem")];
                    @if let Some(rejected) = rejected {
                        p #title-problem .problem role="alert" { (rejected.reason) }
                    }
                    button type="submit" { "Create" }
                }
            }
        }
    }
}

fn entry(listed: &ListedAlbum, is_shown: bool, is_eager: bool) -> Markup {
    let album = &listed.album;
    html! {
        li hidden[!is_shown] {
            a href=(paths::album(&album.id)) {
                @match &listed.cover {
                    Some(image) => {
                        @let [small, large] = [Rendition::Preview, Rendition::Thumb];
                        @let size = image.size.fit_within(large.longest_side_px());
                        @let sources = [small, large].map(|rendition| {
                            let width = image.size.fit_within(rendition.longest_side_px()).width;
                            format!("{} {width}w", picture_path(image, rendition))
                        });
                        img src=(picture_path(image, large)) srcset=[(size.width > 256).then(|| sources.join(", "))]
                            sizes="(min-width: 40rem) 17rem, 45vw" width=(size.width) height=(size.height) alt=""
                            loading=(if is_eager { "eager" } else { "lazy" }) decoding="async";
                    }
                    None => span.empty { (Icon::Albums.markup()) }
                }
                span.name { (album.title) }
            }
            p.facts {
                @if album.image_count == 0 { "No photos yet" } @else { (photos(album.image_count)) }
                @if let Some((oldest, newest)) = listed.captured { br; (months(oldest, newest)) }
            }
        }
    }
}

/// The months from one time to another, such as `March – July 2024`.
fn months(oldest: Timestamp, newest: Timestamp) -> String {
    let (first, last) = (Month::of(oldest), Month::of(newest));
    if first == last {
        last.to_string()
    } else if first.year() == last.year() {
        format!("{} – {last}", first.name())
    } else {
        format!("{} – {}", first.year(), last.year())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_short() {
        for (oldest, newest, expected) in [
            ("2024-07-01T00:00:00Z", "2024-07-31T23:59:59Z", "July 2024"),
            ("2024-03-01T00:00:00Z", "2024-07-31T23:59:59Z", "March – July 2024"),
            ("2019-03-01T00:00:00Z", "2024-07-31T23:59:59Z", "2019 – 2024"),
        ] {
            let [oldest, newest] = [oldest, newest].map(|at| Timestamp::parse_iso(at).unwrap());
            assert_eq!(months(oldest, newest), expected);
        }
    }
}
