//! `/assets/{hash}/{name}`: the styles, scripts and icons of the library's pages.
//!
//! The scripts are joined and shortened by `cargo xtask check --only generated --write` from the sources beside the pages.
//!
//! The hash is that of all assets together, so an address always names the same bytes and browsers never ask again.

mod styles;

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

/// A file that pages load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asset {
    /// The style of the pages of the library.
    Style,
    /// Lays out the first photos before they are painted.
    First,
    /// Runs on the other pages with photos before they are painted, for the movement from the photo page.
    Opening,
    /// Prepares the photo page before it is painted.
    PhotoFirst,
    /// What the scripts of all pages share: keys, messages, the menu, and photos that are dropped.
    Shared,
    /// The actions for selected photos and the photos beside the slider, which the timeline loads with their first use.
    Actions,
    /// The filmstrip of the photo page, which loads after the photo.
    Strip,
    /// The script of the timeline and of other pages with photos.
    Library,
    /// The script of the photo page and of the map, which load it in place of [`Library`](Self::Library).
    Viewer,
    /// The script of the upload, which pages load when the first photo is dropped, pasted or chosen.
    Upload,
    /// The names under the search field, which the other scripts load with its first use.
    Suggest,
    /// The style of what that script shows. It is loaded by its name beside the script.
    SuggestStyle,
    /// The script of the list of albums and of the page that adds photos to one.
    Albums,
    /// Moves photos on the page of an album in its own order.
    AlbumOrder,
    /// The style of the pages that load [`Viewer`](Self::Viewer), beside the style of all pages.
    ViewerStyle,
    /// Corrections on the photo page, which loads it with their first use.
    Edit,
    /// The style of what that script shows. It is loaded by its name beside the script.
    EditStyle,
    /// The style of what the script of the upload shows. It is loaded by its name beside the script.
    UploadStyle,
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
    const ALL: [Self; 22] = [
        Self::Style,
        Self::First,
        Self::Opening,
        Self::PhotoFirst,
        Self::Shared,
        Self::Actions,
        Self::Strip,
        Self::Library,
        Self::Viewer,
        Self::Upload,
        Self::Suggest,
        Self::SuggestStyle,
        Self::Albums,
        Self::AlbumOrder,
        Self::ViewerStyle,
        Self::Edit,
        Self::EditStyle,
        Self::UploadStyle,
        Self::Manifest,
        Self::TouchIcon,
        Self::SmallIcon,
        Self::LargeIcon,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Style => "library.css",
            Self::First => "first.js",
            Self::Opening => "opening.js",
            Self::PhotoFirst => "photo-first.js",
            Self::Shared => "shared.js",
            Self::Actions => "actions.js",
            Self::Strip => "strip.js",
            Self::Library => "library.js",
            Self::Viewer => "viewer.js",
            Self::Upload => "upload.js",
            Self::Suggest => "suggest.js",
            Self::SuggestStyle => "suggest.css",
            Self::Albums => "albums.js",
            Self::AlbumOrder => "album-order.js",
            Self::ViewerStyle => "viewer.css",
            Self::Edit => "edit.js",
            Self::EditStyle => "edit.css",
            Self::UploadStyle => "upload.css",
            Self::Manifest => "app.webmanifest",
            Self::TouchIcon => "icon-180.png",
            Self::SmallIcon => "icon-192.png",
            Self::LargeIcon => "icon-512.png",
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Style | Self::ViewerStyle | Self::SuggestStyle | Self::EditStyle | Self::UploadStyle => {
                "text/css; charset=utf-8"
            }
            Self::First
            | Self::Opening
            | Self::PhotoFirst
            | Self::Shared
            | Self::Actions
            | Self::Strip
            | Self::Library
            | Self::Viewer
            | Self::Upload
            | Self::Suggest
            | Self::Albums
            | Self::AlbumOrder
            | Self::Edit => "text/javascript; charset=utf-8",
            Self::Manifest => "application/manifest+json",
            Self::TouchIcon | Self::SmallIcon | Self::LargeIcon => "image/png",
        }
    }

    fn compose(self) -> Cow<'static, [u8]> {
        match self {
            Self::Style => styles::style().into_bytes().into(),
            Self::First => include_bytes!("assets/scripts/first.js").into(),
            Self::Opening => include_bytes!("assets/scripts/opening.js").into(),
            Self::PhotoFirst => include_bytes!("assets/scripts/photo-first.js").into(),
            Self::Shared => include_bytes!("assets/scripts/shared.js").into(),
            Self::Actions => include_bytes!("assets/scripts/actions.js").into(),
            Self::Strip => include_bytes!("assets/scripts/strip.js").into(),
            Self::Library => include_bytes!("assets/scripts/library.js").into(),
            Self::Viewer => include_bytes!("assets/scripts/viewer.js").into(),
            Self::Upload => include_bytes!("assets/scripts/upload.js").into(),
            Self::Suggest => include_bytes!("assets/scripts/suggest.js").into(),
            Self::SuggestStyle => styles::suggest_style().into_bytes().into(),
            Self::Albums => include_bytes!("assets/scripts/albums.js").into(),
            Self::AlbumOrder => include_bytes!("assets/scripts/album-order.js").into(),
            Self::ViewerStyle => styles::viewer_style().into_bytes().into(),
            Self::Edit => include_bytes!("assets/scripts/edit.js").into(),
            Self::EditStyle => styles::edit_style().into_bytes().into(),
            Self::UploadStyle => styles::upload_style().into_bytes().into(),
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
        matches!(self, Self::First | Self::Opening | Self::PhotoFirst)
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    /// Upper bound on the scripts of the timeline, compressed, and on those of all pages.
    const MAX_TIMELINE_BYTES: usize = 20 * 1024;
    const MAX_BYTES: usize = 47 * 1024;

    fn compressed(asset: Asset) -> usize {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&asset.compose()).unwrap();
        encoder.finish().unwrap().len()
    }

    #[test]
    fn all_scripts_together_are_small() {
        let scripts = Asset::ALL.into_iter().filter(|asset| asset.name().ends_with(".js"));
        let sizes: Vec<_> = scripts.map(|script| (script, compressed(script))).collect();
        let timeline = [Asset::First, Asset::Shared, Asset::Library];
        let sum_of = |wanted: &dyn Fn(Asset) -> bool| -> usize {
            sizes.iter().filter(|(script, _)| wanted(*script)).map(|(_, bytes)| bytes).sum()
        };
        assert!(sum_of(&|script| timeline.contains(&script)) <= MAX_TIMELINE_BYTES, "{sizes:?}");
        assert!(sum_of(&|_| true) <= MAX_BYTES, "{sizes:?}");
    }
}
