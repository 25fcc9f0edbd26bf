//! Reads and writes the corrections of single images.

use std::collections::HashMap;

use diesel::{OptionalExtension, prelude::*};
use domain::{EditedField, Position};
use storage::EditableImage;

use super::values::{CaptureColumns, EditRow, Edited, Edits, ImageRow, TimeEdited};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        capture_time::{free_capture_time, is_free},
        image_change::change_indexed,
        marks, months,
        schema::{image_edits, images},
    },
};

/// An image with its corrections.
pub(super) struct EditedImage {
    pub(super) row: ImageRow,
    pub(super) present: EditableImage,
    pub(super) edits: Option<Edits>,
}

/// A ready image.
pub(super) fn image(c: &mut SqlConnection, seq: i64) -> Result<EditedImage, SqlError> {
    let row: ImageRow = images::table.find(seq).select(ImageRow::as_select()).get_result(c)?;
    let present = row.read()?;
    let edits = edits(c, seq, &present)?;
    Ok(EditedImage { row, present, edits })
}

/// The corrections of an image. The source of the capture time in `of_file` is that of `file`.
fn edits(c: &mut SqlConnection, seq: i64, file: &EditableImage) -> Result<Option<Edits>, SqlError> {
    let row: Option<EditRow> =
        image_edits::table.find(seq).select(EditRow::as_select()).get_result(c).optional()?;
    row.map(|row| row.read(file.capture.source)).transpose()
}

/// Ready images in the order of the rows.
pub(super) fn with_edits(c: &mut SqlConnection, rows: Vec<ImageRow>) -> Result<Vec<EditedImage>, SqlError> {
    let edits: Vec<EditRow> = image_edits::table
        .filter(image_edits::image_seq.eq_any(rows.iter().map(|row| row.seq)))
        .select(EditRow::as_select())
        .load(c)?;
    let mut edits: HashMap<i64, EditRow> = edits.into_iter().map(|row| (row.image_seq, row)).collect();
    rows.into_iter()
        .map(|row| {
            let present = row.read()?;
            let edits = edits.remove(&row.seq).map(|edits| edits.read(present.capture.source)).transpose()?;
            Ok(EditedImage { row, present, edits })
        })
        .collect()
}

/// Gives an image new values, and stores its corrections. `preferred_ms` becomes its unique capture time, if that is
/// free.
pub(super) fn replace(
    c: &mut SqlConnection,
    image: &EditedImage,
    values: &EditableImage,
    preferred_ms: Option<i64>,
    edits: &Edits,
) -> Result<(), SqlError> {
    let (seq, account) = (image.row.seq, image.row.account_id);
    let (before, after) = (&image.present.marks, &values.marks);
    let with_present_marks = EditableImage { marks: before.clone(), ..values.clone() };
    if with_present_marks != image.present || before.keywords != after.keywords {
        change_indexed(c, seq, |c| {
            // This runs before the row gets the new time, because the search for a free time reads all images with the
            // same requested time.
            let captured_at_ms = match (image.row.captured_at_ms, preferred_ms) {
                (Some(present), _) if values.capture.at == image.present.capture.at => present,
                (_, Some(preferred)) if is_free(c, account, seq, preferred)? => preferred,
                _ => free_capture_time(c, account, seq, values.capture.at)?,
            };
            diesel::update(images::table.find(seq))
                .set((
                    images::captured_at_ms.eq(captured_at_ms),
                    CaptureColumns::from(&values.capture),
                    images::latitude.eq(values.position.map(Position::latitude)),
                    images::longitude.eq(values.position.map(Position::longitude)),
                    images::place.eq(values.place.as_deref()),
                    images::description.eq(values.description.as_deref()),
                ))
                .execute(c)?;
            let marked = marks::MarkedImage { captured_at_ms: Some(captured_at_ms), ..image.row.as_marked() };
            marks::replace(c, marked, before, after)
        })?;
    } else {
        let moves = image.row.live && before.archived != after.archived;
        if moves {
            months::remove(c, &[seq])?;
        }
        marks::replace(c, image.row.as_marked(), before, after)?;
        if moves {
            months::add(c, &[seq])?;
        }
    }
    store(c, seq, edits)
}

/// Stores the corrections of an image. Deletes their row if nothing is corrected.
fn store(c: &mut SqlConnection, seq: i64, edits: &Edits) -> Result<(), SqlError> {
    if edits.edited == Edited::default() {
        diesel::delete(image_edits::table.find(seq)).execute(c)?;
        return Ok(());
    }
    let row = EditRow::new(seq, edits)?;
    diesel::insert_into(image_edits::table)
        .values(&row)
        .on_conflict(image_edits::image_seq)
        .do_update()
        .set(&row)
        .execute(c)?;
    Ok(())
}

/// Stores the values that the file of an image has now. Returns the values of the image with its corrections.
pub(crate) fn with_corrections(
    c: &mut SqlConnection,
    seq: i64,
    file: EditableImage,
) -> Result<EditableImage, SqlError> {
    let Some(mut edits) = edits(c, seq, &file)? else { return Ok(file) };
    let row: ImageRow = images::table.find(seq).select(ImageRow::as_select()).get_result(c)?;
    let present = row.read()?;
    let mut values = file.clone();
    if edits.edited.description {
        values.description = present.description;
    }
    if edits.edited.place {
        (values.position, values.place) = (present.position, present.place);
    }
    if edits.edited.time.is_some() {
        values.capture = domain::CaptureTime { source: file.capture.source, ..present.capture };
    }
    for field in &edits.edited.marks {
        let (shown, set) = (&mut values.marks, &present.marks);
        match field {
            EditedField::Favorite => shown.favorite = set.favorite,
            EditedField::Rating => shown.rating = set.rating,
            EditedField::Keywords => shown.keywords.clone_from(&set.keywords),
            EditedField::Archived => shown.archived = set.archived,
            EditedField::Description | EditedField::Time | EditedField::Place => {}
        }
    }
    edits.of_file = file;
    store(c, seq, &edits)?;
    Ok(values)
}

impl Edits {
    /// No corrections, for an image whose file has these values.
    pub(super) fn none(file: &EditableImage) -> Self {
        Self { edited: Edited::default(), of_file: file.clone() }
    }

    /// Records which of the values differ from those of the file.
    pub(super) fn compare(&mut self, values: &EditableImage, time: TimeEdited) {
        let (marks, file) = (&values.marks, &self.of_file.marks);
        let differs = |field: &EditedField| match field {
            EditedField::Favorite => marks.favorite != file.favorite,
            EditedField::Rating => marks.rating != file.rating,
            EditedField::Keywords => marks.keywords != file.keywords,
            EditedField::Archived => marks.archived != file.archived,
            EditedField::Description | EditedField::Time | EditedField::Place => false,
        };
        self.edited = Edited {
            marks: EditedField::ALL.into_iter().filter(differs).collect(),
            description: values.description != self.of_file.description,
            place: (values.position, &values.place) != (self.of_file.position, &self.of_file.place),
            time: (values.capture != self.of_file.capture).then_some(time),
        };
    }
}
