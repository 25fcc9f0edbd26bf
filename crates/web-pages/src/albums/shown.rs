//! The photos on a page of an album.

use domain::{Album, AlbumId, AlbumOrder, DateRange, Image, ImageId, Limit, Timestamp};
use http_server::Query;
use library::{Positions, StorageError, TimelineOrder};

use crate::{Site, paths, session::Person};

/// Photos on a page.
pub(super) const PAGE: u32 = 60;

/// A page of an album.
pub(super) struct Shown {
    pub(super) album: Album,
    pub(super) images: Vec<Image>,
    /// The address of the page itself.
    pub(super) here: String,
    /// The address of the next page, and the photo that it begins with.
    pub(super) next: Option<(String, ImageId)>,
    /// The address of the previous page, and the photo that it ends with.
    pub(super) previous: Option<(String, ImageId)>,
}

/// The address of the page of an album from a position on.
pub(super) fn from_position(id: &AlbumId, position: i64) -> String {
    format!("{}?from={position}", paths::album(id))
}

/// The position that the page with this address begins at.
pub(super) fn position_of(query: &Query<'_>) -> Option<i64> {
    query.get("from").and_then(|text| text.parse().ok())
}

/// Loads the page that a query asks for.
pub(super) async fn load(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    query: &Query<'_>,
) -> Result<Option<Shown>, StorageError> {
    let album = site.library.catalogue.album(&person.caller(), id.as_str()).await?;
    let Some(album) = album else { return Ok(None) };
    let at = query.get("at").and_then(|text| text.parse().ok()).and_then(Timestamp::from_millis);
    match album.order {
        AlbumOrder::NewestFirst => by_time(site, person, album, at, TimelineOrder::NewestFirst).await,
        AlbumOrder::OldestFirst => by_time(site, person, album, at, TimelineOrder::OldestFirst).await,
        AlbumOrder::ByHand => by_hand(site, person, album, position_of(query)).await,
    }
}

const fn reversed(order: TimelineOrder) -> TimelineOrder {
    match order {
        TimelineOrder::NewestFirst => TimelineOrder::OldestFirst,
        TimelineOrder::OldestFirst => TimelineOrder::NewestFirst,
    }
}

/// The capture times from a photo on, in an order.
fn range_from(at: Option<Timestamp>, order: TimelineOrder) -> DateRange {
    let range = match order {
        TimelineOrder::NewestFirst => DateRange::new(None, at),
        TimelineOrder::OldestFirst => DateRange::new(at, None),
    };
    range.unwrap_or_default()
}

async fn by_time(
    site: &Site,
    person: &Person,
    album: Album,
    at: Option<Timestamp>,
    order: TimelineOrder,
) -> Result<Option<Shown>, StorageError> {
    let (caller, catalogue, id) = (person.caller(), &site.library.catalogue, &album.id);
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let limit = Limit::new(PAGE + 1).unwrap_or_default();
    let found = catalogue.album_images(&caller, id, range_from(at, order), order, limit).await?;
    let Some(mut images) = found else { return Ok(None) };
    let path = paths::album(id);
    let address = |at: Timestamp| format!("{path}?at={}", at.millis());
    let next = images.get(page).map(|image| (address(image.captured_at), image.id.clone()));
    images.truncate(page);
    let previous = match at {
        None => None,
        Some(at) => {
            let step = if order == TimelineOrder::NewestFirst { 1 } else { -1 };
            let before = range_from(Some(at.plus_millis(step)), reversed(order));
            let limit = Limit::new(PAGE).unwrap_or_default();
            let before = catalogue.album_images(&caller, id, before, reversed(order), limit).await?;
            let before = before.unwrap_or_default();
            before.last().zip(before.first()).map(|(from, to)| (address(from.captured_at), to.id.clone()))
        }
    };
    let here = at.map_or_else(|| path.clone(), address);
    Ok(Some(Shown { album, images, here, next, previous }))
}

async fn by_hand(
    site: &Site,
    person: &Person,
    album: Album,
    from: Option<i64>,
) -> Result<Option<Shown>, StorageError> {
    let (caller, catalogue, id) = (person.caller(), &site.library.catalogue, &album.id);
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let limit = Limit::new(PAGE + 1).unwrap_or_default();
    let first = Positions::From(from.unwrap_or(i64::MIN));
    let found = catalogue.positioned_images(&caller, id, first, limit).await?;
    let Some(mut found) = found else { return Ok(None) };
    let next = found.get(page).map(|next| (from_position(id, next.position), next.image.id.clone()));
    found.truncate(page);
    let previous = match from {
        None => None,
        Some(from) => {
            let limit = Limit::new(PAGE).unwrap_or_default();
            let before = catalogue.positioned_images(&caller, id, Positions::Before(from), limit).await?;
            let before = before.unwrap_or_default();
            let ends = before.last().zip(before.first());
            ends.map(|(from, to)| (from_position(id, from.position), to.image.id.clone()))
        }
    };
    let here = from.map_or_else(|| paths::album(id), |from| from_position(id, from));
    let images = found.into_iter().map(|found| found.image).collect();
    Ok(Some(Shown { album, images, here, next, previous }))
}
