//! Images as lists of tools give them: what a model chooses by. `get_image` gives the whole record of the image API.

use std::collections::BTreeMap;

use domain::{Position, Rendition};
use library::Hit;
use schemars::JsonSchema;
use serde::Serialize;

use crate::links::Links;

/// An image in a list. Every field is always there; one without a value is null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedImage {
    /// Keep this, not the URL.
    id: String,
    /// When it was taken, in UTC; no two images have the same.
    captured_at: String,
    /// How far the wall clock was ahead of UTC where and when it was taken, as +03:00, when that is known.
    #[schemars(regex(pattern = "^[+-][0-9]{2}:[0-9]{2}$"))]
    utc_offset: Option<String>,
    /// Signed URL of the best display size; works for 15 minutes.
    url: String,
    /// Signed URLs by rendition name: none in lists and searches, thumb and medium in show_images; get_image gives all.
    renditions: BTreeMap<&'static str, String>,
    /// Degrees north of the equator.
    latitude: Option<f64>,
    /// Degrees east of Greenwich.
    longitude: Option<f64>,
    /// The nearest city and country.
    place: Option<String>,
    /// What its metadata say about it.
    description: Option<String>,
    /// The name of the file that brought it.
    file_name: Option<String>,
    /// Distance from the circle's centre in metres, when there is a circle.
    distance_meters: Option<f64>,
    /// Similarity, above 0 and at most 1, on ranked results.
    score: Option<f64>,
    /// The text that matched.
    matched_text: Option<String>,
}

/// An image that an app shows: its renditions are those that the app needs, and there is its size.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ShownImage {
    #[serde(flatten)]
    image: ListedImage,
    /// Pixels from left to right of the upright full rendition.
    width: u32,
    /// Pixels from top to bottom of the upright full rendition.
    height: u32,
}

impl ListedImage {
    pub(super) fn new(hit: Hit, links: &Links<'_>) -> Self {
        let Hit { image, distance_m, score, matched_text } = hit;
        Self {
            url: links.display(&image),
            renditions: BTreeMap::new(),
            id: image.id.to_string(),
            captured_at: image.captured_at.to_string(),
            utc_offset: image.utc_offset.map(|offset| offset.to_string()),
            latitude: image.details.position.map(Position::latitude),
            longitude: image.details.position.map(Position::longitude),
            place: image.place,
            description: image.details.description,
            file_name: image.file_name,
            distance_meters: distance_m,
            score,
            matched_text,
        }
    }
}

impl ShownImage {
    pub(super) fn new(hit: Hit, links: &Links<'_>) -> Self {
        let id = &hit.image.id;
        let shown = [Rendition::Thumb, Rendition::Medium];
        let renditions = shown.map(|rendition| (rendition.name(), links.rendition(id, rendition))).into();
        let size = hit.image.size;
        let image = ListedImage { renditions, ..ListedImage::new(hit, links) };
        Self { image, width: size.width, height: size.height }
    }

    /// The same for a model, which cannot look at it.
    pub(super) fn listed(&self) -> ListedImage {
        ListedImage { renditions: BTreeMap::new(), ..self.image.clone() }
    }
}
