//! The page of the map.

use domain::{DateRange, Image, Invalid, Limit, MapArea, Timestamp};
use http::StatusCode;
use http_server::{Query, reply::Reply};
use library::{MapCluster, StorageError};
use maud::{Markup, html};

use super::{
    clusters::{NamedCluster, area_text, named},
    labels::{Label, labels},
    land::{Frame, GroundPaths, layers, paths},
    towns::towns,
    view::{MAX_ZOOM, SIDE, Size, View, WORLD_ZOOM, parse_zoom, units},
};
use crate::{
    Site,
    assets::Asset,
    forms::csrf_field,
    layout::{Icon, LibraryPage, LibraryTab, Link, empty_state},
    marks::Mark,
    messages,
    origin::Origin,
    paths, selection,
    session::Person,
    tiles::{Tile, tiles},
};

/// Photos in the list.
const PAGE: u32 = 60;

/// The level of the squares that a first look at the world reads.
const OVERVIEW_LEVEL: u8 = 3;

/// What a person asked for.
struct Request {
    /// `None` for the view that fits the area or, without an area, all photos.
    view: Option<View>,
    /// What a script knows of the window.
    window: Option<Size>,
    /// The area whose photos are listed, if it is not the visible one.
    area: Option<MapArea>,
    /// Only photos that are older than this are listed.
    before: Option<Timestamp>,
}

impl Request {
    fn parse(query: &Query<'_>) -> Result<Self, Invalid> {
        let area = query.get("bbox").map(MapArea::parse).transpose()?;
        let before = |text: &str| {
            let moment = text.parse().ok().and_then(Timestamp::from_millis);
            moment.ok_or_else(|| Invalid::new("before", "must be a time in milliseconds since 1970"))
        };
        parse_zoom(query)?;
        Ok(Self {
            view: View::parse(query)?,
            window: Size::parse(query)?,
            area,
            before: query.get("before").map(before).transpose()?,
        })
    }
}

struct Shown {
    view: View,
    area: Option<MapArea>,
    clusters: Vec<NamedCluster>,
    paths: GroundPaths,
    /// The path of built-up areas.
    towns: String,
    labels: Vec<Label>,
    images: Vec<Image>,
    /// The oldest photo of the list, if there are older ones.
    older: Option<Timestamp>,
    is_continued: bool,
}

pub(super) async fn page(site: &Site, person: &Person, query: &Query<'_>) -> Reply {
    let request = match Request::parse(query) {
        Ok(request) => request,
        Err(invalid) => {
            return messages::message_with_link(
                StatusCode::BAD_REQUEST,
                "There is no such map",
                &format!("The address has an invalid part. {invalid}."),
                Link { href: paths::MAP, label: "Show the map of all photos" },
            );
        }
    };
    let shown = match load(site, person, request).await {
        Ok(shown) => shown,
        Err(error) => return messages::unavailable(&error),
    };
    let here = shown.as_ref().map_or_else(|| paths::MAP.to_owned(), Shown::here);
    let content = match &shown {
        None => no_places(),
        Some(shown) => content(site, person, shown, &here),
    };
    let page = LibraryPage {
        title: "Map",
        tab: Some(LibraryTab::Map),
        shows_heading: shown.is_none(),
        scripts: &[Asset::Viewer],
        can_compress: true,
    };
    page.reply(
        &person.header(site, &here),
        if shown.is_some() { "library atlas" } else { "library" },
        &content,
    )
}

#[derive(Debug, thiserror::Error)]
enum LoadError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the map could not be drawn: {0}")]
    Drawing(#[from] tokio::task::JoinError),
}

/// What the page shows; `None` if no photo has a position.
async fn load(site: &Site, person: &Person, request: Request) -> Result<Option<Shown>, LoadError> {
    let caller = person.caller();
    let Request { view, window, area, before } = request;
    let size = window.unwrap_or(Size::DEFAULT);
    let view = match (view, area.as_ref().and_then(View::of_area)) {
        (Some(view), _) | (None, Some(view)) => view,
        (None, None) => match all_photos(site, person).await? {
            Some(view) => view,
            None => return Ok(None),
        },
    };
    let clusters = site.library.catalogue.map_clusters(&caller, view.area(size), view.level()).await?;
    let listed = area.unwrap_or_else(|| view.area(window.unwrap_or(Size::SQUARE)));
    let until = before.map(|before| before.plus_millis(-1));
    let range = DateRange::new(None, until).unwrap_or_default();
    let limit = Limit::new(PAGE + 1).unwrap_or_default();
    let mut images = site.library.catalogue.map_images(&caller, listed, range, limit).await?;
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let has_older = images.len() > page;
    images.truncate(page);
    let drawn = tokio::task::spawn_blocking(move || {
        let clusters = named(clusters, view.zoom);
        let places: Vec<(f64, f64)> =
            clusters.iter().map(|named| view.units(super::view::shares(named.cluster.centre))).collect();
        (clusters, paths(view, Frame::of(view, size)), towns(view, size), labels(view, size, &places))
    });
    let (clusters, paths, towns, labels) = drawn.await?;
    Ok(Some(Shown {
        view,
        area,
        clusters,
        paths,
        towns,
        labels,
        older: images.last().filter(|_| has_older).map(|image| image.captured_at),
        images,
        is_continued: before.is_some(),
    }))
}

/// A view of all photos; `None` if none has a position.
async fn all_photos(site: &Site, person: &Person) -> Result<Option<View>, StorageError> {
    let caller = person.caller();
    let centres = |clusters: &[MapCluster]| -> Vec<(f64, f64)> {
        clusters.iter().map(|cluster| super::view::shares(cluster.centre)).collect()
    };
    let overview = site.library.catalogue.map_clusters(&caller, MapArea::WORLD, OVERVIEW_LEVEL).await?;
    let Some(view) = View::of_points(&centres(&overview)) else { return Ok(None) };
    // The squares of the overview are large, so the photos may be far from the middle of those at the edge.
    let edges: Vec<(f64, f64)> = overview
        .iter()
        .flat_map(|cluster| {
            let area = cluster.extent.area();
            let corner = |latitude, longitude| domain::Position::new(latitude, longitude).ok();
            [corner(area.north, area.west), corner(area.south, area.east)]
        })
        .flatten()
        .map(super::view::shares)
        .collect();
    let wide = View::of_points(&edges).unwrap_or(view);
    let closer =
        site.library.catalogue.map_clusters(&caller, wide.area(Size::SQUARE), wide.level() + 1).await?;
    Ok(Some(View::of_points(&centres(&closer)).unwrap_or(wide)))
}

impl Shown {
    /// The address of the page.
    fn here(&self) -> String {
        let area = self.area.as_ref().map(|area| format!("&bbox={}", area_text(area)));
        format!("{}{}", address(self.view), area.unwrap_or_default())
    }
}

fn address(view: View) -> String {
    format!("{}?{}", paths::MAP, view.parameters())
}

/// The page of a library without positions.
fn no_places() -> Markup {
    let next = html! {
        p {
            "Phones store the place in a photo if the camera app may use the location. Such photos appear here as soon as they "
            "are added. To add the place of another photo, open it and choose Edit."
        }
        p { a.button href="/" { "Show all photos" } }
    };
    empty_state(Icon::Map, "No photo has a place yet.", &next)
}

fn content(site: &Site, person: &Person, shown: &Shown, here: &str) -> Markup {
    html! {
        div #map data-z=(shown.view.zoom) data-x=(shown.view.x) data-y=(shown.view.y) {
            (picture(shown))
            (controls(shown.view))
        }
        div #beside {
            (places(shown))
            (photos(site, person, shown, here))
        }
    }
}

/// The map itself. The square in its middle is always visible.
fn picture(shown: &Shown) -> Markup {
    let half = SIDE / 2.0;
    html! {
        svg #world .earth viewBox={ (-half) " " (-half) " " (SIDE) " " (SIDE) } role="group" aria-label="Map of your photos" {
            defs { clipPath #round clipPathUnits="objectBoundingBox" { circle cx="0.5" cy="0.5" r="0.5" {} } }
            g #ground aria-hidden="true" {
                g transform="scale(.1)" {
                    (layers(&shown.paths, &shown.towns, ""))
                }
                @for label in &shown.labels { (label.markup()) }
            }
            g #old {}
            g #clusters {
                @for named in &shown.clusters { (marker(named, shown.view)) }
            }
        }
    }
}

/// A cluster on the map: a link whose place is also given as shares of the world, for the script.
pub(super) fn marker(named: &NamedCluster, view: View) -> Markup {
    let (x, y) = super::view::shares(named.cluster.centre);
    let (right, down) = view.units((x, y));
    let count = named.short_count();
    let width = 10 + 8 * count.len();
    html! {
        a href=(named.target(view)) aria-label=(named.short_text()) data-x={ (format!("{x:.9}")) }
            data-y={ (format!("{y:.9}")) } transform={ "translate(" (units(right)) " " (units(down)) ")" } {
            g.pin {
                circle.ring r="25" {}
                image href=(named.cover_path()) x="-22" y="-22" width="44" height="44" preserveAspectRatio="xMidYMid slice"
                    clip-path="url(#round)" {}
                @if named.cluster.photos > 1 {
                    rect.count x="8" y="-30" width=(width) height="19" rx="9.5" {}
                    text.count x={ (8 + width / 2) } y="-16" { (count) }
                }
            }
        }
    }
}

/// Links that move the map.
fn controls(view: View) -> Markup {
    let step = SIDE * 0.4;
    let moves = [
        ("north", "Move north", "↑", view.moved(0.0, -step)),
        ("west", "Move west", "←", view.moved(-step, 0.0)),
        ("east", "Move east", "→", view.moved(step, 0.0)),
        ("south", "Move south", "↓", view.moved(0.0, step)),
    ];
    html! {
        nav #controls aria-label="Map" {
            @if view.zoom < MAX_ZOOM { a.in href=(address(view.zoomed(1.0))) aria-label="Zoom in" { "+" } }
            @if view.zoom > WORLD_ZOOM { a.out href=(address(view.zoomed(-1.0))) aria-label="Zoom out" { "−" } }
            @for (class, label, sign, moved) in moves {
                @if moved != view { a class=(class) href=(address(moved)) aria-label=(label) { (sign) } }
            }
            a.all href=(paths::MAP) { "All photos" }
        }
    }
}

/// The clusters as a list, the largest first.
fn places(shown: &Shown) -> Markup {
    let mut clusters: Vec<&NamedCluster> = shown.clusters.iter().collect();
    clusters.sort_by_key(|named| std::cmp::Reverse(named.cluster.photos));
    html! {
        details #places {
            summary { "Places on this map (" (clusters.len()) ")" }
            ul {
                @for named in clusters { li { a href=(named.target(shown.view)) { (named.text()) } } }
            }
        }
    }
}

/// The newest photos of the visible part, or of one place.
fn photos(site: &Site, person: &Person, shown: &Shown, here: &str) -> Markup {
    let older = shown.older.map(|older| format!("{here}&before={}", older.millis()));
    let origin = Origin::of_page(here);
    html! {
        section #photos aria-labelledby="photos-heading" {
            h2 #photos-heading { @if shown.area.is_some() { "Photos of this place" } @else { "Photos on this map" } }
            @if shown.area.is_some() { p { a href=(address(shown.view)) { "Show all photos on this map" } } }
            @if shown.images.is_empty() {
                p { "There are no photos here. Zoom out, or " a href=(paths::MAP) { "show all photos" } "." }
            } @else {
                form #selection method="post" action=(selection::PATH) {
                    (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
                    input type="hidden" name="return_to" value=(here);
                    (tiles(shown.images.iter().map(|image| Tile::of(image, &origin)), 0))
                    (selection::actions(&[Mark::Favorite, Mark::Archive]))
                }
                @if older.is_some() || shown.is_continued {
                    nav.pages aria-label="Pages" {
                        @if shown.is_continued { a href=(here) { "Newest photos" } }
                        @if let Some(older) = older { a rel="next" href=(older) { "Older photos" } }
                    }
                }
            }
        }
    }
}
