//! The arguments of the tools: JSON from a model, parsed into values of `domain`.
//!
//! Names and rules are those of the image API's parameters, but numbers are JSON numbers and lists are JSON arrays.

use domain::{
    AlbumChange, AlbumTitle, Channel, Channels, Circle, DateRange, Filter, FilterNames, Invalid, Limit,
    ListQuery, Offset, QueryText, SearchQuery, distinct_image_ids,
};
use library::ViewSize;
use mcp_wire::{ArgumentError, parse_arguments};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// The most images of one call of `view_images`.
const MAX_VIEWED_IMAGES: usize = 16;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListImages {
    /// Maximum number of images to return.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    /// Earliest capture time, inclusive, in ISO 8601, such as 2024-05-01 or 2024-05-01T18:30:00+02:00. Without a time zone it is UTC. A date alone means midnight UTC.
    start_date: Option<String>,
    /// Latest capture time, inclusive, in the format of startDate. To include a whole day, set its end, such as 2024-05-31T23:59:59.999Z. For the next page, set the capturedAt of the last image received.
    end_date: Option<String>,
    /// Latitude of the centre of a circle, in degrees. Requires longitude and radiusMeters.
    #[schemars(range(min = -90, max = 90))]
    latitude: Option<f64>,
    /// Longitude of the centre of a circle, in degrees. Requires latitude and radiusMeters.
    #[schemars(range(min = -180, max = 180))]
    longitude: Option<f64>,
    /// Radius of the circle, in metres. Requires latitude and longitude.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 20_037_508))]
    radius_meters: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SearchImages {
    /// What to search for, in plain words, such as: red car in the snow.
    #[schemars(length(max = 2000))]
    query: Option<String>,
    /// Id of an album. Only images in this album are returned.
    #[schemars(length(max = 128))]
    album_id: Option<String>,
    /// What query is matched with: `text` is the description and the text in the image, `image` is its appearance. Requires query; cannot be combined with a circle or albumId. Omit it to match everything.
    channels: Option<Vec<ChannelName>>,
    /// Latitude of the centre of a circle, in degrees. Requires longitude and radiusMeters.
    #[schemars(range(min = -90, max = 90))]
    latitude: Option<f64>,
    /// Longitude of the centre of a circle, in degrees. Requires latitude and radiusMeters.
    #[schemars(range(min = -180, max = 180))]
    longitude: Option<f64>,
    /// Radius of the circle, in metres. Requires latitude and longitude.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 20_037_508))]
    radius_meters: Option<f64>,
    /// Maximum number of images to return.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    /// Earliest capture time, inclusive, in ISO 8601, such as 2024-05-01 or 2024-05-01T18:30:00+02:00. Without a time zone it is UTC. A date alone means midnight UTC.
    start_date: Option<String>,
    /// Latest capture time, inclusive, in the format of startDate. To include a whole day, set its end, such as 2024-05-31T23:59:59.999Z.
    end_date: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShowImages {
    /// Ids of the images to show, in this order. Cannot be combined with query, albumId, a circle or channels.
    #[schemars(length(max = 100))]
    image_ids: Option<Vec<String>>,
    /// Instead of imageIds: what to search for, in plain words, such as: red car in the snow.
    #[schemars(length(max = 2000))]
    query: Option<String>,
    /// Id of an album. Only images in this album are returned.
    #[schemars(length(max = 128))]
    album_id: Option<String>,
    /// What query is matched with, as in search_images. Requires query; cannot be combined with a circle or albumId.
    channels: Option<Vec<ChannelName>>,
    /// Latitude of the centre of a circle, in degrees. Requires longitude and radiusMeters.
    #[schemars(range(min = -90, max = 90))]
    latitude: Option<f64>,
    /// Longitude of the centre of a circle, in degrees. Requires latitude and radiusMeters.
    #[schemars(range(min = -180, max = 180))]
    longitude: Option<f64>,
    /// Radius of the circle, in metres. Requires latitude and longitude.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 20_037_508))]
    radius_meters: Option<f64>,
    /// Maximum number of images to show.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    /// Earliest capture time, inclusive, in ISO 8601, such as 2024-05-01 or 2024-05-01T18:30:00+02:00.
    start_date: Option<String>,
    /// Latest capture time, inclusive, in the format of startDate. For the next page of a search without query, set the capturedAt of the last image shown.
    end_date: Option<String>,
}

/// The images to show.
pub(super) enum Selection {
    /// The results of a search.
    Search(Box<SearchQuery>),
    /// The images with these ids.
    Ids(Vec<String>),
}

/// The images to look at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Views {
    pub(super) ids: Vec<String>,
    pub(super) size: ViewSize,
    pub(super) sheet: bool,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ChannelName {
    Text,
    Image,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetImage {
    /// Id of the image, from list_images or search_images.
    #[schemars(length(min = 1, max = 128))]
    pub(super) id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ViewImages {
    /// Ids of the images to look at, 1 to 16, in this order.
    #[schemars(length(min = 1, max = MAX_VIEWED_IMAGES))]
    image_ids: Vec<String>,
    /// `small` suffices for most questions. `medium` shows details and small text.
    #[serde(default)]
    size: ViewSizeName,
    /// Whether to return all pictures on one sheet, each with its number, instead of separate pictures.
    #[serde(default)]
    sheet: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ViewSizeName {
    #[default]
    Small,
    Medium,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListAlbums {
    /// Maximum number of albums to return.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    /// Number of albums to skip.
    #[schemars(range(min = 0, max = 500), extend("default" = 0))]
    offset: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateAlbum {
    /// Title of the album.
    #[schemars(length(min = 1, max = 100))]
    title: String,
    /// Ids of its first images.
    #[schemars(length(max = 100))]
    image_ids: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateAlbum {
    /// Id of the album, from list_albums or create_album.
    #[schemars(length(min = 1, max = 128))]
    pub(super) album_id: String,
    /// New title.
    #[schemars(length(min = 1, max = 100))]
    title: Option<String>,
    /// Ids of images to add.
    #[schemars(length(max = 100))]
    add_image_ids: Option<Vec<String>>,
    /// Ids of images to remove.
    #[schemars(length(max = 100))]
    remove_image_ids: Option<Vec<String>>,
}

/// Parses the arguments of a tool. Null and blank arguments count as absent, and texts are trimmed. `channels` may also be
/// one text with commas, as in the image API, because models write it so.
pub(super) fn read<T: DeserializeOwned>(mut arguments: Map<String, Value>) -> Result<T, ArgumentError> {
    arguments.retain(|_, value| match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    });
    for (name, value) in &mut arguments {
        if let Value::String(text) = value {
            *value = if name == "channels" {
                text.split(',').map(|channel| channel.trim().to_owned()).collect()
            } else {
                text.trim().to_owned().into()
            };
        }
    }
    parse_arguments(&arguments)
}

impl ListImages {
    /// The query, with the filters of [`NamedFilters`](super::filters::NamedFilters).
    pub(super) fn query(self, named: Filter) -> Result<ListQuery, Invalid> {
        Ok(ListQuery {
            limit: limit(self.limit)?,
            filter: Filter {
                range: DateRange::parse(self.start_date.as_deref(), self.end_date.as_deref())?,
                circle: Circle::from_parts(self.latitude, self.longitude, self.radius_meters)?,
                ..named
            },
            names: FilterNames::default(),
        })
    }
}

impl SearchImages {
    /// The query, with the filters of [`NamedFilters`](super::filters::NamedFilters).
    pub(super) fn query(self, named: Filter) -> Result<SearchQuery, Invalid> {
        SearchQuery::new(
            self.query.as_deref().map(QueryText::parse).transpose()?,
            channels(&self.channels.unwrap_or_default())?,
            self.album_id,
            Filter {
                circle: Circle::from_parts(self.latitude, self.longitude, self.radius_meters)?,
                range: DateRange::parse(self.start_date.as_deref(), self.end_date.as_deref())?,
                ..named
            },
            FilterNames::default(),
            limit(self.limit)?,
        )
    }
}

impl ShowImages {
    /// The images, with the filters of [`NamedFilters`](super::filters::NamedFilters) if there are any. Beside ids, dates and a
    /// limit are checked and then ignored, because models send them as defaults.
    pub(super) fn selection(self, named: Option<Filter>) -> Result<Selection, Invalid> {
        let search = SearchImages {
            query: self.query,
            album_id: self.album_id,
            channels: self.channels,
            latitude: self.latitude,
            longitude: self.longitude,
            radius_meters: self.radius_meters,
            limit: self.limit,
            start_date: self.start_date,
            end_date: self.end_date,
        };
        let is_empty = search.is_empty() && named.is_none();
        match self.image_ids.filter(|ids| !ids.is_empty()) {
            None if is_empty => {
                Err(Invalid::new("imageIds", "is missing; give it, or query, or albumId, or a full circle"))
            }
            None => Ok(Selection::Search(Box::new(search.query(named.unwrap_or_default())?))),
            Some(ids) if is_empty => {
                limit(search.limit)?;
                DateRange::parse(search.start_date.as_deref(), search.end_date.as_deref())?;
                Ok(Selection::Ids(distinct_image_ids(ids)?))
            }
            Some(_) => Err(Invalid::new(
                "imageIds",
                "cannot be combined with query, albumId, a circle, channels or filters; give either ids or a search",
            )),
        }
    }
}

impl SearchImages {
    fn is_empty(&self) -> bool {
        let Self { query, album_id, channels, latitude, longitude, radius_meters, .. } = self;
        query.is_none()
            && album_id.is_none()
            && channels.as_ref().is_none_or(Vec::is_empty)
            && latitude.is_none()
            && longitude.is_none()
            && radius_meters.is_none()
    }
}

impl ViewImages {
    pub(super) fn views(self) -> Result<Views, Invalid> {
        if !(1..=MAX_VIEWED_IMAGES).contains(&self.image_ids.len()) {
            return Err(Invalid::new(
                "imageIds",
                format!("must have 1 to {MAX_VIEWED_IMAGES} ids in one call"),
            ));
        }
        let size = match self.size {
            ViewSizeName::Small => ViewSize::Small,
            ViewSizeName::Medium => ViewSize::Medium,
        };
        Ok(Views { ids: distinct_image_ids(self.image_ids)?, size, sheet: self.sheet })
    }
}

impl ListAlbums {
    pub(super) fn page(&self) -> Result<(Limit, Offset), Invalid> {
        let offset = self
            .offset
            .map_or(Ok(Offset::default()), |offset| Offset::new(u32::try_from(offset).unwrap_or(u32::MAX)));
        Ok((limit(self.limit)?, offset?))
    }
}

impl CreateAlbum {
    pub(super) fn album(self) -> Result<(AlbumTitle, Vec<String>), Invalid> {
        AlbumChange::creation(Some(&self.title), self.image_ids)
    }
}

impl UpdateAlbum {
    pub(super) fn change(self) -> Result<AlbumChange, Invalid> {
        AlbumChange::new(self.title.as_deref(), self.add_image_ids, self.remove_image_ids)
    }
}

/// A number outside `u32` is out of range too.
fn limit(limit: Option<i64>) -> Result<Limit, Invalid> {
    limit.map_or(Ok(Limit::default()), |limit| Limit::new(u32::try_from(limit).unwrap_or(u32::MAX)))
}

/// An empty list counts as absent.
fn channels(names: &[ChannelName]) -> Result<Option<Channels>, Invalid> {
    let channels: Vec<Channel> = names
        .iter()
        .map(|name| match name {
            ChannelName::Text => Channel::Text,
            ChannelName::Image => Channel::Image,
        })
        .collect();
    (!channels.is_empty()).then(|| Channels::new(&channels)).transpose()
}

#[cfg(test)]
mod tests;
