use diesel::{OptionalExtension, prelude::*};
use domain::{CaptureTime, EditId};
use storage::{UndoCursor, UndoStep, Viewer};

use super::{
    rows::{EditedImage, image, replace},
    values::{Changed, Changes, TimeEdited},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{edited_images, edits, images},
        value::RowReader,
    },
};

/// Undoes an edit of up to `max` images.
pub(super) fn undo(
    c: &mut SqlConnection,
    viewer: Viewer,
    edit: &EditId,
    cursor: UndoCursor,
    max: u32,
) -> Result<UndoStep, SqlError> {
    let done = UndoStep { undone: 0, next: None };
    let seq: Option<i64> = edits::table
        .filter(edits::account_id.eq(viewer.account.0))
        .filter(edits::id.eq(edit.as_str()))
        .select(edits::seq)
        .get_result(c)
        .optional()?;
    let Some(seq) = seq else { return Ok(done) };
    let rows: Vec<(i64, String)> = edited_images::table
        .inner_join(images::table)
        .filter(edited_images::edit_seq.eq(seq))
        .filter(edited_images::image_seq.gt(cursor.0))
        .filter(images::state.eq("ready"))
        .order(edited_images::image_seq)
        .limit(i64::from(max))
        .select((edited_images::image_seq, edited_images::changes))
        .load(c)?;
    let last = rows.last().map(|(image, _)| UndoCursor(*image));
    let next = last.filter(|_| u32::try_from(rows.len()).is_ok_and(|number| number >= max));
    let mut undone = 0;
    for (image_seq, json) in rows {
        let reader = RowReader::new("edited_images", &image_seq);
        let mut changes: Changes = reader.required("changes", serde_json::from_str(&json).ok())?;
        let image = image(c, image_seq)?;
        undone += u32::from(undo_image(c, image, &mut changes)?);
        let row = edited_images::table.find((seq, image_seq));
        if changes == Changes::default() {
            diesel::delete(row).execute(c)?;
        } else {
            diesel::update(row).set(edited_images::changes.eq(changes.json()?)).execute(c)?;
        }
    }
    Ok(UndoStep { undone, next })
}

/// Returns whether anything changed. Leaves in `changes` what was changed again later.
fn undo_image(
    c: &mut SqlConnection,
    mut image: EditedImage,
    changes: &mut Changes,
) -> Result<bool, SqlError> {
    let mut edits = image.edits.take().unwrap_or_else(|| super::values::Edits::none(&image.present));
    let (mut values, file) = (image.present.clone(), &edits.of_file);
    Changed::undo(&mut changes.description, &mut values.description, &file.description);
    let mut place = (values.position, values.place.take());
    Changed::undo(&mut changes.place, &mut place, &(file.position, file.place.clone()));
    (values.position, values.place) = place;
    let (marks, file_marks) = (&mut values.marks, &file.marks);
    Changed::undo(&mut changes.favorite, &mut marks.favorite, &file_marks.favorite);
    Changed::undo(&mut changes.rating, &mut marks.rating, &file_marks.rating);
    Changed::undo(&mut changes.keywords, &mut marks.keywords, &file_marks.keywords);
    Changed::undo(&mut changes.archived, &mut marks.archived, &file_marks.archived);
    let mut preferred_ms = None;
    let mut time_edited = edits.edited.time.unwrap_or(TimeEdited::Own);
    let source = values.capture.source;
    let is_unchanged = |after: CaptureTime| CaptureTime { source, ..after } == values.capture;
    if let Some(time) = changes.time.take_if(|time| is_unchanged(time.after)) {
        let capture = if time.edited.is_some() { time.before } else { file.capture };
        preferred_ms = time.captured_at_ms.filter(|_| capture.at == time.before.at);
        values.capture = CaptureTime { source, ..capture };
        time_edited = time.edited.unwrap_or(time_edited);
    }
    if values == image.present {
        return Ok(false);
    }
    edits.compare(&values, time_edited);
    replace(c, &image, &values, preferred_ms, &edits)?;
    Ok(true)
}
