use std::collections::HashMap;

use diesel::{OptionalExtension, QueryableByName, prelude::*, sql_types::BigInt};
use domain::{AccountId, CaptureSource, EditId, EditedField, ImageId, Timestamp};
use storage::{Edit, EditableImage, ImageEdits, ListedEdit, Lookup, Viewer};

use super::{
    rows::image,
    values::{EditRow, Edits, TimeEdited, fields_named},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::resolve_image,
        schema::{edited_images, edits, image_edits},
        statement,
        value::RowReader,
    },
};

pub(super) fn image_edits(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &ImageId,
) -> Result<Lookup<(EditableImage, Option<ImageEdits>)>, SqlError> {
    let seq = match resolve_image(c, viewer, id)? {
        Lookup::Found(found) => found.seq,
        Lookup::Foreign => return Ok(Lookup::Foreign),
        Lookup::Missing => return Ok(Lookup::Missing),
    };
    let found = image(c, seq)?;
    let last: Option<String> = edited_images::table
        .inner_join(edits::table)
        .filter(edited_images::image_seq.eq(seq))
        .order(edited_images::edit_seq.desc())
        .select(edits::id)
        .first(c)
        .optional()?;
    let reader = RowReader::new("edits", &seq);
    let last = last.map(|id| reader.required("id", EditId::parse(id))).transpose()?;
    let edits = match (found.edits, last) {
        (None, None) => None,
        (edits, last) => {
            Some(ImageEdits { last, ..read(edits.unwrap_or_else(|| Edits::none(&found.present))) })
        }
    };
    Ok(Lookup::Found((found.present, edits)))
}

/// The corrections of images, by internal id, without their last edit. The source of the capture time in `of_file` is
/// meaningless.
pub(crate) fn of_images(c: &mut SqlConnection, seqs: &[i64]) -> Result<HashMap<i64, ImageEdits>, SqlError> {
    let rows: Vec<EditRow> = image_edits::table
        .filter(image_edits::image_seq.eq_any(seqs))
        .select(EditRow::as_select())
        .load(c)?;
    rows.into_iter().map(|row| Ok((row.image_seq, read(row.read(CaptureSource::Added)?)))).collect()
}

fn read(edits: Edits) -> ImageEdits {
    let edited = &edits.edited;
    let is_edited = |field: &EditedField| match field {
        EditedField::Description => edited.description,
        EditedField::Time => edited.time == Some(TimeEdited::Own),
        EditedField::Place => edited.place,
        EditedField::Favorite | EditedField::Rating | EditedField::Keywords | EditedField::Archived => {
            edited.marks.contains(field)
        }
    };
    ImageEdits {
        fields: EditedField::ALL.into_iter().filter(is_edited).collect(),
        of_file: edits.of_file,
        last: None,
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = edits, check_for_backend(crate::Backend))]
struct ListedRow {
    seq: i64,
    id: String,
    at_ms: i64,
    author: Option<String>,
    fields: String,
}

/// The edits of an account, the latest first.
pub(super) fn edits(
    c: &mut SqlConnection,
    account: AccountId,
    before: Timestamp,
    max: u32,
) -> Result<Vec<ListedEdit>, SqlError> {
    let rows: Vec<ListedRow> = edits::table
        .filter(edits::account_id.eq(account.0))
        .filter(edits::at_ms.lt(before.millis()))
        .order((edits::at_ms.desc(), edits::seq.desc()))
        .limit(i64::from(max))
        .select(ListedRow::as_select())
        .load(c)?;
    let images: HashMap<i64, i64> = edited_images::table
        .filter(edited_images::edit_seq.eq_any(rows.iter().map(|row| row.seq)))
        .group_by(edited_images::edit_seq)
        .select((edited_images::edit_seq, diesel::dsl::count_star()))
        .load(c)?
        .into_iter()
        .collect();
    rows.into_iter()
        .map(|row| {
            let reader = RowReader::new("edits", &row.seq);
            Ok(ListedEdit {
                edit: Edit {
                    id: reader.required("id", EditId::parse(row.id))?,
                    at: reader.timestamp("at_ms", row.at_ms)?,
                    author: row.author,
                },
                fields: fields_named(reader, &row.fields)?,
                images: reader.unsigned("images", images.get(&row.seq).copied().unwrap_or(0))?,
            })
        })
        .collect()
}

#[derive(QueryableByName)]
struct Seq {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

/// The changes of up to `$2` images by edits from before `$1`.
const FORGET_CHANGES: &str = "
DELETE FROM edited_images WHERE (edit_seq, image_seq) IN (
    SELECT i.edit_seq, i.image_seq FROM edits AS e JOIN edited_images AS i ON i.edit_seq = e.seq
    WHERE e.at_ms < $1 LIMIT $2
)";

/// Forgets edits from before a time: up to `max` images of them, or when there is none, up to `max` edits.
pub(super) fn forget(c: &mut SqlConnection, before: Timestamp, max: u32) -> Result<u32, SqlError> {
    let images = statement(FORGET_CHANGES)
        .bind::<BigInt, _>(before.millis())
        .bind::<BigInt, _>(i64::from(max))
        .execute(c)?;
    if images > 0 {
        return Ok(u32::try_from(images).unwrap_or(u32::MAX));
    }
    let old: Vec<Seq> = statement("SELECT seq FROM edits WHERE at_ms < $1 ORDER BY at_ms LIMIT $2")
        .bind::<BigInt, _>(before.millis())
        .bind::<BigInt, _>(i64::from(max))
        .load(c)?;
    let forgotten =
        diesel::delete(edits::table.filter(edits::seq.eq_any(old.iter().map(|row| row.seq)))).execute(c)?;
    Ok(u32::try_from(forgotten).unwrap_or(u32::MAX))
}
