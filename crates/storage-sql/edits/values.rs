//! The corrected fields of an image in their two tables, and as JSON.

use diesel::prelude::*;
use domain::{CaptureSource, CaptureTime, EditedField, Keywords, Position, Rating};
use serde::{Deserialize, Serialize};
use storage::EditableImage;

use crate::{
    error::SqlError,
    sql::{
        marks::{self, MarkedImage, MarksOfImage},
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
    pub(super) live: bool,
    #[diesel(select_expression = MarksOfImage, select_expression_type = MarksOfImage)]
    marks: Option<String>,
}

impl ImageRow {
    pub(super) const fn as_marked(&self) -> MarkedImage {
        MarkedImage {
            seq: self.seq,
            account: self.account_id,
            captured_at_ms: self.captured_at_ms,
            live: self.live,
        }
    }

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
            marks: marks::read(reader, self.marks.as_deref())?,
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Edited {
    pub(super) description: bool,
    pub(super) place: bool,
    pub(super) time: Option<TimeEdited>,
    /// The marks that differ.
    pub(super) marks: Vec<EditedField>,
}

/// The corrections of an image.
pub(super) struct Edits {
    pub(super) edited: Edited,
    /// The values of its file.
    pub(super) of_file: EditableImage,
}

/// What an edit changed of an image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Changes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<Changed<Option<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<Changed<(Option<Position>, Option<String>)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<TimeChanged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) favorite: Option<Changed<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rating: Option<Changed<Option<Rating>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) keywords: Option<Changed<Keywords>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) archived: Option<Changed<bool>>,
}

impl Changes {
    pub(super) fn json(&self) -> Result<String, SqlError> {
        serde_json::to_string(self)
            .map_err(|error| SqlError::Refused(format!("changes of an image: {error}")))
    }

    /// The changed fields.
    pub(super) fn fields(&self) -> Vec<EditedField> {
        let Self { description, place, time, favorite, rating, keywords, archived } = self;
        let changed = |field: &EditedField| match field {
            EditedField::Description => description.is_some(),
            EditedField::Place => place.is_some(),
            EditedField::Time => time.is_some(),
            EditedField::Favorite => favorite.is_some(),
            EditedField::Rating => rating.is_some(),
            EditedField::Keywords => keywords.is_some(),
            EditedField::Archived => archived.is_some(),
        };
        EditedField::ALL.into_iter().filter(changed).collect()
    }
}

/// A field before and after an edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Changed<T> {
    /// Whether the value before was a correction.
    edited: bool,
    before: T,
    after: T,
}

impl<T: Clone + PartialEq> Changed<T> {
    /// Records that an edit replaces `before` by `after`. If the edit has changed the field already, the first value stays
    /// the one before.
    pub(super) fn record(changed: &mut Option<Self>, edited: bool, before: &T, after: &T) {
        if let Some(changed) = changed {
            changed.after = after.clone();
        } else if before != after {
            *changed = Some(Self { edited, before: before.clone(), after: after.clone() });
        }
    }

    /// Sets a field back and forgets its change, unless it has changed again since. A field that was not corrected before gets
    /// the value that the file has now.
    pub(super) fn undo(changed: &mut Option<Self>, value: &mut T, of_file: &T) {
        if let Some(changed) = changed.take_if(|changed| changed.after == *value) {
            *value = if changed.edited { changed.before } else { of_file.clone() };
        }
    }
}

/// A capture time before and after an edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TimeChanged {
    pub(super) edited: Option<TimeEdited>,
    /// The unique capture time before.
    pub(super) captured_at_ms: Option<i64>,
    pub(super) before: CaptureTime,
    pub(super) after: CaptureTime,
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
    marks_edited: String,
    file_description: Option<String>,
    file_latitude: Option<f64>,
    file_longitude: Option<f64>,
    file_place: Option<String>,
    file_captured_at_ms: i64,
    file_capture_wall: Option<String>,
    file_capture_offset_min: Option<i64>,
    file_marks: String,
}

impl EditRow {
    pub(super) fn new(seq: i64, edits: &Edits) -> Result<Self, SqlError> {
        let file = &edits.of_file;
        let capture = CaptureColumns::from(&file.capture);
        Ok(Self {
            image_seq: seq,
            description_edited: edits.edited.description,
            place_edited: edits.edited.place,
            time_edited: edits.edited.time.map(|edited| edited.name().to_owned()),
            marks_edited: field_names(&edits.edited.marks),
            file_description: file.description.clone(),
            file_latitude: file.position.map(Position::latitude),
            file_longitude: file.position.map(Position::longitude),
            file_place: file.place.clone(),
            file_captured_at_ms: capture.requested_captured_at_ms,
            file_capture_wall: capture.capture_wall,
            file_capture_offset_min: capture.capture_offset_min,
            file_marks: marks::json(&file.marks)?,
        })
    }

    /// The corrections. `source` becomes the source of the capture time in `of_file`.
    pub(super) fn read(self, source: CaptureSource) -> Result<Edits, SqlError> {
        let reader = RowReader::new("image_edits", &self.image_seq);
        let time = self.time_edited.as_deref();
        let time =
            time.map(|name| reader.required("time_edited", TimeEdited::from_name(name))).transpose()?;
        let wall = self.file_capture_wall.as_deref();
        Ok(Edits {
            edited: Edited {
                description: self.description_edited,
                place: self.place_edited,
                time,
                marks: fields_named(reader, &self.marks_edited)?,
            },
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
                marks: marks::read(reader, Some(&self.file_marks))?,
            },
        })
    }
}

/// The names of fields, separated by commas.
pub(super) fn field_names(fields: &[EditedField]) -> String {
    fields.iter().map(|field| field.name()).collect::<Vec<_>>().join(",")
}

/// Reads [`field_names`].
pub(super) fn fields_named(reader: RowReader<'_>, names: &str) -> Result<Vec<EditedField>, SqlError> {
    let names = names.split(',').filter(|name| !name.is_empty());
    names.map(|name| reader.required("fields", EditedField::from_name(name))).collect()
}
