use diesel::prelude::*;
use domain::{CaptureTime, DateRange, EditId, ImageId, Selection, Timestamp};
use storage::{ChangeImage, ChangedTime, EditedImages, ImageChange, ImageToChange, ImagesToEdit, Viewer};

use super::{
    rows::{self, EditedImage, with_edits},
    values::{Edits, ImageRow, Previous, PreviousDescription, PreviousPlace, PreviousTime, TimeEdited},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{image_rows::Visibility, schema::images},
};

/// Changes images that are visible to the viewer.
pub(super) fn edit(
    c: &mut SqlConnection,
    viewer: Viewer,
    edit: &EditId,
    images: &ImagesToEdit,
    change: &ChangeImage,
) -> Result<EditedImages, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(EditedImages::default()) };
    let (rows, rest) = match images {
        ImagesToEdit::Ids(ids) => (of_ids(c, visibility, ids)?, None),
        ImagesToEdit::Range { range, newest_first, selection, max } => {
            of_range(c, visibility, *range, *newest_first, selection, *max)?
        }
    };
    let mut edited = EditedImages { rest, ..EditedImages::default() };
    for image in with_edits(c, rows)? {
        match change(&to_change(&image)) {
            Some(change) => edited.changed += u32::from(apply(c, image, edit, change)?),
            None => edited.refused += 1,
        }
    }
    Ok(edited)
}

fn to_change(image: &EditedImage) -> ImageToChange {
    let time_without_place = match &image.edits {
        Some(edits) if edits.edited.time == Some(TimeEdited::Place) => edits.of_file.capture,
        _ => image.present.capture,
    };
    ImageToChange { present: image.present.clone(), time_without_place }
}

fn of_ids(c: &mut SqlConnection, visibility: Visibility, ids: &[ImageId]) -> Result<Vec<ImageRow>, SqlError> {
    let rows: Vec<(bool, ImageRow)> = images::table
        .filter(images::id.eq_any(ids.iter().map(ImageId::as_str)))
        .select((images::live, ImageRow::as_select()))
        .load(c)?;
    let is_visible = |live: bool, row: &ImageRow| {
        live && row.account_id == visibility.account
            && row.captured_at_ms.is_some_and(|captured_at_ms| visibility.includes(captured_at_ms))
    };
    Ok(rows.into_iter().filter(|(live, row)| is_visible(*live, row)).map(|(_, row)| row).collect())
}

/// The first images of a range, and the rest of the range.
fn of_range(
    c: &mut SqlConnection,
    visibility: Visibility,
    range: DateRange,
    newest_first: bool,
    selection: &Selection,
    max: u32,
) -> Result<(Vec<ImageRow>, Option<DateRange>), SqlError> {
    let (start_ms, end_ms) = visibility.range_ms(range);
    // BETWEEN: with two comparisons the planner prefers the index that also contains deleted images.
    let found = images::table
        .filter(images::account_id.eq(visibility.account))
        .filter(images::live.eq(true))
        .filter(images::captured_at_ms.between(start_ms, end_ms))
        .limit(i64::from(max))
        .select(ImageRow::as_select());
    let mut rows: Vec<ImageRow> = if newest_first {
        found.order(images::captured_at_ms.desc()).load(c)?
    } else {
        found.order(images::captured_at_ms.asc()).load(c)?
    };
    let is_full = u32::try_from(rows.len()).is_ok_and(|number| number >= max);
    let last = rows.last().and_then(|row| row.captured_at_ms).filter(|_| is_full);
    let rest = last.and_then(|last| {
        if newest_first {
            DateRange::new(Some(range.start()), Timestamp::from_millis(last - 1)).ok()
        } else {
            DateRange::new(Timestamp::from_millis(last + 1), Some(range.end())).ok()
        }
    });
    rows.retain(|row| !ImageId::parse(row.id.as_str()).is_some_and(|id| selection.excludes(&id)));
    Ok((rows, rest))
}

/// Applies new values to an image; returns whether any of them differs from its present value.
fn apply(
    c: &mut SqlConnection,
    mut image: EditedImage,
    edit: &EditId,
    change: ImageChange,
) -> Result<bool, SqlError> {
    let mut edits = image.edits.take().unwrap_or_else(|| Edits::none(&image.present));
    // One edit may change several fields of an image in several calls. Undoing it reverts all of them.
    let mut previous = match edits.last.take() {
        Some((last, previous)) if last == edit.as_str() => previous,
        _ => Previous::default(),
    };
    let mut values = image.present.clone();
    if let Some(description) = change.description {
        previous.description.get_or_insert_with(|| PreviousDescription {
            edited: edits.edited.description,
            value: values.description.clone(),
        });
        values.description = description;
    }
    if let Some(place) = change.place {
        previous.place.get_or_insert_with(|| PreviousPlace {
            edited: edits.edited.place,
            position: values.position,
            place: values.place.clone(),
        });
        (values.position, values.place) = (place.position, place.place);
    }
    let mut time = edits.edited.time.unwrap_or(TimeEdited::Own);
    let mut preferred_ms = None;
    if let Some(ChangedTime { capture, follows_position }) = change.time
        && edits.time_edit.as_deref() != Some(edit.as_str())
    {
        previous.time.get_or_insert_with(|| PreviousTime {
            edited: edits.edited.time,
            edit: edits.time_edit.clone(),
            captured_at_ms: image.row.captured_at_ms,
            value: values.capture,
        });
        let moved_ms = capture.at.millis() - values.capture.at.millis();
        preferred_ms = image.row.captured_at_ms.map(|captured_at_ms| captured_at_ms + moved_ms);
        values.capture = CaptureTime { source: values.capture.source, ..capture };
        time = if follows_position { TimeEdited::Place } else { TimeEdited::Own };
        edits.time_edit = Some(edit.as_str().to_owned());
    }
    if values == image.present {
        return Ok(false);
    }
    edits.compare(&values, time);
    edits.last = Some((edit.as_str().to_owned(), previous));
    rows::replace(
        c,
        &image,
        &values,
        preferred_ms.filter(|ms| Timestamp::from_millis(*ms).is_some()),
        &edits,
    )?;
    Ok(true)
}
