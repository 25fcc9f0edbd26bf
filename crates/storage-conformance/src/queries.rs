use std::{borrow::Borrow, collections::HashSet};

use domain::{
    Circle, DateRange, Filter, Image, ImageId, Limit, ListQuery, LocalRange, LocalTime, Position, QueryText,
    Timestamp,
};
use storage::{FoundImage, Lookup, TextColumns, TextMatch, Viewer};

use crate::{NOW, Seed};

/// This many seconds after [`NOW`].
pub(crate) fn second(second: i64) -> Timestamp {
    NOW.plus_millis(second * 1000)
}

pub(crate) fn limit(limit: u32) -> Limit {
    Limit::new(limit).unwrap()
}

pub(crate) fn circle(latitude: f64, longitude: f64, radius_m: f64) -> Circle {
    Circle::new(Position::new(latitude, longitude).unwrap(), radius_m).unwrap()
}

/// Capture times between two seconds after [`NOW`], both included.
pub(crate) fn seconds(first: i64, last: i64) -> DateRange {
    DateRange::new(Some(second(first)), Some(second(last))).unwrap()
}

/// The place in the timeline of a photo without an offset.
pub(crate) fn place(at: i64) -> LocalTime {
    LocalTime::of(second(at), None)
}

/// The part of the timeline with the photos of these seconds.
pub(crate) fn places(first: i64, last: i64) -> LocalRange {
    LocalRange::between(place(first), place(last))
}

pub(crate) fn ids(found: &[FoundImage]) -> Vec<ImageId> {
    found.iter().map(|found| found.image.id.clone()).collect()
}

/// The reverse of the order in which images were seeded.
pub(crate) fn newest_first(ids: &[ImageId]) -> Vec<ImageId> {
    ids.iter().rev().cloned().collect()
}

/// The newest hundred images.
pub(crate) async fn timeline(seed: &Seed, viewer: Viewer) -> Vec<ImageId> {
    let query = ListQuery { limit: limit(100), ..ListQuery::default() };
    page(seed, viewer, query).await
}

pub(crate) async fn page(seed: &Seed, viewer: Viewer, query: ListQuery) -> Vec<ImageId> {
    ids(&seed.store().page_images(viewer, &query).await.unwrap())
}

/// All images, by paging as clients do: the end of each page is the start of the next, so that the first image of a
/// page is known already.
pub(crate) async fn list_all(seed: &Seed, viewer: Viewer, page_size: u32) -> Vec<Image> {
    let mut images: Vec<Image> = Vec::new();
    let mut seen = HashSet::new();
    let mut end = Timestamp::MAX;
    loop {
        let range = DateRange::new(None, Some(end)).unwrap();
        let filter = Filter { range, ..Filter::default() };
        let query = ListQuery { limit: limit(page_size), filter, ..ListQuery::default() };
        let page = seed.store().page_images(viewer, &query).await.unwrap();
        let last = page.last().map(|found| found.image.captured_at);
        let known = images.len();
        images
            .extend(page.into_iter().map(|found| found.image).filter(|image| seen.insert(image.id.clone())));
        match last {
            Some(last) if images.len() > known => end = last,
            _ => return images,
        }
    }
}

/// The newest hundred images that pass a filter.
pub(crate) async fn filtered(seed: &Seed, viewer: Viewer, filter: impl Borrow<Filter>) -> Vec<ImageId> {
    ids(&seed.store().filter_images(viewer, filter.borrow(), limit(100)).await.unwrap())
}

/// The matches of words in all texts, without a filter.
pub(crate) async fn matches(seed: &Seed, viewer: Viewer, words: &[&str]) -> Vec<TextMatch> {
    matches_in(seed, viewer, words, TextColumns::ContentAndContext, Filter::default()).await
}

pub(crate) async fn matches_in(
    seed: &Seed,
    viewer: Viewer,
    words: &[&str],
    columns: TextColumns,
    filter: impl Borrow<Filter>,
) -> Vec<TextMatch> {
    let text = QueryText::parse(&words.join(" ")).unwrap();
    seed.store().match_text(viewer, &text, columns, filter.borrow(), 100).await.unwrap()
}

/// The ids of [`matches`].
pub(crate) async fn matching(seed: &Seed, viewer: Viewer, words: &[&str]) -> Vec<ImageId> {
    matches(seed, viewer, words).await.into_iter().map(|found| found.id).collect()
}

/// An image that must be visible to the viewer.
pub(crate) async fn visible_image(seed: &Seed, viewer: Viewer, id: &ImageId) -> Image {
    match seed.store().image(viewer, id).await.unwrap() {
        Lookup::Found(image) => image,
        other => panic!("{id} is not visible but {other:?}"),
    }
}

pub(crate) async fn is_missing(seed: &Seed, viewer: Viewer, id: &ImageId) -> bool {
    seed.store().image(viewer, id).await.unwrap() == Lookup::Missing
}

/// Deletes an image that must be visible to the viewer.
pub(crate) async fn delete(seed: &Seed, viewer: Viewer, id: &ImageId, at: Timestamp) {
    assert_eq!(seed.store().delete_image(viewer, id, at).await.unwrap(), Lookup::Found(()));
}

/// Ids as clients send them.
pub(crate) fn id_strings(ids: &[ImageId]) -> Vec<String> {
    ids.iter().map(|id| id.as_str().to_owned()).collect()
}
