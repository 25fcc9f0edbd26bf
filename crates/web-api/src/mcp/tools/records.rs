//! Images in the lists of tools: the fields that a model needs to choose one. `get_image` returns the whole record of the
//! image API.

use std::collections::BTreeMap;

use domain::{Position, Rating, Rendition};
use library::Hit;
use schemars::JsonSchema;
use serde::Serialize;

use crate::links::Links;

/// An image in a list. Every field is always present; a field without a value is null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedImage {
    /// Keep this id, not the URL.
    id: String,
    /// When it was taken, in UTC. No two images have the same time.
    captured_at: String,
    /// Offset of the local time from UTC where and when it was taken, such as +03:00; null if unknown.
    #[schemars(regex(pattern = "^[+-][0-9]{2}:[0-9]{2}$"))]
    utc_offset: Option<String>,
    /// Signed URL of the best size for display. It expires after 15 minutes.
    url: String,
    /// Signed URLs by rendition name: none in lists and searches, thumb and medium in show_images, all in get_image.
    renditions: BTreeMap<&'static str, String>,
    /// Degrees north of the equator.
    latitude: Option<f64>,
    /// Degrees east of Greenwich.
    longitude: Option<f64>,
    /// The nearest city and country.
    place: Option<String>,
    /// The description in its metadata.
    description: Option<String>,
    /// The name of the imported file.
    file_name: Option<String>,
    /// Distance from the centre of the circle in metres, if the request has a circle.
    distance_meters: Option<f64>,
    /// Similarity to the query, above 0 and at most 1; null without a query.
    score: Option<f64>,
    /// The text that matched.
    matched_text: Option<String>,
    /// `image` or `video`.
    #[schemars(extend("enum" = ["image", "video"]))]
    media_type: &'static str,
    /// Whether it is a favourite.
    favorite: bool,
    /// 1 to 5 stars.
    rating: Option<u8>,
    keywords: Vec<String>,
    /// Whether the timeline of the web hides it.
    archived: bool,
}

/// An image for the photo app: with its size and the renditions that the app shows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ShownImage {
    #[serde(flatten)]
    image: ListedImage,
    /// Width of the upright full rendition, in pixels.
    width: u32,
    /// Height of the upright full rendition, in pixels.
    height: u32,
}

impl ListedImage {
    pub(super) fn new(hit: Hit, links: &Links<'_>) -> Self {
        let Hit { image, distance_m, score, matched_text, matched_context: _ } = hit;
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
            media_type: "image",
            favorite: image.marks.favorite,
            rating: image.marks.rating.map(Rating::stars),
            keywords: image.marks.keywords.into_texts(),
            archived: image.marks.archived,
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

    /// The record for a model, without the renditions.
    pub(super) fn without_renditions(&self) -> ListedImage {
        ListedImage { renditions: BTreeMap::new(), ..self.image.clone() }
    }
}
