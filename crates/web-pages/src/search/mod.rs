//! `/search`: photos that match words, a place or a time.

mod completions;
mod explore;
mod filters;
mod suggestions;

use domain::{DateRange, Filter, Keyword, Limit, QueryText, Timestamp};
use http::{Method, StatusCode, request::Parts};
use http_server::{
    Query,
    reply::{Reply, method_not_allowed},
};
use library::{FoundCity, Hit, MatchBy, NameKind, Named, ReadQuery, SearchError, StorageError};
use maud::{Markup, html};

use crate::{
    Site,
    assets::Asset,
    forms::{csrf_field, datalist},
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    marks::Mark,
    messages,
    origin::Origin,
    paths, selection,
    session::Person,
    tiles::{Tile, tiles},
};
use filters::{ARCHIVED, FAVORITE, Filters, NO, SearchPage, YES};
use suggestions::{camera_of, cameras_with, maybe_cities};

/// Photos of a page.
const PAGE: u32 = 60;
const PAGE_LEN: usize = PAGE as usize;

/// Maximum number of cameras in the list of the form.
const LISTED_CAMERAS: usize = 50;

/// Why photos cannot be searched by look only.
const NO_LOOK: &str = "Search by look only needs a vision model, and none is installed on this server.";

/// Maximum number of suggested cities.
const MAX_CITIES: usize = 3;

/// Maximum number of cities whose photos are looked up for suggestions.
const MAX_LOOKED_UP: usize = 20;

/// The search for photos with a keyword.
pub(crate) fn with_keyword(keyword: &Keyword) -> String {
    Filters { keyword: Some(keyword.as_str().to_owned()), ..Filters::default() }.path()
}

/// The search for photos of a camera.
pub(crate) fn with_camera(camera: &str) -> String {
    Filters { camera: Some(camera.to_owned()), ..Filters::default() }.path()
}

/// Handles a request to `/search`, `/explore` or `/web/suggest`.
pub(crate) async fn handle(site: &Site, parts: &Parts) -> Reply {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    let query = Query::parse(parts.uri.query());
    if parts.uri.path() == paths::SUGGEST {
        return completions::reply(site, parts, &query).await;
    }
    let result = async {
        let person = Person::required(site, parts).await?;
        if parts.uri.path() == paths::EXPLORE {
            return explore::page(site, &person, &parts.headers).await;
        }
        page(site, &person, &Filters::parse(&query), SearchPage::parse(&query)).await
    };
    result.await.unwrap_or_else(|reply| reply)
}

/// The outcome of a search.
#[derive(Default)]
struct Results {
    hits: Vec<Hit>,
    /// The number of these photos in words.
    count: String,
    /// Whether the photos are in the order of how well they match words; otherwise the newest are first.
    is_ranked: bool,
    /// Words that no photo matches, so that only the filters decided.
    unmatched: Option<String>,
    /// The page before and the page after this one.
    previous: Option<SearchPage>,
    next: Option<SearchPage>,
    /// A note that there is no next page although more photos may match.
    end: Option<String>,
    /// Why the search was not done, or only in part.
    problem: Option<String>,
    /// Whether the search should have matched what photos show, but there is no vision model.
    lacks_model: bool,
}

impl Results {
    fn problem(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }
}

/// What the page needs to know about the library.
struct Choices {
    /// The cameras of the person, that of the newest photo first.
    cameras: Vec<String>,
    /// The keywords of the person, that of the newest photo first.
    keywords: Vec<String>,
    has_model: bool,
}

async fn page(site: &Site, person: &Person, filters: &Filters, shown: SearchPage) -> Result<Reply, Reply> {
    let unavailable = |error: StorageError| messages::unavailable(&error);
    let caller = person.caller();
    let names = |kind| site.library.catalogue.names(&caller, kind);
    let choices = Choices {
        cameras: names(NameKind::Camera).await.map_err(unavailable)?,
        keywords: names(NameKind::Keyword).await.map_err(unavailable)?,
        has_model: site.library.indexer.has_vision_model().await,
    };
    let read = site.library.catalogue.read_query(&caller, &filters.query).await.map_err(unavailable)?;
    let read = filters.understood(read);
    let results = if filters.is_empty() {
        Results::default()
    } else {
        search(site, person, filters, &read, shown, &choices).await.map_err(unavailable)?
    };
    let suggested = suggested(site, person, filters, &read, &choices.cameras).await.map_err(unavailable)?;
    let to_explore = if filters.is_empty() {
        Some(site.library.catalogue.explore(&caller).await.map_err(unavailable)?)
    } else {
        None
    };
    let here = filters.path_of(shown);
    let content = html! {
        (form(filters, &choices, results.problem.is_some()))
        (chips(filters, &read))
        @if let Some(words) = &results.unmatched {
            p.notice role="status" { "No photo with these filters matches “" (words) "”, so these words were left out." }
        }
        @if !suggested.is_empty() {
            p.facts #suggested { "Did you mean a filter?" }
            ul.chips aria-labelledby="suggested" {
                @for (label, path) in &suggested { li { a href=(path) { (label) } } }
            }
        }
        @if let Some(problem) = &results.problem { p.notice.warn role="alert" { (problem) } }
        @if results.hits.is_empty() {
            @if let Some(explore) = &to_explore {
                (explore::sections(explore))
            } @else if filters.are_favorites() {
                (empty_state(Icon::Heart, "There are no favourites yet.", &html! {
                    p { "To add one, open a photo and choose the heart, or select photos and choose Favourite." }
                    p { a.button href="/" { "Go to the timeline" } }
                }))
            } @else if results.problem.is_none() && shown == SearchPage::First {
                (empty_state(Icon::Search, "No photos match.", &html! {
                    p { "Use other or fewer words" @if filters.has_filter() { ", or remove a filter" } "." }
                    p { a.button.quiet href=(paths::SEARCH) { "New search" } }
                }))
            } @else if results.problem.is_none() {
                p.lead { "No more photos match." }
            }
        } @else {
            (grid(site, person, filters, &results, &here))
        }
        (pages(filters, &results))
        @if results.lacks_model {
            p.facts.lacking {
                "No vision model is installed, so searches match text, colours and light, but not what photos show. "
                a href="/account/search" { "About search" }
            }
        }
    };
    let (title, tab) = if filters.are_favorites() {
        ("Favourites", LibraryTab::Favorites)
    } else {
        ("Search", LibraryTab::Search)
    };
    let frame = LibraryPage {
        title,
        tab: Some(tab),
        shows_heading: false,
        scripts: &[Asset::Library],
        // The page repeats the query beside the token of its form.
        can_compress: false,
    };
    let is_invalid = results.problem.is_some() && results.hits.is_empty();
    let status = if is_invalid { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(frame.reply_with(status, &person.header(site, &here), "library", &content))
}

async fn search(
    site: &Site,
    person: &Person,
    filters: &Filters,
    read: &ReadQuery,
    shown: SearchPage,
    choices: &Choices,
) -> Result<Results, StorageError> {
    let range = match filters.range() {
        Ok(range) => range,
        Err(problem) => return Ok(Results::problem(problem)),
    };
    let circle = match &filters.place {
        None => None,
        Some(place) => match filters::circle_of(&site.library, place).await {
            Some(circle) => Some(circle),
            None => {
                return Ok(Results::problem(format!(
                    "There is no city named “{place}” in the list of cities."
                )));
            }
        },
    };
    let cameras = match &filters.camera {
        None => None,
        Some(typed) => match camera_of(typed, &choices.cameras) {
            Some(camera) => Some(vec![camera.clone()]),
            None => return Ok(Results::problem(format!("You have no photos of a camera named “{typed}”."))),
        },
    };
    let keyword = match filters.keyword() {
        Ok(keyword) => keyword,
        Err(problem) => return Ok(Results::problem(problem)),
    };
    let mut filter = Filter {
        circle,
        cameras,
        range,
        keyword,
        favorite: filters.is_favorite.then_some(true),
        archived: filters.archived,
        ..Filter::default()
    };
    for meaning in &read.meanings {
        meaning.named.add_to(&mut filter);
    }
    let text = match filters::text(&read.rest) {
        Ok(text) => text,
        Err(problem) => return Ok(Results::problem(problem)),
    };
    if filters.by == MatchBy::Look && !choices.has_model && !filters.query.is_empty() {
        return Ok(Results::problem(NO_LOOK));
    }
    match (text, shown) {
        (None, _) => newest(site, person, filter, shown).await,
        // Of a search whose words match nothing.
        (Some(_), SearchPage::Before(_)) if !read.meanings.is_empty() => {
            newest(site, person, filter, shown).await
        }
        (Some(text), _) => {
            let page = if let SearchPage::Ranked(page) = shown { page } else { 0 };
            let mut results = ranked(site, person, &text, filters.by, &filter, page).await?;
            results.lacks_model = filters.by == MatchBy::All && !choices.has_model;
            if results.hits.is_empty() && results.problem.is_none() && page == 0 && !read.meanings.is_empty()
            {
                let newest = newest(site, person, filter, shown).await?;
                return Ok(Results {
                    unmatched: Some(read.rest.clone()),
                    lacks_model: results.lacks_model,
                    ..newest
                });
            }
            Ok(results)
        }
    }
}

/// The newest photos of a filter.
async fn newest(
    site: &Site,
    person: &Person,
    filter: Filter,
    shown: SearchPage,
) -> Result<Results, StorageError> {
    let before = if let SearchPage::Before(before) = shown { Some(before) } else { None };
    let previous = before.map(|_| SearchPage::First);
    let Some(range) = until(filter.range, before) else {
        return Ok(Results { previous, ..Results::default() });
    };
    let filter = Filter { range, ..filter };
    // One more, to know whether there are older ones.
    let limit = Limit::new(PAGE + 1).unwrap_or_default();
    let mut hits = site.library.catalogue.newest_photos(&person.caller(), &filter, limit).await?;
    let has_more = hits.len() > PAGE_LEN;
    hits.truncate(PAGE_LEN);
    let last = hits.last().filter(|_| has_more).map(|last| last.image.captured_at);
    let next = last.map(SearchPage::Before);
    let count = selection::photos(u32::try_from(hits.len()).unwrap_or(u32::MAX));
    let count = if previous.is_some() || next.is_some() { format!("{count} on this page") } else { count };
    Ok(Results { hits, count, previous, next, ..Results::default() })
}

/// The part of a range before a time; `None` if that is empty.
fn until(range: DateRange, before: Option<Timestamp>) -> Option<DateRange> {
    let Some(before) = before else { return Some(range) };
    DateRange::new(Some(range.start()), Some(range.end().min(before.plus_millis(-1)))).ok()
}

/// A page of the photos that match words best.
async fn ranked(
    site: &Site,
    person: &Person,
    text: &QueryText,
    by: MatchBy,
    filter: &Filter,
    page: usize,
) -> Result<Results, StorageError> {
    let limit = Limit::new(PAGE).unwrap_or_default();
    let first = page.saturating_mul(PAGE_LEN);
    let found =
        site.library.catalogue.ranked_photos(&person.caller(), text, by, filter, (first, limit)).await;
    let found = match found {
        Ok(found) => found,
        Err(SearchError::Storage(error)) => return Err(error),
        Err(SearchError::NoAlbum | SearchError::ImageSearchUnavailable) => {
            return Ok(Results::problem(
                "Search by look is not available now. Try again later, or search by words only.",
            ));
        }
    };
    let end = first.saturating_add(PAGE_LEN);
    let last = found.ranked.saturating_sub(1) / PAGE_LEN;
    let is_only_page = page == 0 && found.ranked <= end;
    let count = match u32::try_from(found.ranked) {
        Ok(ranked) if is_only_page => selection::photos(ranked),
        _ => format!("Photos {} to {} of {}", first.saturating_add(1), end.min(found.ranked), found.ranked),
    };
    let is_end = found.ranked <= end && found.is_cut && !found.hits.is_empty();
    Ok(Results {
        count,
        is_ranked: true,
        previous: page.checked_sub(1).map(|before| SearchPage::Ranked(before.min(last))),
        next: (found.ranked > end).then_some(SearchPage::Ranked(page + 1)),
        end: is_end.then(|| {
            format!(
                "These are the best {} matches. To see other photos, add a filter or words.",
                found.ranked
            )
        }),
        hits: found.hits,
        ..Results::default()
    })
}

/// Suggests filters instead of words: their labels, and the addresses of the searches with them. It suggests only filters that
/// match photos of the library.
async fn suggested(
    site: &Site,
    person: &Person,
    filters: &Filters,
    read: &ReadQuery,
    cameras: &[String],
) -> Result<Vec<(String, String)>, StorageError> {
    let mut suggested = Vec::new();
    if let Some(typed) = filters.camera.as_ref().filter(|typed| camera_of(typed, cameras).is_none()) {
        suggested.extend(cameras_with(typed, cameras).map(|camera| {
            let path = Filters { camera: Some(camera.clone()), ..filters.clone() }.path();
            (format!("Taken with {camera}"), path)
        }));
    }
    let has_place = read.meanings.iter().any(|meaning| matches!(meaning.named, Named::Places(_)));
    if filters.place.is_some() || has_place {
        return Ok(suggested);
    }
    let (mut cities, mut looked_up) = (0, 0);
    for maybe in maybe_cities(&read.rest) {
        let named = site.library.catalogue.find_cities(&maybe.name).await;
        for city in named.into_iter().filter(|city| city.is_whole) {
            if cities == MAX_CITIES || looked_up == MAX_LOOKED_UP {
                return Ok(suggested);
            }
            looked_up += 1;
            if has_photos_near(site, person, &city).await? {
                cities += 1;
                let place = city.to_string();
                let others = read.meanings.iter().map(|meaning| meaning.words.as_str());
                let query: Vec<&str> =
                    others.chain([maybe.rest.as_str()]).filter(|words| !words.is_empty()).collect();
                let label = format!("Near {place}");
                let with = Filters { query: query.join(" "), place: Some(place), ..filters.clone() };
                suggested.push((label, with.path()));
            }
        }
    }
    Ok(suggested)
}

/// Whether the person sees a photo near a city.
async fn has_photos_near(site: &Site, person: &Person, city: &FoundCity) -> Result<bool, StorageError> {
    let circle = filters::near(city);
    let filter = Filter { circle, ..Filter::default() };
    let one = Limit::new(1).unwrap_or_default();
    Ok(circle.is_some()
        && !site.library.catalogue.newest_photos(&person.caller(), &filter, one).await?.is_empty())
}

fn form(filters: &Filters, choices: &Choices, has_problem: bool) -> Markup {
    html! {
        form.search method="get" action=(paths::SEARCH) role="search" {
            div.inline {
                label for="q" { "Search" }
                (Icon::Search.markup())
                input #q type="search" name="q" value=(filters.query) maxlength="2000" placeholder="Search your photos"
                    autocomplete="off" spellcheck="false" data-suggest=(Asset::Suggest.path())
                    autofocus[filters.is_empty()];
                button type="submit" { "Search" }
            }
            // The chips name the filters in use.
            details open[has_problem && filters.has_filter()] {
                summary { "Filters" }
                div.inline {
                    div.pair {
                        label for="place" { "City" }
                        input #place type="text" name="place" value=[filters.place.as_deref()] maxlength="200" autocomplete="off";
                    }
                    div.pair {
                        label for="camera" { "Camera" }
                        input #camera type="text" name="camera" value=[filters.camera.as_deref()] list="cameras" maxlength="500" autocomplete="off";
                        (datalist("cameras", choices.cameras.iter().take(LISTED_CAMERAS)))
                    }
                    div.pair {
                        label for="keyword" { "Keyword" }
                        input #keyword type="text" name="keyword" value=[filters.keyword.as_deref()] list="keywords" maxlength="100" autocomplete="off";
                        (datalist("keywords", &choices.keywords))
                    }
                    div.pair {
                        label for="from" { "From" }
                        input #from type="date" name="from" value=[filters.from.as_deref()];
                    }
                    div.pair {
                        label for="to" { "To" }
                        input #to type="date" name="to" value=[filters.to.as_deref()];
                    }
                    (marks(filters))
                }
                (channels(filters.by, choices.has_model))
            }
        }
    }
}

/// The choices by favourites and by the archive.
fn marks(filters: &Filters) -> Markup {
    let archived = filters.archived;
    let choices = [
        (None, "", "With the archive"),
        (Some(false), NO, "Without the archive"),
        (Some(true), YES, "Only the archive"),
    ];
    html! {
        div.pair {
            label for="archived" { "Archive" }
            select #archived name=(ARCHIVED) {
                @for (choice, value, label) in choices {
                    option value=(value) selected[choice == archived] { (label) }
                }
            }
        }
        label.check {
            input type="checkbox" name=(FAVORITE) value=(YES) checked[filters.is_favorite];
            span { "Only favourites" }
        }
    }
}

/// The choice of what the words are compared with.
fn channels(chosen: MatchBy, has_model: bool) -> Markup {
    let all = [
        (MatchBy::All, "By words and look"),
        (MatchBy::Words, "By words only"),
        (MatchBy::Look, "By look only"),
    ];
    html! {
        fieldset.channels {
            legend { "Match" }
            div.inline {
                @for (by, label) in all {
                    @let is_disabled = by == MatchBy::Look && !has_model;
                    label.check {
                        input type="radio" name="by" value=(filters::name_of(by).unwrap_or_default())
                            checked[by == chosen && !is_disabled] disabled[is_disabled]
                            aria-describedby=[is_disabled.then_some("no-look")];
                        span { (label) }
                    }
                }
            }
            @if !has_model { p.hint #no-look { (NO_LOOK) } }
        }
    }
}

/// The filters in use, and the words that were read as filters. Each link leads to the search without one.
fn chips(filters: &Filters, read: &ReadQuery) -> Markup {
    let chips = filters.chips();
    html! {
        @if !chips.is_empty() || !read.meanings.is_empty() {
            ul.chips aria-label="Filters in use" {
                @for meaning in &read.meanings {
                    @let path = Filters { query: meaning.unread.clone(), ..filters.clone() }.path();
                    @let label = label(&meaning.named);
                    li {
                        a href=(path) aria-label={ "Remove the filter: " (label) ", and search for the words “" (meaning.words) "”" } {
                            (label) " ✕"
                        }
                    }
                }
                @for (label, path) in &chips {
                    li { a href=(path) aria-label={ "Remove the filter: " (label) } { (label) " ✕" } }
                }
            }
        }
    }
}

/// What words were read as.
fn label(named: &Named) -> String {
    match named {
        Named::Days(_, label) => label.clone(),
        Named::Places(places) => match places.names() {
            [] => String::new(),
            [place] => format!("In {place}"),
            [first, others @ ..] => format!("In {first} and {} more", others.len()),
        },
        Named::Cameras(cameras, words) => match cameras.as_slice() {
            [camera] => format!("Taken with {camera}"),
            _ => format!("Taken with {words}"),
        },
        Named::Album(_, title) => format!("In the album {title}"),
        Named::Keyword(keyword) => format!("Keyword {}", keyword.as_str()),
    }
}

fn grid(site: &Site, person: &Person, filters: &Filters, results: &Results, here: &str) -> Markup {
    html! {
        p.facts { (results.count) }
        form #selection method="post" action=(selection::PATH) {
            (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
            input type="hidden" name="return_to" value=(here);
            (tiles(results.hits.iter().map(|hit| tile(filters, results.is_ranked, hit)), 0))
            (selection::actions(&[Mark::favorite(!filters.is_favorite), Mark::archived(filters.archived != Some(true))]))
        }
    }
}

/// The pages before and after this one, or the end of the ranking.
fn pages(filters: &Filters, results: &Results) -> Markup {
    let is_ranked = results.is_ranked || matches!(results.previous, Some(SearchPage::Ranked(_)));
    let (previous_label, next_label) =
        if is_ranked { ("Better matches", "More matches") } else { ("Newest photos", "Older photos") };
    html! {
        @if let Some(end) = &results.end { p.facts { (end) } }
        @if results.previous.is_some() || results.next.is_some() {
            nav.pages aria-label="Pages" {
                @if let Some(page) = results.previous {
                    a rel="prev" href=(filters.path_of(page)) { (previous_label) }
                }
                @if let Some(page) = results.next { a rel="next" href=(filters.path_of(page)) { (next_label) } }
            }
        }
    }
}

fn tile<'a>(filters: &Filters, is_ranked: bool, hit: &'a Hit) -> Tile<'a> {
    let note = is_ranked.then(|| reason(hit));
    Tile { note, ..Tile::of(&hit.image, &Origin::of_page(&filters.path())) }
}

/// Why a photo was found.
fn reason(hit: &Hit) -> Markup {
    match (&hit.matched_text, &hit.matched_context) {
        (Some(text), _) => html! { "“" (text) "”" },
        (None, Some(context)) => html! { (context) },
        (None, None) => html! { "Looks like it" },
    }
}
