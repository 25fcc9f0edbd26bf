//! What a library has, as pictures that lead to searches.

use domain::{Image, Keyword, Rendition};
use http::HeaderMap;
use http_server::reply::Reply;
use library::{Explore, NamedImage};
use maud::{Markup, html};

use super::{with_camera, with_keyword};
use crate::{
    Site,
    assets::Asset,
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    messages, on_this_day,
    origin::Origin,
    paths,
    photo_text::{described, wall_time},
    pictures::picture_path,
    session::Person,
};

/// A picture that leads to a search.
struct Cover<'a> {
    name: String,
    href: String,
    image: &'a Image,
    /// Of the picture, if the name does not say what it leads to.
    alt: String,
    /// Whether the name is only the day.
    is_day: bool,
}

impl<'a> Cover<'a> {
    fn of(named: &'a NamedImage, href: String) -> Self {
        Self { name: named.name.clone(), href, image: &named.image, alt: String::new(), is_day: false }
    }
}

/// The page `/explore`.
pub(super) async fn page(site: &Site, person: &Person, headers: &HeaderMap) -> Result<Reply, Reply> {
    let explore = site.library.catalogue.explore(&person.caller()).await;
    let explore = explore.map_err(|error| messages::unavailable(&error))?;
    let page = LibraryPage {
        title: "Explore",
        tab: Some(LibraryTab::Search),
        shows_heading: true,
        scripts: &[Asset::Library],
        can_compress: true,
    };
    let content = html! {
        (sections(&explore))
        (on_this_day::switch_on(site, person, headers))
    };
    Ok(page.reply(&person.header(site, paths::EXPLORE), "library", &content))
}

/// All that there is to explore.
pub(super) fn sections<'a>(explore: &'a Explore) -> Markup {
    let days = explore.on_this_day.iter().map(|day| Cover {
        name: on_this_day::ago(day),
        href: paths::search_for(&day.day),
        image: &day.image,
        alt: String::new(),
        is_day: true,
    });
    let added = explore.added.iter().map(|image| {
        let name = wall_time(image).strftime("%-d %b %Y").to_string();
        Cover { name, href: Origin::Timeline.link(&image.id), image, alt: described(image), is_day: true }
    });
    let of_words = |named: &'a NamedImage| Cover::of(named, paths::search_for(&named.name));
    let of_keyword =
        |named: &'a NamedImage| Some(Cover::of(named, with_keyword(&Keyword::parse(&named.name).ok()?)));
    let favorite = explore.favorite.iter().map(|image| Cover {
        name: "Favourites".to_owned(),
        href: paths::FAVORITES.to_owned(),
        image,
        alt: String::new(),
        is_day: false,
    });
    let keywords = explore.keywords.iter().filter_map(of_keyword);
    html! {
        @if explore.added.is_empty() && explore.years.is_empty() {
            (empty_state(Icon::Search, "Search for what photos show, text in them, descriptions, places and file names.", &html! {
                p { "For example: a dog on a beach, a word on a sign, or a city and a year, such as Lisbon 2023." }
            }))
        }
        (section("On this day", days))
        (section("Recently added", added))
        (section("Places", explore.places.iter().map(of_words)))
        @if explore.countries.len() > 1 { (section("Countries", explore.countries.iter().map(of_words))) }
        (section("Years", explore.years.iter().map(of_words)))
        (section("Cameras", explore.cameras.iter().map(|named| Cover::of(named, with_camera(&named.name)))))
        (section("Keywords and favourites", favorite.chain(keywords)))
    }
}

/// Nothing if there are no pictures.
fn section<'a>(title: &str, covers: impl Iterator<Item = Cover<'a>>) -> Markup {
    let covers: Vec<Cover<'_>> = covers.collect();
    html! {
        @if !covers.is_empty() {
            section.explore {
                h2 { (title) }
                ul.albums {
                    @for cover in &covers { li { (link(cover)) } }
                }
            }
        }
    }
}

fn link(cover: &Cover<'_>) -> Markup {
    let size = cover.image.size.fit_within(Rendition::Preview.longest_side_px());
    html! {
        a href=(cover.href) {
            img src=(picture_path(cover.image, Rendition::Preview)) width=(size.width) height=(size.height) alt=(cover.alt)
                loading="lazy" decoding="async";
            span.name.taken[cover.is_day] { (cover.name) }
        }
    }
}
