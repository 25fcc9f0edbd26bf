use std::collections::HashMap;

use diesel::prelude::*;
use domain::{CaptureSource, CaptureTime, EditId, EditedField, ImageId};
use storage::{EditableImage, ImageEdits, Lookup, Viewer};

use super::{
    rows::{EditedImage, image, replace},
    values::{EditRow, Edits, Previous, TimeEdited},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::resolve_image,
        schema::{image_edits, images},
        value::RowReader,
    },
};

fn visible(c: &mut SqlConnection, viewer: Viewer, id: &ImageId) -> Result<Lookup<EditedImage>, SqlError> {
    Ok(match resolve_image(c, viewer, id)? {
        Lookup::Found(found) => Lookup::Found(image(c, found.seq)?),
        Lookup::Foreign => Lookup::Foreign,
        Lookup::Missing => Lookup::Missing,
    })
}

pub(super) fn image_edits(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &ImageId,
) -> Result<Lookup<(EditableImage, Option<ImageEdits>)>, SqlError> {
    let found = match visible(c, viewer, id)? {
        Lookup::Found(found) => found,
        Lookup::Foreign => return Ok(Lookup::Foreign),
        Lookup::Missing => return Ok(Lookup::Missing),
    };
    let edits = found.edits.map(|edits| read(found.row.seq, edits)).transpose()?;
    Ok(Lookup::Found((found.present, edits)))
}

/// The corrections of images, by internal id. The source of the capture time in `of_file` is meaningless.
pub(crate) fn of_images(c: &mut SqlConnection, seqs: &[i64]) -> Result<HashMap<i64, ImageEdits>, SqlError> {
    let rows: Vec<EditRow> = image_edits::table
        .filter(image_edits::image_seq.eq_any(seqs))
        .select(EditRow::as_select())
        .load(c)?;
    rows.into_iter()
        .map(|row| {
            let seq = row.image_seq;
            Ok((seq, read(seq, row.read(CaptureSource::Added)?)?))
        })
        .collect()
}

fn read(seq: i64, edits: Edits) -> Result<ImageEdits, SqlError> {
    let is_edited = |field| match field {
        EditedField::Description => edits.edited.description,
        EditedField::Time => edits.edited.time == Some(TimeEdited::Own),
        EditedField::Place => edits.edited.place,
    };
    let reader = RowReader::new("image_edits", &seq);
    let last = edits.last.map(|(edit, _)| reader.required("last_edit", EditId::parse(edit)));
    Ok(ImageEdits {
        fields: EditedField::ALL.into_iter().filter(|field| is_edited(*field)).collect(),
        of_file: edits.of_file,
        last: last.transpose()?,
    })
}

/// Sets fields of an image back to the values of its file.
pub(super) fn revert_fields(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &ImageId,
    fields: &[EditedField],
) -> Result<Lookup<()>, SqlError> {
    let mut found = match visible(c, viewer, id)? {
        Lookup::Found(found) => found,
        Lookup::Foreign => return Ok(Lookup::Foreign),
        Lookup::Missing => return Ok(Lookup::Missing),
    };
    let Some(mut edits) = found.edits.take() else { return Ok(Lookup::Found(())) };
    let (mut values, file) = (found.present.clone(), &edits.of_file);
    let reverts = |field| fields.contains(&field);
    if reverts(EditedField::Description) {
        values.description.clone_from(&file.description);
    }
    if reverts(EditedField::Place) {
        values.position = file.position;
        values.place.clone_from(&file.place);
    }
    // A corrected place also sets the zone of the time. Undoing the place undoes that zone.
    let follows = reverts(EditedField::Place) && edits.edited.time == Some(TimeEdited::Place);
    if reverts(EditedField::Time) || follows {
        values.capture = file.capture;
    }
    let time = edits.edited.time.unwrap_or(TimeEdited::Own);
    edits.compare(&values, time);
    // After a revert, the last edit can no longer be undone.
    edits.last = None;
    replace(c, &found, &values, None, &edits)?;
    Ok(Lookup::Found(()))
}

/// Undoes an edit of up to `max` images.
pub(super) fn undo(c: &mut SqlConnection, viewer: Viewer, edit: &EditId, max: u32) -> Result<u32, SqlError> {
    let seqs: Vec<i64> = image_edits::table
        .inner_join(images::table)
        .filter(image_edits::last_edit.eq(edit.as_str()))
        .filter(images::account_id.eq(viewer.account.0))
        .select(image_edits::image_seq)
        .limit(i64::from(max))
        .load(c)?;
    let mut undone = 0;
    for seq in seqs {
        let image = image(c, seq)?;
        undone += u32::from(undo_image(c, image)?);
    }
    Ok(undone)
}

fn undo_image(c: &mut SqlConnection, mut image: EditedImage) -> Result<bool, SqlError> {
    let Some(mut edits) = image.edits.take() else { return Ok(false) };
    let Some((_, Previous { description, place, time })) = edits.last.take() else { return Ok(false) };
    // A field that was not corrected before gets the value that the file has now.
    let (mut values, file) = (image.present.clone(), &edits.of_file);
    if let Some(before) = description {
        values.description = if before.edited { before.value } else { file.description.clone() };
    }
    if let Some(before) = place {
        (values.position, values.place) =
            if before.edited { (before.position, before.place) } else { (file.position, file.place.clone()) };
    }
    let mut preferred_ms = None;
    let mut time_edited = edits.edited.time.unwrap_or(TimeEdited::Own);
    if let Some(before) = time {
        let capture = if before.edited.is_some() { before.value } else { file.capture };
        preferred_ms = before.captured_at_ms.filter(|_| capture.at == before.value.at);
        values.capture = CaptureTime { source: file.capture.source, ..capture };
        time_edited = before.edited.unwrap_or(time_edited);
        edits.time_edit = before.edit;
    }
    edits.compare(&values, time_edited);
    replace(c, &image, &values, preferred_ms, &edits)?;
    Ok(true)
}
