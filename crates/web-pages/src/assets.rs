//! `/assets/{hash}/{name}`: the styles, scripts and icons of the library's pages.
//!
//! The hash is that of all assets together, so an address always names the same bytes and browsers never ask again.

mod scripts;

use std::{borrow::Cow, sync::LazyLock};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::{HeaderName, HeaderValue, Method, header, request::Parts};
use http_server::{
    file::{File, serve_file},
    reply::{Reply, WithHeader as _, compressible, method_not_allowed, not_found},
    response_body::full,
};

/// The path prefix of the assets.
pub(crate) const PREFIX: &str = "/assets/";

use crate::installed_app::manifest;

pub(crate) use scripts::UPLOAD as UPLOAD_SCRIPT;

/// A file that pages load.
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
    /// The script of the upload, on the page of a library without photos. The account pages contain it.
    Upload,
    /// What browsers need to install the library as an app.
    Manifest,
    /// The icon on the home screen of an iPhone.
    TouchIcon,
    SmallIcon,
    LargeIcon,
}

/// The names and contents of all assets.
struct Assets {
    hash: String,
    contents: Vec<(Asset, Cow<'static, [u8]>)>,
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let contents: Vec<_> = Asset::ALL.map(|asset| (asset, asset.compose())).into();
    let all: Vec<&[u8]> = contents.iter().map(|(_, content)| content.as_ref()).collect();
    let hash = keys::sha256(&all.join(&0));
    Assets { hash: HEXLOWER.encode(hash.get(..8).unwrap_or_default()), contents }
});

impl Asset {
    const ALL: [Self; 9] = [
        Self::Style,
        Self::First,
        Self::Library,
        Self::Viewer,
        Self::Upload,
        Self::Manifest,
        Self::TouchIcon,
        Self::SmallIcon,
        Self::LargeIcon,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Style => "library.css",
            Self::First => "first.js",
            Self::Library => "library.js",
            Self::Viewer => "viewer.js",
            Self::Upload => "upload.js",
            Self::Manifest => "app.webmanifest",
            Self::TouchIcon => "icon-180.png",
            Self::SmallIcon => "icon-192.png",
            Self::LargeIcon => "icon-512.png",
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Style => "text/css; charset=utf-8",
            Self::First | Self::Library | Self::Viewer | Self::Upload => "text/javascript; charset=utf-8",
            Self::Manifest => "application/manifest+json",
            Self::TouchIcon | Self::SmallIcon | Self::LargeIcon => "image/png",
        }
    }

    fn compose(self) -> Cow<'static, [u8]> {
        match self {
            Self::Style => scripts::style().into_bytes().into(),
            Self::First => scripts::first().into_bytes().into(),
            Self::Library => scripts::library().into_bytes().into(),
            Self::Viewer => scripts::viewer().into_bytes().into(),
            Self::Upload => scripts::upload().into_bytes().into(),
            // The icons stand beside it.
            Self::Manifest => {
                manifest([(Self::SmallIcon.name(), 192), (Self::LargeIcon.name(), 512)]).into_bytes().into()
            }
            Self::TouchIcon => include_bytes!("layout/icons/180.png").into(),
            Self::SmallIcon => include_bytes!("layout/icons/192.png").into(),
            Self::LargeIcon => include_bytes!("layout/icons/512.png").into(),
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
    let open = async |_| Ok::<_, std::convert::Infallible>(full(Bytes::from_static(content)));
    let mut whole = parts.clone();
    whole.headers.remove(header::RANGE);
    let Ok(reply) = serve_file(&whole, file, open).await;
    let reply = reply
        .with(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"))
        .with(
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("same-origin"),
        );
    if asset.content_type() == "image/png" { reply } else { compressible(reply) }
}
