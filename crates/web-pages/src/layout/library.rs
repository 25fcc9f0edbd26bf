//! The frame of the library's pages.

use http::{HeaderValue, StatusCode, header as names};
use http_server::{
    reply::{Reply, WithHeader as _, compressible, with_body},
    response_body::full,
};
use maud::{DOCTYPE, Markup, html};

use super::{Icon, PageHeader, header::current};
use crate::{
    assets::Asset,
    installed_app::{NAME, icon},
    paths,
    theme::Theme,
};

/// A part of the library that the header of every page leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LibraryTab {
    Photos,
    Albums,
    Map,
    Search,
    Favorites,
    Archive,
    Trash,
    Problems,
}

impl LibraryTab {
    /// The parts in the header, on windows that are wide enough.
    pub(super) const IN_HEADER: [Self; 6] =
        [Self::Photos, Self::Search, Self::Albums, Self::Map, Self::Favorites, Self::Archive];
    /// The parts in the bar at the bottom of the window of a phone.
    pub(super) const IN_DOCK: [Self; 4] = [Self::Photos, Self::Search, Self::Albums, Self::Map];
    /// The parts in the menu: all of them. The style hides those that the header or the bar shows, which are the first.
    pub(super) const IN_MENU: [Self; 8] = [
        Self::Photos,
        Self::Search,
        Self::Albums,
        Self::Map,
        Self::Favorites,
        Self::Archive,
        Self::Trash,
        Self::Problems,
    ];

    const fn path(self) -> &'static str {
        match self {
            Self::Photos => "/",
            Self::Albums => paths::ALBUMS,
            Self::Map => paths::MAP,
            Self::Search => paths::SEARCH,
            Self::Favorites => paths::FAVORITES,
            Self::Archive => paths::ARCHIVE,
            Self::Trash => "/trash",
            Self::Problems => "/problems",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Photos => "Photos",
            Self::Albums => "Albums",
            Self::Map => "Map",
            Self::Search => "Search",
            Self::Favorites => "Favourites",
            Self::Archive => "Archive",
            Self::Trash => "Trash",
            Self::Problems => "Problems",
        }
    }

    const fn icon(self) -> Icon {
        match self {
            Self::Photos => Icon::Photos,
            Self::Albums => Icon::Albums,
            Self::Map => Icon::Map,
            Self::Search => Icon::Search,
            Self::Favorites => Icon::Heart,
            Self::Archive => Icon::Archive,
            Self::Trash => Icon::Trash,
            Self::Problems => Icon::Problem,
        }
    }

    /// Links to parts of the library, from the page `here` of the part `tab`. Those in the header have no icons.
    pub(super) fn links(tabs: &[Self], tab: Option<Self>, here: &str, label: &str) -> Markup {
        let has_icons = tabs != Self::IN_HEADER;
        html! {
            nav.tabs aria-label=(label) {
                @for part in tabs {
                    // The header has a search field.
                    @let (path, label) = match part {
                        Self::Search if !has_icons => (paths::EXPLORE, "Explore"),
                        _ => (part.path(), part.label()),
                    };
                    a href=(path) aria-current=[(tab == Some(*part)).then(|| current(here, path))] {
                        @if has_icons { (part.icon().markup()) }
                        (label)
                    }
                }
            }
        }
    }
}

/// A page of the library, without its content.
pub(crate) struct LibraryPage<'a> {
    /// The title and main heading.
    pub(crate) title: &'a str,
    /// The part that it belongs to.
    pub(crate) tab: Option<LibraryTab>,
    /// Whether people see the main heading; otherwise only assistive software does.
    pub(crate) shows_heading: bool,
    pub(crate) scripts: &'a [Asset],
    /// Whether the page may be compressed. A page that repeats text of the request beside its secrets may not: its length
    /// could reveal the secrets.
    pub(crate) can_compress: bool,
}

/// Scripts and styles come from this service only, and none of them is part of the document.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
     frame-ancestors 'none'; form-action 'self'",
);

impl LibraryPage<'_> {
    /// The page, whose main part has this class. A browser may show it again when a person goes back to it, but asks for it
    /// each time it is opened.
    pub(crate) fn reply(&self, header: &PageHeader<'_>, class: &str, content: &Markup) -> Reply {
        self.reply_with(StatusCode::OK, header, class, content)
    }

    /// As [`reply`](Self::reply), with another status.
    pub(crate) fn reply_with(
        &self,
        status: StatusCode,
        header: &PageHeader<'_>,
        class: &str,
        content: &Markup,
    ) -> Reply {
        let main = html! {
            main #content class=(class) {
                h1.unseen[!self.shows_heading] { (self.title) }
                (content)
            }
        };
        self.framed(status, header, &main)
    }

    /// The page with a main part of its own, which has the main heading.
    pub(crate) fn framed(&self, status: StatusCode, header: &PageHeader<'_>, main: &Markup) -> Reply {
        let markup = html! {
            (DOCTYPE)
            html lang="en" data-theme=[Theme::chosen().attribute()] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover";
                    (Theme::chosen().meta())
                    title { (self.title) " · " (NAME) }
                    (icon())
                    link rel="apple-touch-icon" href=(Asset::TouchIcon.path());
                    link rel="manifest" href=(Asset::Manifest.path());
                    link rel="stylesheet" href=(Asset::Style.path());
                    @if self.scripts.contains(&Asset::Viewer) { link rel="stylesheet" href=(Asset::ViewerStyle.path()); }
                    // The movement from a tile begins with the first paint, so the picture must be there.
                    @if self.scripts.contains(&Asset::PhotoFirst) { link rel="expect" href="#photo" blocking="render"; }
                    // Every page whose style has transitions between documents must say which of them it takes part in.
                    @if !self.scripts.iter().any(|script| script.is_blocking()) { script src=(Asset::Opening.path()) {} }
                    script type="module" src=(Asset::Shared.path()) {}
                    @for script in self.scripts {
                        @if script.is_blocking() {
                            script src=(script.path()) {}
                        } @else {
                            script type="module" src=(script.path()) {}
                        }
                    }
                }
                body {
                    a.skip href="#content" { "Skip to content" }
                    (header.markup(self.tab))
                    (main)
                    (header.dock(self.tab))
                    p #status role="status" {}
                }
            }
        };
        let reply = with_body(status, full(markup.into_string()))
            .with(names::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
            .with(names::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"))
            .with(names::CONTENT_SECURITY_POLICY, POLICY)
            .with(names::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
            .with(names::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            .with(names::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        if self.can_compress { compressible(reply) } else { reply }
    }
}
