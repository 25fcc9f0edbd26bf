//! Where a photo was opened: the page that its page leads back to, and the photos among which it has neighbours.

use domain::{AlbumId, Image, ImageId};
use http_server::Query;
use url::form_urlencoded;

use crate::{layout::LibraryTab, paths, return_to::ReturnTo};

/// The parameter with the id of an album.
const ALBUM: &str = "in";

/// The parameter with the address of a search, a map or the archive.
const BACK: &str = "back";

/// Upper bound on that address, because every photo of a list repeats it.
const MAX_BACK_BYTES: usize = 1024;

/// Where a photo was opened. The parameters of an address repeat it on each page and in each form of the photo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    #[default]
    Timeline,
    Album(AlbumId),
    /// A search with this address.
    Search(ReturnTo),
    /// A map with this address.
    Map(ReturnTo),
    /// A page of the archive with this address.
    Archive(ReturnTo),
}

impl Origin {
    /// The origin that an address names; the timeline if it names none.
    pub(crate) fn parse(query: &Query<'_>) -> Self {
        match query.get(ALBUM).and_then(AlbumId::parse) {
            Some(album) => Self::Album(album),
            None => query.get(BACK).map(Self::of_page).unwrap_or_default(),
        }
    }

    /// The page of a search, a map or the archive. Any other address, and one that is too long, is the timeline.
    pub(crate) fn of_page(address: &str) -> Self {
        let back = ReturnTo::parse(Some(address));
        if back.as_str().len() > MAX_BACK_BYTES {
            return Self::Timeline;
        }
        match back.as_str().split('?').next() {
            Some(paths::SEARCH) => Self::Search(back),
            Some(paths::MAP) => Self::Map(back),
            Some(paths::ARCHIVE) => Self::Archive(back),
            _ => Self::Timeline,
        }
    }

    /// The page of a photo.
    pub(crate) fn link(&self, id: &ImageId) -> String {
        self.address(&paths::photo(id), &[])
    }

    /// The address of a page or a form of a photo, with further parameters.
    pub(crate) fn address(&self, path: &str, further: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        match self {
            Self::Timeline => {}
            Self::Album(album) => {
                query.append_pair(ALBUM, album.as_str());
            }
            Self::Search(back) | Self::Map(back) | Self::Archive(back) => {
                query.append_pair(BACK, back.as_str());
            }
        }
        query.extend_pairs(further);
        match query.finish() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }

    /// The album that the neighbours are in; `None` for the timeline.
    pub(crate) const fn album(&self) -> Option<&AlbumId> {
        match self {
            Self::Album(album) => Some(album),
            Self::Timeline | Self::Search(_) | Self::Map(_) | Self::Archive(_) => None,
        }
    }

    /// The page that a photo leads back to.
    pub(crate) fn back(&self, image: &Image) -> String {
        match self {
            Self::Timeline => format!("/?at={}", image.local_time()),
            Self::Album(album) => paths::album(album),
            Self::Search(back) | Self::Map(back) | Self::Archive(back) => back.as_str().to_owned(),
        }
    }

    /// What that page is called.
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Timeline => "Back to the timeline",
            Self::Album(_) => "Back to the album",
            Self::Search(_) => "Back to the search",
            Self::Map(_) => "Back to the map",
            Self::Archive(_) => "Back to the archive",
        }
    }

    /// The part of the library that it belongs to.
    pub(crate) const fn tab(&self) -> LibraryTab {
        match self {
            Self::Timeline => LibraryTab::Photos,
            Self::Album(_) => LibraryTab::Albums,
            Self::Search(_) => LibraryTab::Search,
            Self::Map(_) => LibraryTab::Map,
            Self::Archive(_) => LibraryTab::Archive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Origin {
        Origin::parse(&Query::parse(Some(query)))
    }

    #[test]
    fn an_address_keeps_its_origin() {
        for query in [
            "in=0190aa61-6d4e-7bc5-a06b-3a4a5b7b7d65",
            "back=%2Fsearch%3Fq%3Dred%2Bcar%26place%3DLisbon",
            "back=%2Fmap%3Fz%3D5%26lat%3D38.7%26lon%3D-9.1",
            "back=%2Farchive%3Fat%3D5",
        ] {
            let origin = parse(query);
            assert_ne!(origin, Origin::Timeline, "{query}");
            assert_eq!(origin.address("/photos/a", &[]), format!("/photos/a?{query}"));
            let with_more = origin.address("/photos/a", &[("done", "edited")]);
            assert_eq!(with_more, format!("/photos/a?{query}&done=edited"));
            assert_eq!(parse(with_more.split_once('?').unwrap().1), origin);
        }
        assert_eq!(Origin::Timeline.address("/photos/a", &[]), "/photos/a");
    }

    #[test]
    fn photos_lead_back_only_to_pages_with_photos() {
        let long = format!("back=/search?q={}", "x".repeat(MAX_BACK_BYTES));
        for query in [
            "",
            "in=%2F..%2F",
            "back=https://evil.example/search",
            "back=//evil.example/search",
            "back=/search%0d%0aSet-Cookie:a",
            "back=/searching",
            "back=/sign-out",
            "back=/map/../sign-out",
            &long,
        ] {
            assert_eq!(parse(query), Origin::Timeline, "{query}");
        }
    }
}
