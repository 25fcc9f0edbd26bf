//! The change of a photo, as the image API and the tools of MCP take it.

use domain::{
    Correction, Invalid, Keywords, KeywordsEdit, MarksEdit, PhotoEdit, Position, Rating, TimeEdit, Timestamp,
    UtcOffset, Zone,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

/// A member of a JSON object that may be absent or null.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Member<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Member<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

impl<T> Member<T> {
    /// Null takes a correction back.
    fn correction<U>(
        self,
        read: impl FnOnce(T) -> Result<Correction<U>, Invalid>,
    ) -> Result<Correction<U>, Invalid> {
        match self {
            Self::Absent => Ok(Correction::Keep),
            Self::Null => Ok(Correction::Revert),
            Self::Value(value) => read(value),
        }
    }
}

/// New values for a photo. Null takes a change back: the photo then has the value of its file.
#[derive(Debug, Default, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schema(min_properties = 1)]
pub(crate) struct PhotoChange {
    /// Whether it is a favourite.
    #[schema(value_type = Option<bool>)]
    #[schemars(with = "Option<bool>")]
    #[serde(default)]
    favorite: Member<bool>,
    /// 1 to 5 stars.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 5)]
    #[schemars(with = "Option<i64>", range(min = 1, max = 5))]
    #[serde(default)]
    rating: Member<i64>,
    /// All keywords of the photo, at most 100 of at most 100 characters each.
    #[schema(value_type = Option<Vec<String>>, max_items = 100)]
    #[schemars(with = "Option<Vec<String>>", length(max = 100))]
    #[serde(default)]
    keywords: Member<Vec<String>>,
    /// Whether the timeline of the web hides it.
    #[schema(value_type = Option<bool>)]
    #[schemars(with = "Option<bool>")]
    #[serde(default)]
    archived: Member<bool>,
    /// The description. An empty one removes it.
    #[schema(value_type = Option<String>)]
    #[schemars(with = "Option<String>")]
    #[serde(default)]
    description: Member<String>,
    /// When it was taken, in ISO 8601. Without a time zone it is UTC.
    #[schema(value_type = Option<String>)]
    #[schemars(with = "Option<String>")]
    #[serde(default)]
    captured_at: Member<String>,
    /// Offset of the local time from UTC where it was taken, such as +03:00. It does not change capturedAt.
    #[schema(value_type = Option<String>)]
    #[schemars(with = "Option<String>")]
    #[serde(default)]
    utc_offset: Member<String>,
    /// Degrees north of the equator. Requires longitude.
    #[schema(value_type = Option<f64>, minimum = -90, maximum = 90)]
    #[schemars(with = "Option<f64>", range(min = -90, max = 90))]
    #[serde(default)]
    latitude: Member<f64>,
    /// Degrees east of Greenwich. Requires latitude.
    #[schema(value_type = Option<f64>, minimum = -180, maximum = 180)]
    #[schemars(with = "Option<f64>", range(min = -180, max = 180))]
    #[serde(default)]
    longitude: Member<f64>,
}

impl PhotoChange {
    /// The change as an edit; empty if nothing is to change.
    ///
    /// # Errors
    /// [`Invalid`] naming the first field with an invalid value.
    pub(crate) fn into_edit(self) -> Result<PhotoEdit, Invalid> {
        let stars = |stars: i64| Rating::new(u8::try_from(stars).unwrap_or(u8::MAX)).map(Correction::Set);
        let keywords = match self.keywords {
            Member::Absent => KeywordsEdit::Keep,
            Member::Null => KeywordsEdit::Revert,
            Member::Value(words) => KeywordsEdit::Set(Keywords::parse(words.iter().map(String::as_str))?),
        };
        Ok(PhotoEdit {
            marks: MarksEdit {
                favorite: self.favorite.correction(|is| Ok(Correction::Set(is)))?,
                rating: self.rating.correction(stars)?,
                keywords,
                archived: self.archived.correction(|is| Ok(Correction::Set(is)))?,
            },
            description: self.description.correction(|text| Ok(Correction::description(&text)))?,
            time: time(self.captured_at, self.utc_offset)?,
            position: position(self.latitude, self.longitude)?,
        })
    }
}

fn time(at: Member<String>, offset: Member<String>) -> Result<Option<TimeEdit>, Invalid> {
    if at == Member::Absent && offset == Member::Absent {
        return Ok(None);
    }
    let moment = |text: String| {
        let at = Timestamp::parse_iso(text.trim()).map_err(|reason| Invalid::new("capturedAt", reason))?;
        Ok(Correction::Set(at))
    };
    let offset_of = |text: String| match Zone::parse(&text) {
        Ok(Zone::Offset(offset)) => Ok(Correction::Set(offset)),
        _ => Err(Invalid::new("utcOffset", "must be an offset from UTC such as +03:00")),
    };
    let (at, offset): (_, Correction<UtcOffset>) = (at.correction(moment)?, offset.correction(offset_of)?);
    Ok(Some(TimeEdit::Moment { at, offset }))
}

fn position(latitude: Member<f64>, longitude: Member<f64>) -> Result<Correction<Position>, Invalid> {
    match (latitude, longitude) {
        (Member::Absent, Member::Absent) => Ok(Correction::Keep),
        (Member::Null, Member::Null) => Ok(Correction::Revert),
        (Member::Value(latitude), Member::Value(longitude)) => {
            Position::new(latitude, longitude).map(Correction::Set)
        }
        (Member::Absent, _) => Err(Invalid::new("latitude", "is missing; give it together with longitude")),
        (_, Member::Absent) => Err(Invalid::new("longitude", "is missing; give it together with latitude")),
        _ => Err(Invalid::new("latitude", "must be null together with longitude, or a number as it is")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_wire::parse_arguments;
    use serde_json::{Value, json};

    fn parse(body: &Value) -> Result<PhotoEdit, String> {
        let change: PhotoChange =
            parse_arguments(body.as_object().unwrap()).map_err(|error| error.to_string())?;
        change.into_edit().map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn absent_null_and_given_members_differ() {
        let edit =
            parse(&json!({"favorite": true, "rating": null, "keywords": [], "description": ""})).unwrap();
        let marks = MarksEdit {
            favorite: Correction::Set(true),
            rating: Correction::Revert,
            keywords: KeywordsEdit::Set(Keywords::default()),
            archived: Correction::Keep,
        };
        assert_eq!(edit, PhotoEdit { marks, description: Correction::Clear, ..PhotoEdit::default() });
        assert!(parse(&json!({})).unwrap().is_empty());
        let edit = parse(&json!({"capturedAt": null, "latitude": null, "longitude": null})).unwrap();
        let time = Some(TimeEdit::Moment { at: Correction::Revert, offset: Correction::Keep });
        assert_eq!(edit, PhotoEdit { time, position: Correction::Revert, ..PhotoEdit::default() });
    }

    #[test]
    fn a_bad_value_names_its_member() {
        for (body, field) in [
            (json!({"favorite": "yes"}), "favorite"),
            (json!({"favorite": 1}), "favorite"),
            (json!({"rating": 0}), "rating"),
            (json!({"rating": 6}), "rating"),
            (json!({"rating": 2.5}), "rating"),
            (json!({"rating": "3"}), "rating"),
            (json!({"keywords": "sea"}), "keywords"),
            (json!({"keywords": [""]}), "keywords"),
            (json!({"keywords": ["x".repeat(101)]}), "keywords"),
            (json!({"keywords": vec!["x"; 3], "archived": 0}), "archived"),
            (json!({"description": 5}), "description"),
            (json!({"capturedAt": "yesterday"}), "capturedAt"),
            (json!({"utcOffset": "Europe/Lisbon"}), "utcOffset"),
            (json!({"utcOffset": "+25:00"}), "utcOffset"),
            (json!({"latitude": 91, "longitude": 0}), "latitude"),
            (json!({"latitude": 1}), "longitude"),
            (json!({"longitude": 1}), "latitude"),
            (json!({"latitude": null, "longitude": 1}), "latitude"),
        ] {
            let error = parse(&body).unwrap_err();
            assert!(error.starts_with(field), "{body}: {error}");
        }
    }
}
