//! `/search`: photos that match words, a place or a time.

mod filters;
mod suggestions;

use domain::{DateRange, Image, Limit, SearchQuery};
use http::{Method, StatusCode, request::Parts};
use http_server::{
    Query,
    reply::{Reply, method_not_allowed},
};
use library::{Hit, SearchError, StorageError, TimelineOrder};
use maud::{Markup, html};

use crate::{
    Site,
    assets::Asset,
    forms::csrf_field,
    gallery::{Tile, tiles},
    layout::{LibraryPage, LibraryTab},
    messages,
    photo::Origin,
    selection,
    session::Person,
};
use filters::Filters;
use suggestions::{Meaning, suggestions};

/// The path of the page.
pub(crate) const PATH: &str = "/search";

/// Photos that a search shows.
const MAX_RESULTS: u32 = 100;

/// Suggested cities.
const MAX_CITIES: usize = 3;

/// Handles a request to `/search`.
pub(crate) async fn handle(site: &Site, parts: &Parts) -> Reply {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    let result = async {
        let person = Person::required(site, parts).await?;
        let filters = Filters::parse(&Query::parse(parts.uri.query()));
        page(site, &person, &filters).await
    };
    result.await.unwrap_or_else(|reply| reply)
}

/// The outcome of a search.
#[derive(Default)]
struct Results {
    hits: Vec<Hit>,
    /// Why the search was not done, or only in part.
    problem: Option<String>,
    /// Whether what photos show could not be matched.
    lacks_model: bool,
}

impl Results {
    fn problem(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }
}

async fn page(site: &Site, person: &Person, filters: &Filters) -> Result<Reply, Reply> {
    let unavailable = |error: StorageError| messages::unavailable(&error);
    let results = if filters.is_empty() {
        Results::default()
    } else {
        search(site, person, filters).await.map_err(unavailable)?
    };
    let suggested = suggested(site, filters).await;
    let here = filters.path();
    let content = html! {
        (form(filters))
        (chips(filters))
        @if !suggested.is_empty() {
            p.facts #suggested { "Did you mean a filter?" }
            ul.chips aria-labelledby="suggested" {
                @for (label, path) in &suggested { li { a href=(path) { (label) } } }
            }
        }
        @if let Some(problem) = &results.problem { p.notice.warn role="alert" { (problem) } }
        @if results.lacks_model {
            p.notice {
                "No vision model is installed, so this search matches text, colours and light, but not what photos show. "
                a href="/account/search" { "About search" }
            }
        }
        @if results.hits.is_empty() {
            @if filters.is_empty() {
                p.lead { "Search for what photos show, text in them, descriptions, places and file names." }
            } @else if results.problem.is_none() {
                p.lead { "No photos match." }
            }
        } @else {
            (grid(site, person, filters, &results.hits, &here))
        }
    };
    let frame = LibraryPage {
        title: "Search",
        tab: Some(LibraryTab::Search),
        shows_heading: false,
        scripts: &[Asset::Library],
        // The page repeats the query beside the token of its form.
        can_compress: false,
    };
    let is_invalid = results.problem.is_some() && results.hits.is_empty();
    let status = if is_invalid { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(frame.reply_with(status, &person.header(site, &here), "library", &content))
}

async fn search(site: &Site, person: &Person, filters: &Filters) -> Result<Results, StorageError> {
    let caller = person.caller();
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
    let text = match filters.text() {
        Ok(text) => text,
        Err(problem) => return Ok(Results::problem(problem)),
    };
    if text.is_none() && circle.is_none() {
        return Ok(Results { hits: of_range(site, person, range).await?, ..Results::default() });
    }
    let limit = Limit::new(MAX_RESULTS).unwrap_or_default();
    let query = match SearchQuery::new(text, None, None, circle, range, limit) {
        Ok(query) => query,
        Err(invalid) => return Ok(Results::problem(selection::sentence(&invalid.to_string()))),
    };
    match site.library.search(&caller, &query).await {
        Ok(hits) => {
            Ok(Results { hits, problem: None, lacks_model: site.library.lacks_model_for(&query).await })
        }
        Err(SearchError::Storage(error)) => Err(error),
        Err(error @ (SearchError::NoAlbum | SearchError::ImageSearchUnavailable)) => {
            Ok(Results::problem(selection::sentence(&error.to_string())))
        }
    }
}

/// The newest photos of a range.
async fn of_range(site: &Site, person: &Person, range: DateRange) -> Result<Vec<Hit>, StorageError> {
    let order = TimelineOrder::NewestFirst;
    let images = site.library.timeline_page(&person.caller(), range, order, MAX_RESULTS).await?;
    Ok(images.into_iter().map(Hit::from).collect())
}

/// Filters that the words of the query could become: what they are called, and where they lead.
async fn suggested(site: &Site, filters: &Filters) -> Vec<(String, String)> {
    let mut suggested = Vec::new();
    let mut cities = 0;
    for suggestion in suggestions(&filters.query) {
        let with = Filters { query: suggestion.rest, ..filters.clone() };
        match suggestion.meaning {
            Meaning::Days { label, from, to } if filters.from.is_none() && filters.to.is_none() => {
                suggested.push((
                    format!("Taken in {label}"),
                    Filters { from: Some(from), to: Some(to), ..with }.path(),
                ));
            }
            Meaning::City(name) if filters.place.is_none() && cities < MAX_CITIES => {
                if let Some(place) = filters::city_named(&site.library, &name).await {
                    cities += 1;
                    suggested.push((format!("Near {place}"), Filters { place: Some(place), ..with }.path()));
                }
            }
            Meaning::Days { .. } | Meaning::City(_) => {}
        }
    }
    suggested
}

fn form(filters: &Filters) -> Markup {
    html! {
        form.search method="get" action=(PATH) role="search" {
            div.inline {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(filters.query) maxlength="2000" autocomplete="off" spellcheck="false";
                button type="submit" { "Search" }
            }
            details open[filters.has_filter()] {
                summary { "Filters" }
                div.inline {
                    label for="place" { "City" }
                    input #place type="text" name="place" value=[filters.place.as_deref()] maxlength="200" autocomplete="off";
                    label for="from" { "From" }
                    input #from type="date" name="from" value=[filters.from.as_deref()];
                    label for="to" { "To" }
                    input #to type="date" name="to" value=[filters.to.as_deref()];
                }
            }
        }
    }
}

/// The filters in use; each link leads to the search without one.
fn chips(filters: &Filters) -> Markup {
    let chips = filters.chips();
    html! {
        @if !chips.is_empty() {
            ul.chips aria-label="Filters in use" {
                @for (label, path) in &chips {
                    li { a href=(path) aria-label={ "Remove the filter: " (label) } { (label) " ✕" } }
                }
            }
        }
    }
}

fn grid(site: &Site, person: &Person, filters: &Filters, hits: &[Hit], here: &str) -> Markup {
    html! {
        p.facts {
            (selection::photos(u32::try_from(hits.len()).unwrap_or(u32::MAX)))
            @if hits.len() >= 100 { ". There may be more: add a filter." }
        }
        form #selection method="post" action=(selection::PATH) {
            (csrf_field(&site.forms, &person.token_parts(selection::PATH)))
            input type="hidden" name="return_to" value=(here);
            (tiles(hits.iter().map(|hit| tile(filters, hit)), 0))
            (selection::actions())
        }
    }
}

fn tile<'a>(filters: &Filters, hit: &'a Hit) -> Tile<'a> {
    Tile { note: reason(filters, hit), ..Tile::of(&hit.image, &Origin::of_page(&filters.path())) }
}

/// Why a photo was found.
fn reason(filters: &Filters, hit: &Hit) -> Option<Markup> {
    if filters.query.is_empty() {
        return None;
    }
    Some(match &hit.matched_text {
        Some(text) => html! { "“" (text) "”" },
        None => match matching_context(&filters.query, &hit.image) {
            Some(context) => html! { (context) },
            None => html! { "Looks like it" },
        },
    })
}

/// The place or the file name with a word of the query.
fn matching_context<'a>(query: &str, image: &'a Image) -> Option<&'a str> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    [image.place.as_deref(), image.file_name.as_deref()].into_iter().flatten().find(|text| {
        let text = text.to_lowercase();
        words.iter().any(|word| text.contains(word.as_str()))
    })
}
