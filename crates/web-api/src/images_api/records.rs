use std::collections::BTreeMap;

use domain::{Album, Image, Plan, Rating, Rendition};
use library::{Hit, LibraryInfo};
use schemars::JsonSchema;
use serde::Serialize;
use utoipa::ToSchema;

use http_server::BaseUrl;

use crate::links::{Links, install_url};

/// The limits of search without a vision model, and how to add one.
pub(crate) const NO_MODEL: &str = "Search matches only colours, light and words, not what photos show, because no vision model is in use. The operator of the server can add one as docs/models.md describes; `server doctor` says what is missing.";

/// A single object.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Envelope<T> {
    pub(crate) result: T,
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    pub(crate) results: Vec<T>,
    pub(crate) pagination: Pagination,
}

/// The position of a page in its list.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, JsonSchema)]
pub(crate) struct Pagination {
    /// For images, the number on this page. For albums, the number of all albums.
    pub(crate) total: u32,
    /// Number of results that were skipped.
    pub(crate) offset: u32,
    /// Maximum number of results on a page.
    pub(crate) limit: u32,
}

impl<T> Page<T> {
    /// A page of images, whose total is its own length.
    pub(crate) fn of_images(results: Vec<T>, limit: u32) -> Self {
        let total = u32::try_from(results.len()).unwrap_or(u32::MAX);
        Self { results, pagination: Pagination { total, offset: 0, limit } }
    }
}

/// An image. Every field is always present; a field without a value is null.
#[derive(Debug, Serialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImageRecord {
    /// Store this id, not the URLs.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,128}$")]
    pub(crate) id: String,
    /// When it was taken, in UTC. No two images have the same time.
    #[schema(format = DateTime)]
    pub(crate) captured_at: String,
    /// Offset of the local time from UTC where and when it was taken, such as +03:00; null if unknown.
    #[schema(required, pattern = "^[+-][0-9]{2}:[0-9]{2}$")]
    #[schemars(regex(pattern = "^[+-][0-9]{2}:[0-9]{2}$"))]
    pub(crate) utc_offset: Option<String>,
    /// When it was added to the library, in UTC.
    #[schema(format = DateTime)]
    pub(crate) added_at: String,
    /// Signed URL of the best size for display. It expires after 15 minutes.
    #[schema(format = Uri)]
    pub(crate) url: String,
    /// Signed URLs by rendition name (webp-full, webp-medium, webp-thumb); empty in lists and search results.
    pub(crate) renditions: BTreeMap<&'static str, String>,
    /// Width of the upright full rendition, in pixels.
    pub(crate) width: u32,
    /// Height of the upright full rendition, in pixels.
    pub(crate) height: u32,
    /// Degrees north of the equator.
    #[schema(required)]
    pub(crate) latitude: Option<f64>,
    /// Degrees east of Greenwich.
    #[schema(required)]
    pub(crate) longitude: Option<f64>,
    /// The nearest city and country.
    #[schema(required)]
    pub(crate) place: Option<String>,
    /// The description in its metadata.
    #[schema(required)]
    pub(crate) description: Option<String>,
    /// The text in the photo, read by OCR.
    #[schema(required)]
    pub(crate) text: Option<String>,
    /// The maker of the camera.
    #[schema(required)]
    pub(crate) camera_make: Option<String>,
    /// The model of the camera.
    #[schema(required)]
    pub(crate) camera_model: Option<String>,
    /// The name of the imported file.
    #[schema(required)]
    pub(crate) file_name: Option<String>,
    /// Distance from the centre of the circle in metres, if the request has a circle.
    #[schema(required)]
    pub(crate) distance_meters: Option<f64>,
    /// Similarity to the query, above 0 and at most 1; null without a query.
    #[schema(required, maximum = 1)]
    pub(crate) score: Option<f64>,
    /// The text that matched.
    #[schema(required)]
    pub(crate) matched_text: Option<String>,
    /// `image` or `video`.
    #[schemars(extend("enum" = ["image", "video"]))]
    pub(crate) media_type: &'static str,
    /// Length of a video in milliseconds.
    #[schema(required)]
    pub(crate) duration_ms: Option<u64>,
    /// Signed URL of a video.
    #[schema(required, format = Uri)]
    pub(crate) video_url: Option<String>,
    /// Whether it is a favourite.
    pub(crate) favorite: bool,
    /// 1 to 5 stars.
    #[schema(required, minimum = 1, maximum = 5)]
    pub(crate) rating: Option<u8>,
    pub(crate) keywords: Vec<String>,
    /// Whether the timeline of the web hides it.
    pub(crate) archived: bool,
    /// What the photo was recognised to show.
    pub(crate) labels: Vec<String>,
    /// The people in it who have names.
    pub(crate) people: Vec<PersonRecord>,
}

/// A person in a photo.
#[derive(Debug, Serialize, ToSchema, JsonSchema)]
pub(crate) struct PersonRecord {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// An album. Every field is always present; a field without a value is null.
#[derive(Debug, Serialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AlbumRecord {
    /// Its id.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,128}$")]
    pub(crate) id: String,
    /// Its title.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) title: String,
    /// Number of its images.
    pub(crate) image_count: u32,
    /// Signed URL of the webp-thumb of its newest image.
    #[schema(required)]
    pub(crate) cover_url: Option<String>,
    /// When it was created, in UTC.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When its title or images last changed, in UTC.
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

/// The library as a whole.
#[derive(Debug, Serialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LibraryRecord {
    /// Number of images that can be listed.
    pub(crate) total_images: u32,
    /// Whether photo sync was ever used. Until then image and album endpoints return 409.
    pub(crate) sync_enabled: bool,
    /// The page that explains how to set up photo sync.
    #[schema(format = Uri)]
    pub(crate) install_url: String,
    /// How photos are added, as text for the user.
    pub(crate) help: String,
    /// `free` or `paid`.
    #[schemars(extend("enum" = ["free", "paid"]))]
    pub(crate) plan: &'static str,
}

/// The record of an image; `all_renditions` includes the URLs of all renditions.
pub(crate) fn image_record(hit: Hit, links: &Links<'_>, all_renditions: bool) -> ImageRecord {
    let Hit { image, distance_m, score, matched_text, matched_context: _ } = hit;
    let named = |rendition: Rendition| (rendition.name(), links.rendition(&image.id, rendition));
    ImageRecord {
        url: links.display(&image),
        renditions: if all_renditions { Rendition::public().map(named).collect() } else { BTreeMap::new() },
        id: image.id.to_string(),
        captured_at: image.captured_at.to_string(),
        utc_offset: image.utc_offset.map(|offset| offset.to_string()),
        added_at: image.added_at.to_string(),
        width: image.size.width,
        height: image.size.height,
        latitude: image.details.position.map(domain::Position::latitude),
        longitude: image.details.position.map(domain::Position::longitude),
        place: image.place,
        description: image.details.description,
        text: image.text,
        camera_make: image.details.camera_make,
        camera_model: image.details.camera_model,
        file_name: image.file_name,
        distance_meters: distance_m,
        score,
        matched_text,
        media_type: "image",
        duration_ms: None,
        video_url: None,
        favorite: image.marks.favorite,
        rating: image.marks.rating.map(Rating::stars),
        keywords: image.marks.keywords.into_texts(),
        archived: image.marks.archived,
        labels: Vec::new(),
        people: Vec::new(),
    }
}

impl ImageRecord {
    /// The record of a single image, with the URLs of all renditions.
    pub(crate) fn whole(image: Image, links: &Links<'_>) -> Self {
        image_record(image.into(), links, true)
    }

    /// Cuts long texts and marks them with an ellipsis.
    pub(crate) fn shorten(&mut self, max_chars: usize) {
        let Self { description, text, camera_make, camera_model, file_name, .. } = self;
        for text in [description, text, camera_make, camera_model, file_name].into_iter().flatten() {
            if let Some((end, _)) = text.char_indices().nth(max_chars) {
                text.truncate(end);
                text.push('…');
            }
        }
    }
}

pub(crate) fn album_record(album: Album, links: &Links<'_>) -> AlbumRecord {
    AlbumRecord {
        id: album.id.to_string(),
        title: album.title,
        image_count: album.image_count,
        cover_url: album.cover.map(|image| links.rendition(&image, Rendition::Thumb)),
        created_at: album.created_at.to_string(),
        updated_at: album.updated_at.to_string(),
    }
}

pub(crate) fn library_record(info: &LibraryInfo, plan: Plan, base_url: &BaseUrl) -> LibraryRecord {
    let install_url = install_url(base_url);
    let help = if !info.sync_enabled {
        format!("Photo sync is not set up yet. Open {install_url} and follow the steps there to add photos.")
    } else if info.total_images == 0 {
        format!("The library is empty. Open {install_url} to see how to add photos.")
    } else if info.has_vision_model {
        format!("Photos are added by import; {install_url} explains how.")
    } else {
        format!("Photos are added by import; {install_url} explains how. {NO_MODEL}")
    };
    LibraryRecord {
        total_images: info.total_images,
        sync_enabled: info.sync_enabled,
        install_url,
        help,
        plan: plan.as_str(),
    }
}
