//! `/`: the timeline, as a page of photos that its script extends to all of them.

use domain::{Image, LocalRange, LocalTime, Month};
use http::request::Parts;
use http_server::{Query, reply::Reply};
use library::{DayInYear, MonthTotal, StorageError, TimelineOrder, TimelineState};
use maud::{Markup, html};

use super::{empty, months::generation};
use crate::{
    Site,
    assets::Asset,
    examples,
    forms::csrf_field,
    layout::{LibraryPage, LibraryTab},
    marks::Mark,
    messages, on_this_day,
    origin::Origin,
    photo_text::{day_text, wall_time},
    selection,
    session::Person,
    tiles::{Tile, tiles},
};

/// Photos on a page.
const PAGE: u32 = 60;

/// Above this number of photos, the timeline no longer looks for example photos.
const MAX_WITH_EXAMPLES: u32 = 200;

/// What a page shows.
struct Shown {
    state: TimelineState,
    /// Newest first.
    images: Vec<Image>,
    /// Photos of this day in earlier years.
    on_this_day: Vec<DayInYear>,
    /// What says that photos are examples, if there are only a few photos.
    examples: Markup,
    /// The place at which the page with older photos begins.
    older: Option<LocalTime>,
    /// The place at which the page with newer photos begins.
    newer: Option<LocalTime>,
}

/// The page that begins at the place of the parameter `at`, or at the newest photo.
pub(super) async fn page(site: &Site, person: &Person, parts: &Parts) -> Reply {
    let query = Query::parse(parts.uri.query());
    let at = query.get("at").and_then(LocalTime::parse);
    let has_strip = at.is_none() && on_this_day::is_shown(&site.base_url, &parts.headers);
    let shown = match load(site, person, at, has_strip).await {
        Ok(shown) => shown,
        Err(error) => return messages::unavailable(&error),
    };
    let here = at.map_or_else(|| "/".to_owned(), |at| format!("/?at={at}"));
    let is_empty = shown.state.months.is_empty();
    let content = if is_empty {
        empty::ways_to_begin(site, person, &shown.state)
    } else {
        content(site, person, &shown, at, &here)
    };
    let page = LibraryPage {
        title: "Photos",
        tab: Some(LibraryTab::Photos),
        shows_heading: false,
        scripts: if is_empty { &[Asset::Library] } else { &[Asset::First, Asset::Library] },
        can_compress: true,
    };
    let header = person.header(site, &here);
    let header = if is_empty { header.with_upload("#upload") } else { header };
    page.reply(&header, "library", &content)
}

async fn load(
    site: &Site,
    person: &Person,
    at: Option<LocalTime>,
    has_strip: bool,
) -> Result<Shown, StorageError> {
    let caller = person.caller();
    let state = site.library.catalogue.timeline_state(&caller).await?;
    let until = at.map_or(LocalRange::ALL, LocalRange::until);
    let mut images =
        site.library.catalogue.timeline_page(&caller, until, TimelineOrder::NewestFirst, PAGE + 1).await?;
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let older = images.get(page).map(Image::local_time);
    images.truncate(page);
    let newer = match at {
        None => None,
        Some(at) => {
            let newer = site
                .library
                .catalogue
                .timeline_page(&caller, LocalRange::after(at), TimelineOrder::OldestFirst, PAGE)
                .await?;
            newer.last().map(Image::local_time)
        }
    };
    let offset = images.first().and_then(|image| image.utc_offset);
    let on_this_day =
        if has_strip { on_this_day::load(site, person, &state.months, offset).await? } else { Vec::new() };
    let photos: u32 = state.months.iter().map(|total| total.photos).sum();
    let examples = match photos {
        1..=MAX_WITH_EXAMPLES => examples::notice(site, person).await?,
        _ => html! {},
    };
    Ok(Shown { state, images, on_this_day, examples, older, newer })
}

fn content(site: &Site, person: &Person, shown: &Shown, at: Option<LocalTime>, here: &str) -> Markup {
    let token = site.forms.sign(&person.token_parts(selection::PURPOSE));
    let at = at.map_or_else(String::new, |at| at.to_string());
    html! {
        // With the script, new photos appear by themselves.
        @if shown.state.waiting > 0 {
            noscript { p.notice { (being_read(shown.state.waiting)) " " a href=(here) { "Show new photos" } } }
        }
        (shown.examples)
        (on_this_day::strip(site, person, &shown.on_this_day))
        form #selection method="post" action=(selection::PATH) {
            (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
            input type="hidden" name="return_to" value=(here);
            div #timeline data-token=(token) data-at=(at) data-gen=(generation(&shown.state.months)) {
                @for (first, month, images) in sections(&shown.images) {
                    (section(month, images, shown.on_this_day.len() + first))
                }
                @if shown.images.is_empty() { p.lead { "There are no photos from before this time." } }
            }
            (selection::actions(&[Mark::Favorite, Mark::Archive]))
        }
        (pages(shown))
        (month_links(&shown.state.months))
    }
}

/// `2 photos are being read.`
pub(super) fn being_read(waiting: u32) -> String {
    format!("{} {} being read.", selection::photos(waiting), if waiting == 1 { "is" } else { "are" })
}

/// The photos of each month, with the number of photos before them.
fn sections(images: &[Image]) -> Vec<(usize, Month, &[Image])> {
    let mut first = 0;
    let month = |image: &Image| image.local_time().month();
    let is_same = |a: &Image, b: &Image| month(a) == month(b);
    let mut sections = Vec::new();
    for images in images.chunk_by(is_same) {
        if let Some(image) = images.first() {
            sections.push((first, month(image), images));
        }
        first += images.len();
    }
    sections
}

fn section(month: Month, images: &[Image], first: usize) -> Markup {
    let (number, range) = (month.number(), LocalRange::of_month(month));
    html! {
        section.month data-month=(number) aria-labelledby={ "m" (number) } {
            h2 id={ "m" (number) } { (month) }
            label.all {
                input type="checkbox" name="range" value={ (range.first) ":" (range.last) };
                span { "Select all of " (month) }
            }
            (tiles(tiles_by_day(images), first))
        }
    }
}

/// Photos with the days above the first of each.
fn tiles_by_day(images: &[Image]) -> impl Iterator<Item = Tile<'_>> {
    let days = images.chunk_by(|one, next| wall_time(one).date() == wall_time(next).date());
    days.flat_map(|day| {
        let tile = |(index, image)| Tile {
            day: (index == 0).then(|| day_text(day)),
            ..Tile::of(image, &Origin::Timeline)
        };
        day.iter().enumerate().map(tile)
    })
}

fn pages(shown: &Shown) -> Markup {
    html! {
        @if shown.newer.is_some() || shown.older.is_some() {
            nav.pages aria-label="Pages" {
                @if let Some(newer) = shown.newer { a rel="prev" href={ "/?at=" (newer) } { "Newer photos" } }
                @if let Some(older) = shown.older { a rel="next" href={ "/?at=" (older) } { "Older photos" } }
            }
        }
    }
}

/// Links to all months, by year.
fn month_links(months: &[MonthTotal]) -> Markup {
    html! {
        nav.months aria-label="Months" {
            @for months in months.chunk_by(|a, b| a.month.year() == b.month.year()) {
                @if let Some(newest) = months.first() {
                    h2 { (newest.month.year()) }
                    ul {
                        @for total in months {
                            li { a href={ "/?at=" (LocalRange::of_month(total.month).last) } { (total.month.name()) } " " span { (total.photos) } }
                        }
                    }
                }
            }
        }
    }
}
