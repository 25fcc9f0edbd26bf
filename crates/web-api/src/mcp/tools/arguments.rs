//! What the tools take: JSON from a model, as values of `domain`.
//!
//! The names are those of the image API's parameters, and so are the rules, except that a number is a JSON number
//! and a list a JSON array.

use domain::{
    AlbumChange, AlbumTitle, Channel, Channels, Circle, DateRange, Invalid, Limit, ListQuery, Offset,
    QueryText, SearchQuery, distinct_image_ids,
};
use mcp_protocol::{ArgumentError, parse_arguments};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListImages {
    /// The most images to return.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    /// The earliest capture time, inclusive: ISO 8601, such as 2024-05-01 or 2024-05-01T18:30:00+02:00. Without a zone it is UTC; a date alone is its midnight UTC.
    start_date: Option<String>,
    /// The latest capture time, inclusive, written like startDate. To include a whole last day, give its end, such as 2024-05-31T23:59:59.999Z. For the next page: the capturedAt of the last image received.
    end_date: Option<String>,
    /// Of the circle's centre, in degrees north; goes together with longitude and radiusMeters.
    #[schemars(range(min = -90, max = 90))]
    latitude: Option<f64>,
    /// Of the circle's centre, in degrees east; goes together with latitude and radiusMeters.
    #[schemars(range(min = -180, max = 180))]
    longitude: Option<f64>,
    /// Of the circle, in metres; goes together with latitude and longitude.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 20_037_508))]
    radius_meters: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SearchImages {
    /// Plain words that say what to look for, such as: red car in the snow.
    #[schemars(length(max = 2000))]
    query: Option<String>,
    /// Only images of this album, by its id.
    #[schemars(length(max = 128))]
    album_id: Option<String>,
    /// Limits the search to some ways of matching: `text` is the description and the words read in an image, `image` is what it looks like. Needs query; cannot be combined with a circle or albumId. Leave it out to match in every way.
    channels: Option<Vec<ChannelName>>,
    /// Of the circle's centre, in degrees north; goes together with longitude and radiusMeters.
    #[schemars(range(min = -90, max = 90))]
    latitude: Option<f64>,
    /// Of the circle's centre, in degrees east; goes together with latitude and radiusMeters.
    #[schemars(range(min = -180, max = 180))]
    longitude: Option<f64>,
    /// Of the circle, in metres; goes together with latitude and longitude.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 20_037_508))]
    radius_meters: Option<f64>,
    /// The most images to return.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    /// The earliest capture time, inclusive: ISO 8601, such as 2024-05-01 or 2024-05-01T18:30:00+02:00. Without a zone it is UTC; a date alone is its midnight UTC.
    start_date: Option<String>,
    /// The latest capture time, inclusive, written like startDate. To include a whole last day, give its end, such as 2024-05-31T23:59:59.999Z.
    end_date: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShowImages {
    /// The ids of the images to show, in this order. Cannot be combined with query, albumId, a circle or channels.
    #[schemars(length(max = 100))]
    image_ids: Option<Vec<String>>,
    /// Instead of ids: plain words that say what to look for, such as: red car in the snow.
    #[schemars(length(max = 2000))]
    query: Option<String>,
    /// Only images of this album, by its id.
    #[schemars(length(max = 128))]
    album_id: Option<String>,
    /// Limits the search to some ways of matching, as in search_images. Needs query; cannot be combined with a circle or albumId.
    channels: Option<Vec<ChannelName>>,
    /// Of the circle's centre, in degrees north; goes together with longitude and radiusMeters.
    #[schemars(range(min = -90, max = 90))]
    latitude: Option<f64>,
    /// Of the circle's centre, in degrees east; goes together with latitude and radiusMeters.
    #[schemars(range(min = -180, max = 180))]
    longitude: Option<f64>,
    /// Of the circle, in metres; goes together with latitude and longitude.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 20_037_508))]
    radius_meters: Option<f64>,
    /// The most images to show.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    /// The earliest capture time, inclusive: ISO 8601, such as 2024-05-01 or 2024-05-01T18:30:00+02:00.
    start_date: Option<String>,
    /// The latest capture time, inclusive, written like startDate. Without query, for the next page: the capturedAt of the last image shown.
    end_date: Option<String>,
}

/// What is to be shown.
pub(super) enum Shown {
    /// What a search finds.
    Found(SearchQuery),
    /// These images.
    These(Vec<String>),
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ChannelName {
    Text,
    Image,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetImage {
    /// The image's id, as list_images and search_images tell it.
    #[schemars(length(min = 1, max = 128))]
    pub(super) id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListAlbums {
    /// The most albums to return.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    /// How many albums to pass over.
    #[schemars(range(min = 0, max = 500), extend("default" = 0))]
    offset: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateAlbum {
    /// The album's title.
    #[schemars(length(min = 1, max = 100))]
    title: String,
    /// The ids of its first images.
    #[schemars(length(max = 100))]
    image_ids: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateAlbum {
    /// The album's id, as list_albums and create_album tell it.
    #[schemars(length(min = 1, max = 128))]
    pub(super) album_id: String,
    /// The new title.
    #[schemars(length(min = 1, max = 100))]
    title: Option<String>,
    /// The ids of images to add.
    #[schemars(length(max = 100))]
    add_image_ids: Option<Vec<String>>,
    /// The ids of images to remove.
    #[schemars(length(max = 100))]
    remove_image_ids: Option<Vec<String>>,
}

/// Reads the arguments of a tool. Null and blank ones count as absent, and white space around a text does not count.
/// Models also write `channels` as the image API has it, with commas.
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

impl TryFrom<ListImages> for ListQuery {
    type Error = Invalid;

    fn try_from(asked: ListImages) -> Result<Self, Invalid> {
        Ok(Self {
            limit: limit(asked.limit)?,
            range: DateRange::parse(asked.start_date.as_deref(), asked.end_date.as_deref())?,
            circle: Circle::from_parts(asked.latitude, asked.longitude, asked.radius_meters)?,
        })
    }
}

impl TryFrom<SearchImages> for SearchQuery {
    type Error = Invalid;

    fn try_from(asked: SearchImages) -> Result<Self, Invalid> {
        Self::new(
            asked.query.as_deref().map(QueryText::parse).transpose()?,
            channels(&asked.channels.unwrap_or_default())?,
            asked.album_id,
            Circle::from_parts(asked.latitude, asked.longitude, asked.radius_meters)?,
            DateRange::parse(asked.start_date.as_deref(), asked.end_date.as_deref())?,
            limit(asked.limit)?,
        )
    }
}

impl ShowImages {
    /// Dates and a limit beside ids do not matter, as long as they are some: models write them as they write defaults.
    pub(super) fn shown(self) -> Result<Shown, Invalid> {
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
        match self.image_ids.filter(|ids| !ids.is_empty()) {
            None if search.looks_for_nothing() => {
                Err(Invalid::new("imageIds", "is missing; give it, or query, or albumId, or a full circle"))
            }
            None => Ok(Shown::Found(search.try_into()?)),
            Some(ids) if search.looks_for_nothing() => {
                limit(search.limit)?;
                DateRange::parse(search.start_date.as_deref(), search.end_date.as_deref())?;
                Ok(Shown::These(distinct_image_ids(ids)?))
            }
            Some(_) => Err(Invalid::new(
                "imageIds",
                "cannot be combined with query, albumId, a circle or channels; give either ids or a search",
            )),
        }
    }
}

impl SearchImages {
    fn looks_for_nothing(&self) -> bool {
        let Self { query, album_id, channels, latitude, longitude, radius_meters, .. } = self;
        query.is_none()
            && album_id.is_none()
            && channels.as_ref().is_none_or(Vec::is_empty)
            && latitude.is_none()
            && longitude.is_none()
            && radius_meters.is_none()
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

/// A number that no `u32` holds is out of range too.
fn limit(limit: Option<i64>) -> Result<Limit, Invalid> {
    limit.map_or(Ok(Limit::default()), |limit| Limit::new(u32::try_from(limit).unwrap_or(u32::MAX)))
}

/// An empty list limits nothing, like a blank one.
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
