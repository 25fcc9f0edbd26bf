//! The corrected fields of an image in their two tables, and as JSON.

use diesel::prelude::*;
use domain::{CaptureSource, CaptureTime, Position};
use serde::{Deserialize, Serialize};
use storage::EditableImage;

use crate::{
    error::SqlError,
    sql::{
        schema::{image_edits, images},
        value::RowReader,
    },
};

/// The fields of a ready image.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
pub(super) struct ImageRow {
    pub(super) seq: i64,
    pub(super) account_id: i64,
    pub(super) id: String,
    pub(super) captured_at_ms: Option<i64>,
    requested_captured_at_ms: Option<i64>,
    capture_wall: Option<String>,
    capture_offset_min: Option<i64>,
    capture_source: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    place: Option<String>,
    description: Option<String>,
}

impl ImageRow {
    pub(super) fn read(&self) -> Result<EditableImage, SqlError> {
        let reader = RowReader::new("images", &self.seq);
        let at = reader.required("requested_captured_at_ms", self.requested_captured_at_ms)?;
        let source = self.capture_source.as_deref().and_then(CaptureSource::from_name);
        let source = reader.required("capture_source", source)?;
        Ok(EditableImage {
            capture: capture(reader, at, self.capture_wall.as_deref(), self.capture_offset_min, source)?,
            position: reader.position(self.latitude, self.longitude)?,
            place: self.place.clone(),
            description: self.description.clone(),
        })
    }
}

fn capture(
    reader: RowReader,
    at_ms: i64,
    wall: Option<&str>,
    offset_min: Option<i64>,
    source: CaptureSource,
) -> Result<CaptureTime, SqlError> {
    let wall = wall.map(|wall| reader.required("capture_wall", wall.parse().ok())).transpose()?;
    let offset = reader.utc_offset("capture_offset_min", offset_min)?;
    Ok(CaptureTime {
        at: reader.timestamp("requested_captured_at_ms", at_ms)?,
        wall,
        offset_minutes: offset.map(domain::UtcOffset::minutes),
        source,
    })
}

/// The columns of the capture time of an image, apart from the unique capture time.
#[derive(AsChangeset)]
#[diesel(table_name = images, treat_none_as_null = true)]
pub(crate) struct CaptureColumns {
    requested_captured_at_ms: i64,
    capture_wall: Option<String>,
    capture_offset_min: Option<i64>,
    capture_source: &'static str,
}

impl From<&CaptureTime> for CaptureColumns {
    fn from(capture: &CaptureTime) -> Self {
        Self {
            requested_captured_at_ms: capture.at.millis(),
            capture_wall: capture.wall.map(|wall| wall.to_string()),
            capture_offset_min: capture.offset_minutes.map(i64::from),
            capture_source: capture.source.as_str(),
        }
    }
}

/// Why a capture time differs from that of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TimeEdited {
    /// It was corrected.
    Own,
    /// It has the zone of a corrected position.
    Place,
}

impl TimeEdited {
    const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Place => "place",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Own, Self::Place].into_iter().find(|edited| edited.name() == name)
    }
}

/// Which fields differ from the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Edited {
    pub(super) description: bool,
    pub(super) place: bool,
    pub(super) time: Option<TimeEdited>,
}

/// The corrections of an image.
pub(super) struct Edits {
    pub(super) edited: Edited,
    /// The edit that changed the time last.
    pub(super) time_edit: Option<String>,
    /// The last edit, with the values that it replaced.
    pub(super) last: Option<(String, Previous)>,
    /// The values of its file.
    pub(super) of_file: EditableImage,
}

/// The values before an edit, for each field that the edit changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Previous {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<PreviousDescription>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<PreviousPlace>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<PreviousTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PreviousDescription {
    pub(super) edited: bool,
    pub(super) value: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PreviousPlace {
    pub(super) edited: bool,
    pub(super) position: Option<Position>,
    pub(super) place: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PreviousTime {
    pub(super) edited: Option<TimeEdited>,
    pub(super) edit: Option<String>,
    /// The unique capture time.
    pub(super) captured_at_ms: Option<i64>,
    pub(super) value: CaptureTime,
}

/// A row of the corrections.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = image_edits, check_for_backend(crate::Backend))]
#[diesel(treat_none_as_null = true, treat_none_as_default_value = false, primary_key(image_seq))]
pub(super) struct EditRow {
    pub(super) image_seq: i64,
    description_edited: bool,
    place_edited: bool,
    time_edited: Option<String>,
    time_edit: Option<String>,
    last_edit: Option<String>,
    previous: Option<String>,
    file_description: Option<String>,
    file_latitude: Option<f64>,
    file_longitude: Option<f64>,
    file_place: Option<String>,
    file_captured_at_ms: i64,
    file_capture_wall: Option<String>,
    file_capture_offset_min: Option<i64>,
}

impl EditRow {
    pub(super) fn new(seq: i64, edits: &Edits) -> Result<Self, SqlError> {
        let (last_edit, previous) = match &edits.last {
            Some((edit, previous)) => {
                let json = serde_json::to_string(previous)
                    .map_err(|error| SqlError::Refused(format!("values before an edit: {error}")))?;
                (Some(edit.clone()), Some(json))
            }
            None => (None, None),
        };
        let file = &edits.of_file;
        let capture = CaptureColumns::from(&file.capture);
        Ok(Self {
            image_seq: seq,
            description_edited: edits.edited.description,
            place_edited: edits.edited.place,
            time_edited: edits.edited.time.map(|edited| edited.name().to_owned()),
            time_edit: edits.time_edit.clone(),
            last_edit,
            previous,
            file_description: file.description.clone(),
            file_latitude: file.position.map(Position::latitude),
            file_longitude: file.position.map(Position::longitude),
            file_place: file.place.clone(),
            file_captured_at_ms: capture.requested_captured_at_ms,
            file_capture_wall: capture.capture_wall,
            file_capture_offset_min: capture.capture_offset_min,
        })
    }

    /// The corrections. `source` becomes the source of the capture time in `of_file`.
    pub(super) fn read(self, source: CaptureSource) -> Result<Edits, SqlError> {
        let reader = RowReader::new("image_edits", &self.image_seq);
        let time = self.time_edited.as_deref();
        let time =
            time.map(|name| reader.required("time_edited", TimeEdited::from_name(name))).transpose()?;
        let last = match (self.last_edit, self.previous) {
            (Some(edit), Some(json)) => {
                Some((edit, reader.required("previous", serde_json::from_str(&json).ok())?))
            }
            _ => None,
        };
        let wall = self.file_capture_wall.as_deref();
        Ok(Edits {
            edited: Edited { description: self.description_edited, place: self.place_edited, time },
            time_edit: self.time_edit,
            last,
            of_file: EditableImage {
                capture: capture(
                    reader,
                    self.file_captured_at_ms,
                    wall,
                    self.file_capture_offset_min,
                    source,
                )?,
                position: reader.position(self.file_latitude, self.file_longitude)?,
                place: self.file_place,
                description: self.file_description,
            },
        })
    }
}
