//! Filters by names and marks, which the tools that list and search images share.

use domain::{DateRange, Filter, Invalid, Keyword, Media, Month};
use library::{FoundPlaces, NameKind, PLACE_KINDS};
use mcp_wire::server::ToolCall;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{calls::ToolContext, questions::choose_album, tool_error::ToolError};

/// Maximum number of places or cameras that the payload names.
const MAX_NAMED: usize = 10;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NamedFilters {
    /// Title of an album. Only images in this album are returned.
    #[schemars(length(max = 100))]
    album: Option<String>,
    /// City, region or country where images were taken, in any language: Lisbon, Bavaria, Deutschland, or Munich, Bavaria.
    #[schemars(length(max = 200))]
    place: Option<String>,
    /// Words of the make and the model of the camera, such as canon r5.
    #[schemars(length(max = 200))]
    camera: Option<String>,
    /// A keyword of the images, in any letter case.
    #[schemars(length(max = 100))]
    keyword: Option<String>,
    /// Names of people in the images, separated by commas. No person has a name yet.
    #[schemars(length(max = 500))]
    people: Option<String>,
    /// Month or year in which images were taken by the local clock, such as 2024-06 or 2024.
    #[schemars(length(max = 7))]
    month: Option<String>,
    /// true for favourites only, false for all others.
    favorite: Option<bool>,
    /// true for archived images only, false for all others.
    archived: Option<bool>,
    /// What to return: photo (the default), video, or all.
    media: Option<String>,
}

/// How names in the arguments were understood.
#[derive(Debug, Clone, Default, Serialize, JsonSchema, PartialEq, Eq)]
pub(super) struct Interpreted {
    /// The album.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "InterpretedAlbum")]
    album: Option<InterpretedAlbum>,
    /// The places, at most 10 of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    place: Vec<String>,
    /// The regions, if a region was named, at most 10 of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    region: Vec<String>,
    /// The country, if one was named alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    country: Vec<String>,
    /// The cameras, at most 10 of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    camera: Vec<String>,
    /// The keyword as it is written in the library.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    keyword: Option<String>,
    /// The first and the last day, by the local clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    month: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema, PartialEq, Eq)]
struct InterpretedAlbum {
    id: String,
    title: String,
}

impl NamedFilters {
    pub(super) fn is_empty(&self) -> bool {
        let Self { album, place, camera, keyword, people, month, favorite, archived, media } = self;
        [album, place, camera, keyword, people, month, media].iter().all(|filter| filter.is_none())
            && favorite.is_none()
            && archived.is_none()
    }

    /// Adds these filters to another one, and says how names were understood; `None` if there are no names.
    pub(super) async fn add_to(
        self,
        filter: &mut Filter,
        call: &ToolCall<ToolContext>,
    ) -> Result<Option<Interpreted>, ToolError> {
        let ToolContext { api, caller, .. } = &call.context;
        let catalogue = &api.library.catalogue;
        let mut interpreted = Interpreted::default();
        filter.favorite = self.favorite;
        filter.archived = self.archived;
        filter.people = self.people;
        filter.media = self.media.as_deref().map(Media::parse).transpose()?;
        if let Some(month) = &self.month {
            let wall = wall_range(month)?;
            interpreted.month =
                Some(format!("{} to {}", wall.start().wall(0).date(), wall.end().wall(0).date()));
            filter.wall = Some(wall);
        }
        if let Some(title) = &self.album {
            let (matching, near) = catalogue.find_albums(caller, title).await?;
            let album = match matching.as_slice() {
                [] => return Err(ToolError::NoSuchName { argument: "album", near }),
                [album] => album.clone(),
                several => choose_album(call, several)?.ok_or_else(|| ToolError::several_albums(several))?,
            };
            filter.album = Some(album.id.clone());
            interpreted.album = Some(InterpretedAlbum { id: album.id.to_string(), title: album.title });
        }
        let no_such = async |kinds: &[NameKind], argument, written: &str| match catalogue
            .near_names(caller, kinds, written)
            .await
        {
            Ok(near) => ToolError::NoSuchName { argument, near },
            Err(error) => error.into(),
        };
        if let Some(place) = &self.place {
            let found = catalogue.find_places(caller, place).await?;
            let named = |names: &[String]| names.iter().take(MAX_NAMED).cloned().collect();
            match &found {
                FoundPlaces::Cities { cities, regions } => {
                    (interpreted.place, interpreted.region) = (named(cities), named(regions));
                }
                FoundPlaces::Regions(regions) => interpreted.region = named(regions),
                FoundPlaces::Countries(countries) => interpreted.country = named(countries),
                FoundPlaces::Nothing => return Err(no_such(&PLACE_KINDS, "place", place).await),
            }
            found.restrict(filter);
        }
        if let Some(camera) = &self.camera {
            let cameras = catalogue.find_cameras(caller, camera).await?;
            if cameras.is_empty() {
                return Err(no_such(&[NameKind::Camera], "camera", camera).await);
            }
            interpreted.camera = cameras.iter().take(MAX_NAMED).cloned().collect();
            filter.cameras = Some(cameras);
        }
        if let Some(keyword) = &self.keyword {
            let names = catalogue.find_keywords(caller, keyword).await?;
            if names.is_empty() {
                return Err(no_such(&[NameKind::Keyword], "keyword", keyword).await);
            }
            // The same letters with the same accents come first.
            let key = Keyword::parse(keyword).ok().map(|keyword| keyword.key());
            let is_exact = |name: &&String| Some(name.to_lowercase()) == key;
            let keyword = names.iter().find(is_exact).or(names.first()).cloned();
            filter.keyword = keyword.as_deref().map(Keyword::parse).transpose()?;
            interpreted.keyword = keyword;
        }
        Ok((interpreted != Interpreted::default()).then_some(interpreted))
    }
}

/// The times on the clock of a month such as `2024-06`, or of a year.
fn wall_range(text: &str) -> Result<DateRange, Invalid> {
    let invalid = || Invalid::new("month", "must be a month such as 2024-06, or a year such as 2024");
    let number = |digits: &str, length: usize| {
        let is_number = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u32>().ok().filter(|_| is_number).ok_or_else(invalid)
    };
    let (first, last) = match text.split_once('-') {
        None => (number(text, 4)? * 100 + 1, number(text, 4)? * 100 + 12),
        Some((year, month)) => {
            let month = number(year, 4)? * 100 + number(month, 2)?;
            (month, month)
        }
    };
    let first = Month::from_number(first).ok_or_else(invalid)?.range().start();
    let last = Month::from_number(last).ok_or_else(invalid)?.range().end();
    DateRange::new(Some(first), Some(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_years_are_ranges_of_the_clock() {
        let check = |text: &str, first: &str, last: &str| {
            let range = wall_range(text).unwrap();
            let days = (range.start().wall(0).date().to_string(), range.end().wall(0).date().to_string());
            assert_eq!(days, (first.to_owned(), last.to_owned()), "{text}");
        };
        check("2024-06", "2024-06-01", "2024-06-30");
        check("2024-02", "2024-02-01", "2024-02-29");
        check("2024", "2024-01-01", "2024-12-31");
        for bad in [
            "",
            "2024-13",
            "2024-00",
            "202406",
            "2024-6",
            "June",
            "0000",
            "2024-06-01",
            "+024-06",
            "+024",
            "20-4",
        ] {
            assert_eq!(wall_range(bad).unwrap_err().field, "month", "{bad}");
        }
    }
}
