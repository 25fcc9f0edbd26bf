//! `/albums/{id}/add`: the photos of the timeline, to pick some for an album.
//!
//! The picks of other pages are hidden fields of the form, so every page sends all of them.

use std::{collections::HashSet, net::IpAddr};

use domain::{Album, AlbumId, Image, ImageId, LocalRange, LocalTime, Rendition};
use http::request::Parts;
use http_server::{Query, body::RequestBody, reply::Reply};
use library::{MonthTotal, StorageError, TimelineOrder};
use maud::{Markup, html};

use super::no_album;
use crate::{
    Site,
    assets::Asset,
    forms::csrf_field,
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    messages, paths,
    photo_text::described,
    pictures::picture_path,
    selection::{self, photos},
    session::Person,
    tiles::tile_ratio,
};

/// Photos on a page.
const PAGE: u32 = 120;

/// Number of photos whose images are loaded with the page, because they are on the first screen.
const EAGER: usize = 12;

/// A page of photos.
struct Shown {
    album: Album,
    /// Newest first.
    images: Vec<Image>,
    /// Those that are in the album already.
    inside: HashSet<ImageId>,
    months: Vec<MonthTotal>,
    /// The place at which the page with older photos begins.
    older: Option<LocalTime>,
    /// The place at which the page with newer photos begins.
    newer: Option<LocalTime>,
}

async fn load(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    at: Option<LocalTime>,
) -> Result<Option<Shown>, StorageError> {
    let (caller, catalogue) = (person.caller(), &site.library.catalogue);
    let Some(album) = catalogue.album(&caller, id.as_str()).await? else { return Ok(None) };
    let months = catalogue.timeline_state(&caller).await?.months;
    let until = at.map_or(LocalRange::ALL, LocalRange::until);
    let mut images = catalogue.timeline_page(&caller, until, TimelineOrder::NewestFirst, PAGE + 1).await?;
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let older = images.get(page).map(Image::local_time);
    images.truncate(page);
    let newer = match at {
        None => None,
        Some(at) => {
            let newer = catalogue
                .timeline_page(&caller, LocalRange::after(at), TimelineOrder::OldestFirst, PAGE)
                .await?;
            newer.last().map(Image::local_time)
        }
    };
    let ids = images.iter().map(|image| image.id.clone()).collect();
    let inside = catalogue.images_in_album(&caller, id, ids).await?.into_iter().collect();
    Ok(Some(Shown { album, images, inside, months, older, newer }))
}

fn moment(text: Option<&str>) -> Option<LocalTime> {
    text.and_then(LocalTime::parse)
}

/// `GET /albums/{id}/add?at=`.
pub(super) async fn show(site: &Site, parts: &Parts, id: &AlbumId) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let at = moment(Query::parse(parts.uri.query()).get("at"));
    page(site, &person, id, at, &[]).await
}

/// `POST /albums/{id}/add`: another page, with the photos that were picked so far.
pub(super) async fn turn(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    id: &AlbumId,
) -> Result<Reply, Reply> {
    let (person, input) = selection::read_form(site, parts, body, address).await?;
    let at = moment(input.get("to").or_else(|| input.get("at")));
    let picked: Vec<ImageId> = input.ids.iter().filter_map(|id| ImageId::parse(&**id)).collect();
    page(site, &person, id, at, &picked).await
}

async fn page(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    at: Option<LocalTime>,
    picked: &[ImageId],
) -> Result<Reply, Reply> {
    let shown = load(site, person, id, at).await.map_err(|error| messages::unavailable(&error))?;
    let shown = shown.ok_or_else(no_album)?;
    let path = paths::album(id);
    let content = html! {
        p { a href=(path) { "Back to the album" } }
        @if shown.months.is_empty() {
            (empty_state(Icon::Photos, "There are no photos yet.", &html! {
                p { "Upload photos first, then add them here." }
                p { a.button href=(paths::UPLOAD) { "Upload photos" } }
            }))
        } @else {
            (form(site, person, &shown, at, picked))
        }
    };
    let title = format!("Add photos to “{}”", shown.album.title);
    let frame = LibraryPage {
        title: &title,
        tab: Some(LibraryTab::Albums),
        shows_heading: true,
        scripts: &[Asset::Library, Asset::Albums],
        can_compress: picked.is_empty(),
    };
    Ok(frame.reply(&person.header(site, &format!("{path}/add")), "library", &content))
}

fn form(site: &Site, person: &Person, shown: &Shown, at: Option<LocalTime>, picked: &[ImageId]) -> Markup {
    let path = paths::album(&shown.album.id);
    let turn = format!("{path}/add");
    let picked: HashSet<&ImageId> = picked.iter().collect();
    let here: HashSet<&ImageId> = shown.images.iter().map(|image| &image.id).collect();
    let elsewhere: Vec<&&ImageId> = picked.difference(&here).collect();
    let title = short(&shown.album.title);
    let is_current = |total: &MonthTotal| at.is_some_and(|at| total.month == at.month());
    html! {
        form #selection .picking method="post" action=(selection::PATH) {
            (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
            input type="hidden" name="return_to" value=(path);
            input type="hidden" name="album" value=(shown.album.id);
            @for id in &elsewhere { input type="hidden" name="image" value=(id); }
            div.inline {
                label for="month" { "Month" }
                select #month name="at" {
                    @for total in &shown.months {
                        option value=(LocalRange::of_month(total.month).last) selected[is_current(total)] {
                            (total.month) " (" (total.photos) ")"
                        }
                    }
                }
                button.quiet type="submit" formaction=(turn) { "Show" }
            }
            @if shown.images.is_empty() { p.lead { "There are no photos from before this time." } }
            ul.rows.picks {
                @for (place, image) in shown.images.iter().enumerate() {
                    (pick(image, shown.inside.contains(&image.id), picked.contains(&image.id), place < EAGER))
                }
            }
            @if shown.newer.is_some() || shown.older.is_some() {
                div.pages {
                    @for (label, to) in [("Newer photos", shown.newer), ("Older photos", shown.older)] {
                        @if let Some(to) = to {
                            button.quiet type="submit" formaction=(turn) name="to" value=(to) { (label) }
                        }
                    }
                }
            }
            div.actions.kept[!elsewhere.is_empty()] {
                button #add-picked type="submit" name="action" value="add_to_album" data-album=(title) {
                    "Add to “" (title) "”"
                }
                @if !elsewhere.is_empty() {
                    span.facts { (photos(u32::try_from(elsewhere.len()).unwrap_or(u32::MAX))) " picked on other pages" }
                }
            }
        }
    }
}

/// A title that leaves room for the photos above the button. The heading has all of it.
fn short(title: &str) -> String {
    const MAX_CHARS: usize = 24;
    if title.chars().count() <= MAX_CHARS {
        return title.to_owned();
    }
    let start: String = title.chars().take(MAX_CHARS - 1).collect();
    format!("{}…", start.trim_end())
}

/// A photo to pick, or one that is in the album already.
fn pick(image: &Image, is_inside: bool, is_picked: bool, is_eager: bool) -> Markup {
    let ratio = tile_ratio(image);
    let alt = described(image);
    let small = image.size.fit_within(Rendition::Preview.longest_side_px());
    let [preview, thumb] =
        [Rendition::Preview, Rendition::Thumb].map(|rendition| picture_path(image, rendition));
    let large = image.size.fit_within(Rendition::Thumb.longest_side_px());
    let sources = format!("{preview} {}w, {thumb} {}w", small.width, large.width.max(small.width + 1));
    let sizes = format!("(min-width: 40rem) {}px, {}px", ratio * 160 / 1000, ratio * 120 / 1000);
    let picture = html! {
        img src=(preview) srcset=(sources) sizes=(sizes) width=(small.width) height=(small.height) alt=(alt)
            decoding="async" loading=(if is_eager { "eager" } else { "lazy" });
    };
    html! {
        @if is_inside {
            li.inside { (picture) p.note { "In the album" } }
        } @else {
            li {
                label {
                    (picture)
                    input type="checkbox" name="image" value=(image.id) aria-label={ "Add: " (alt) } checked[is_picked];
                }
            }
        }
    }
}
