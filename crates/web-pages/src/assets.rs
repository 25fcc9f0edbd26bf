//! `/assets/{hash}/{name}`: the styles and scripts of the library's pages.
//!
//! The hash is that of all assets together, so an address always names the same bytes and browsers never ask again.

mod scripts;

use std::sync::LazyLock;

use data_encoding::HEXLOWER;
use http::{HeaderName, HeaderValue, Method, header, request::Parts};
use http_server::{
    file::{File, serve_file},
    reply::{Reply, WithHeader as _, compressible, method_not_allowed, not_found},
    response_body::full,
};

/// The path prefix of the assets.
pub(crate) const PREFIX: &str = "/assets/";

/// A style or a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asset {
    /// The style of the pages of the library.
    Style,
    /// Lays out the first photos before they are painted.
    First,
    /// The script of the timeline and of other pages with photos, and the keyboard shortcuts of all pages.
    Library,
    /// The script of the photo page and of the map, which load it in place of [`Library`](Self::Library).
    Viewer,
}

/// The names and contents of all assets.
struct Assets {
    hash: String,
    contents: Vec<(Asset, String)>,
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let contents: Vec<(Asset, String)> = Asset::ALL.map(|asset| (asset, asset.compose())).into();
    let all: Vec<&str> = contents.iter().map(|(_, content)| content.as_str()).collect();
    let hash = keys::sha256(all.join("\0").as_bytes());
    Assets { hash: HEXLOWER.encode(hash.get(..8).unwrap_or_default()), contents }
});

impl Asset {
    const ALL: [Self; 4] = [Self::Style, Self::First, Self::Library, Self::Viewer];

    const fn name(self) -> &'static str {
        match self {
            Self::Style => "library.css",
            Self::First => "first.js",
            Self::Library => "library.js",
            Self::Viewer => "viewer.js",
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Style => "text/css; charset=utf-8",
            Self::First | Self::Library | Self::Viewer => "text/javascript; charset=utf-8",
        }
    }

    fn compose(self) -> String {
        match self {
            Self::Style => scripts::style(),
            Self::First => scripts::first(),
            Self::Library => scripts::library(),
            Self::Viewer => scripts::viewer(),
        }
    }

    /// Whether it runs before the page is painted.
    pub(crate) const fn is_blocking(self) -> bool {
        matches!(self, Self::First)
    }

    /// Its address.
    pub(crate) fn path(self) -> String {
        format!("{PREFIX}{}/{}", ASSETS.hash, self.name())
    }
}

/// Serves an asset. An address with another hash belongs to another version of the program.
pub(crate) async fn handle(parts: &Parts) -> Reply {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    let path = parts.uri.path();
    let Some((asset, content)) = ASSETS.contents.iter().find(|(asset, _)| asset.path() == path) else {
        return not_found();
    };
    let file = File { tag: &ASSETS.hash, bytes: content.len() as u64, content_type: asset.content_type() };
    // Ranges of a text this short are not worth a partial reply.
    let open = async |_| Ok::<_, std::convert::Infallible>(full(content.as_str()));
    let mut whole = parts.clone();
    whole.headers.remove(header::RANGE);
    let Ok(reply) = serve_file(&whole, file, open).await;
    compressible(
        reply
            .with(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"))
            .with(
                HeaderName::from_static("cross-origin-resource-policy"),
                HeaderValue::from_static("same-origin"),
            ),
    )
}
