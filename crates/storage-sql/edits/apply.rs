use diesel::{OptionalExtension, prelude::*};
use domain::{CaptureTime, EditedField, ImageId, LocalRange, LocalTime, Selection, Timestamp};
use storage::{
    ChangeImage, ChangedTime, Edit, EditableImage, EditedImages, ImageChange, ImageToChange, ImagesToEdit,
    Lookup, Viewer,
};

use super::{
    rows::{self, EditedImage, with_edits},
    values::{Changed, Changes, Edits, ImageRow, TimeChanged, TimeEdited, field_names, fields_named},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{Visibility, resolve_images},
        local_time::{CapturedAtOfImage, LocalTimeOfImage},
        marks::IsNotArchived,
        schema::{edited_images, edits, images},
        value::RowReader,
    },
};

/// Changes images that are visible to the viewer.
pub(super) fn edit(
    c: &mut SqlConnection,
    viewer: Viewer,
    edit: &Edit,
    images: &ImagesToEdit,
    change: &ChangeImage,
    is_trial: bool,
) -> Result<Lookup<EditedImages>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Lookup::Missing) };
    let (rows, rest) = match images {
        ImagesToEdit::Every(ids) => {
            let ids_of_rows: Vec<&str> = ids.iter().map(ImageId::as_str).collect();
            let found = resolve_images(c, viewer, &ids_of_rows)?;
            if found.values().any(|image| matches!(image, Lookup::Foreign)) {
                return Ok(Lookup::Foreign);
            }
            if ids_of_rows.iter().any(|id| !matches!(found.get(*id), Some(Lookup::Found(_)))) {
                return Ok(Lookup::Missing);
            }
            (of_ids(c, visibility, ids)?, None)
        }
        ImagesToEdit::Visible(ids) => (of_ids(c, visibility, ids)?, None),
        ImagesToEdit::Range { range, newest_first, selection, max } => {
            of_range(c, visibility, *range, *newest_first, selection, *max)?
        }
    };
    let mut edited = EditedImages { rest, ..EditedImages::default() };
    let mut running = Running::find(c, visibility.account, edit)?;
    for image in with_edits(c, rows)? {
        let Some(change) = change(&to_change(&image)) else {
            edited.refused += 1;
            continue;
        };
        let id = RowReader::new("images", &image.row.seq).required("id", ImageId::parse(&*image.row.id))?;
        let before = image.present.clone();
        if let Some(after) = apply(c, image, &mut running, change, is_trial)? {
            edited.changed.push((id, before, after));
        }
    }
    running.store(c)?;
    Ok(Lookup::Found(edited))
}

/// An edit that is being made.
struct Running<'a> {
    account: i64,
    edit: &'a Edit,
    /// `None` before it has changed an image.
    seq: Option<i64>,
    fields: Vec<EditedField>,
    stored_fields: String,
}

impl<'a> Running<'a> {
    fn find(c: &mut SqlConnection, account: i64, edit: &'a Edit) -> Result<Self, SqlError> {
        let stored: Option<(i64, String)> = edits::table
            .filter(edits::account_id.eq(account))
            .filter(edits::id.eq(edit.id.as_str()))
            .select((edits::seq, edits::fields))
            .get_result(c)
            .optional()?;
        let (seq, stored_fields) = stored.map_or((None, String::new()), |(seq, fields)| (Some(seq), fields));
        let fields = fields_named(RowReader::new("edits", &edit.id.as_str()), &stored_fields)?;
        Ok(Self { account, edit, seq, fields, stored_fields })
    }

    /// The number of the edit, which is stored if it is new.
    fn seq(&mut self, c: &mut SqlConnection) -> Result<i64, SqlError> {
        if let Some(seq) = self.seq {
            return Ok(seq);
        }
        let seq = diesel::insert_into(edits::table)
            .values((
                edits::id.eq(self.edit.id.as_str()),
                edits::account_id.eq(self.account),
                edits::at_ms.eq(self.edit.at.millis()),
                edits::author.eq(self.edit.author.as_deref()),
                edits::fields.eq(""),
            ))
            .returning(edits::seq)
            .get_result(c)?;
        self.seq = Some(seq);
        Ok(seq)
    }

    fn changes_of(&self, c: &mut SqlConnection, image: i64) -> Result<Changes, SqlError> {
        let Some(seq) = self.seq else { return Ok(Changes::default()) };
        let json: Option<String> = edited_images::table
            .find((seq, image))
            .select(edited_images::changes)
            .get_result(c)
            .optional()?;
        json.map_or(Ok(Changes::default()), |json| {
            RowReader::new("edited_images", &image).required("changes", serde_json::from_str(&json).ok())
        })
    }

    fn store_changes(
        &mut self,
        c: &mut SqlConnection,
        image: i64,
        changes: &Changes,
    ) -> Result<(), SqlError> {
        let json = changes.json()?;
        let seq = self.seq(c)?;
        diesel::insert_into(edited_images::table)
            .values((
                edited_images::edit_seq.eq(seq),
                edited_images::image_seq.eq(image),
                edited_images::changes.eq(&json),
            ))
            .on_conflict((edited_images::edit_seq, edited_images::image_seq))
            .do_update()
            .set(edited_images::changes.eq(&json))
            .execute(c)?;
        let changed = changes.fields();
        self.fields = EditedField::ALL
            .into_iter()
            .filter(|field| changed.contains(field) || self.fields.contains(field))
            .collect();
        Ok(())
    }

    /// Stores the fields that it has changed.
    fn store(self, c: &mut SqlConnection) -> Result<(), SqlError> {
        let fields = field_names(&self.fields);
        if let Some(seq) = self.seq.filter(|_| fields != self.stored_fields) {
            diesel::update(edits::table.find(seq)).set(edits::fields.eq(fields)).execute(c)?;
        }
        Ok(())
    }
}

fn to_change(image: &EditedImage) -> ImageToChange {
    let of_file = image.edits.as_ref().map_or(&image.present, |edits| &edits.of_file);
    let time_without_place = match &image.edits {
        Some(edits) if edits.edited.time == Some(TimeEdited::Place) => of_file.capture,
        _ => image.present.capture,
    };
    ImageToChange { present: image.present.clone(), of_file: of_file.clone(), time_without_place }
}

fn of_ids(c: &mut SqlConnection, visibility: Visibility, ids: &[ImageId]) -> Result<Vec<ImageRow>, SqlError> {
    let mut rows: Vec<ImageRow> = images::table
        .filter(images::id.eq_any(ids.iter().map(ImageId::as_str)))
        .select(ImageRow::as_select())
        .load(c)?;
    rows.retain(|row| {
        row.live
            && row.account_id == visibility.account
            && row.captured_at_ms.is_some_and(|captured_at_ms| visibility.includes(captured_at_ms))
    });
    rows.sort_by_key(|row| ids.iter().position(|id| id.as_str() == row.id));
    Ok(rows)
}

/// The first images of a range, and the rest of the range.
fn of_range(
    c: &mut SqlConnection,
    visibility: Visibility,
    range: LocalRange,
    newest_first: bool,
    selection: &Selection,
    max: u32,
) -> Result<(Vec<ImageRow>, Option<LocalRange>), SqlError> {
    let first = range.first.max(visibility.oldest_place());
    let found = images::table
        .filter(images::account_id.eq(visibility.account))
        .filter(images::live.eq(true))
        .filter(LocalTimeOfImage.between(first.number(), range.last.number()))
        .filter(CapturedAtOfImage.ge(visibility.oldest_ms))
        // Ranges are those of the timeline.
        .filter(IsNotArchived)
        .limit(i64::from(max))
        .select((LocalTimeOfImage, ImageRow::as_select()));
    let rows: Vec<(i64, ImageRow)> = if newest_first {
        found.order(LocalTimeOfImage.desc()).load(c)?
    } else {
        found.order(LocalTimeOfImage.asc()).load(c)?
    };
    let is_full = u32::try_from(rows.len()).is_ok_and(|number| number >= max);
    let last = rows.last().map(|(place, _)| LocalTime::from_number(*place)).filter(|_| is_full);
    let rest = last.map(|last| {
        if newest_first {
            LocalRange { last: last.plus(-1), ..range }
        } else {
            LocalRange { first: last.plus(1), ..range }
        }
    });
    let rest = rest.filter(|rest| rest.first <= rest.last);
    let mut rows: Vec<ImageRow> = rows.into_iter().map(|(_, row)| row).collect();
    rows.retain(|row| !ImageId::parse(row.id.as_str()).is_some_and(|id| selection.excludes(&id)));
    Ok((rows, rest))
}

/// Applies new values to an image; returns them if any differs from its present value.
fn apply(
    c: &mut SqlConnection,
    mut image: EditedImage,
    edit: &mut Running<'_>,
    change: ImageChange,
    is_trial: bool,
) -> Result<Option<EditableImage>, SqlError> {
    let mut changes = edit.changes_of(c, image.row.seq)?;
    let mut edits = image.edits.take().unwrap_or_else(|| Edits::none(&image.present));
    let edited = &edits.edited;
    let mut values = image.present.clone();
    if let Some(description) = change.description {
        Changed::record(&mut changes.description, edited.description, &values.description, &description);
        values.description = description;
    }
    if let Some(place) = change.place {
        let (before, after) =
            ((values.position, values.place.clone()), (place.position, place.place.clone()));
        Changed::record(&mut changes.place, edited.place, &before, &after);
        (values.position, values.place) = after;
    }
    if let Some(marks) = change.marks {
        let before = &values.marks;
        let is_edited = |field| edited.marks.contains(&field);
        let favorite = is_edited(EditedField::Favorite);
        Changed::record(&mut changes.favorite, favorite, &before.favorite, &marks.favorite);
        Changed::record(&mut changes.rating, is_edited(EditedField::Rating), &before.rating, &marks.rating);
        let keywords = is_edited(EditedField::Keywords);
        Changed::record(&mut changes.keywords, keywords, &before.keywords, &marks.keywords);
        let archived = is_edited(EditedField::Archived);
        Changed::record(&mut changes.archived, archived, &before.archived, &marks.archived);
        values.marks = marks;
    }
    let mut time = edited.time.unwrap_or(TimeEdited::Own);
    let mut preferred_ms = None;
    if let Some(ChangedTime { capture, follows_position }) = change.time
        && changes.time.is_none()
    {
        let capture = CaptureTime { source: values.capture.source, ..capture };
        changes.time = (capture != values.capture).then_some(TimeChanged {
            edited: edited.time,
            captured_at_ms: image.row.captured_at_ms,
            before: values.capture,
            after: capture,
        });
        let moved_ms = capture.at.millis() - values.capture.at.millis();
        preferred_ms = image.row.captured_at_ms.map(|captured_at_ms| captured_at_ms + moved_ms);
        if capture != values.capture {
            values.capture = capture;
            time = if follows_position { TimeEdited::Place } else { TimeEdited::Own };
        }
    }
    if values == image.present {
        return Ok(None);
    }
    if !is_trial {
        edits.compare(&values, time);
        let preferred_ms = preferred_ms.filter(|ms| Timestamp::from_millis(*ms).is_some());
        rows::replace(c, &image, &values, preferred_ms, &edits)?;
        edit.store_changes(c, image.row.seq, &changes)?;
    }
    Ok(Some(values))
}
