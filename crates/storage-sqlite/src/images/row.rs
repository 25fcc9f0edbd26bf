use std::collections::HashMap;

use diesel::{SqliteConnection, prelude::*};
use domain::{Circle, Image, ImageId};
use storage::FoundImage;

use super::{details::DetailsRow, sight::Sight};
use crate::{error::Failure, schema::images, value::RowName};

/// What an image's owner sees of it; the row of a ready image.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct ImageRow {
    pub(crate) seq: i64,
    id: String,
    captured_at_ms: Option<i64>,
    capture_offset_min: Option<i64>,
    added_at_ms: i64,
    width: Option<i64>,
    height: Option<i64>,
    place: Option<String>,
    ocr_text: Option<String>,
    file_name: Option<String>,
    #[diesel(embed)]
    details: DetailsRow,
}

/// An image that was looked up by a key, with what decides who sees it. Conditions of the query would not do: SQLite
/// takes the account's timeline for shorter than a list of keys, and reads all of it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct KeyedRow {
    account_id: i64,
    live: bool,
    #[diesel(embed)]
    row: ImageRow,
}

impl KeyedRow {
    /// The row, if it is seen.
    pub(crate) fn seen(self, sight: Sight) -> Option<ImageRow> {
        let recent = self.row.captured_at_ms.is_some_and(|captured_at_ms| captured_at_ms >= sight.oldest_ms);
        (self.live && recent && self.account_id == sight.account).then_some(self.row)
    }
}

impl TryFrom<ImageRow> for Image {
    type Error = Failure;

    fn try_from(row: ImageRow) -> Result<Self, Failure> {
        let name = RowName::new("images", &row.seq);
        let captured_at_ms = name.some("captured_at_ms", row.captured_at_ms)?;
        let size = name.size(name.some("width", row.width)?, name.some("height", row.height)?)?;
        Ok(Self {
            id: name.some("id", ImageId::parse(row.id))?,
            captured_at: name.timestamp("captured_at_ms", captured_at_ms)?,
            utc_offset: name.utc_offset("capture_offset_min", row.capture_offset_min)?,
            added_at: name.timestamp("added_at_ms", row.added_at_ms)?,
            size,
            details: row.details.read(name)?,
            place: row.place,
            text: row.ocr_text,
            file_name: row.file_name,
        })
    }
}

/// An image with its distance from the circle's centre.
pub(super) fn found(row: ImageRow, circle: Option<Circle>) -> Result<FoundImage, Failure> {
    let image = Image::try_from(row)?;
    let distance_m =
        circle.and_then(|circle| image.details.position.map(|position| circle.centre().distance_m(position)));
    Ok(FoundImage { image, distance_m })
}

/// The images of these rows, in this order.
pub(super) fn load_in_order(c: &mut SqliteConnection, seqs: &[i64]) -> Result<Vec<ImageRow>, Failure> {
    if seqs.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<ImageRow> = images::table
        .filter(images::seq.eq_any(seqs.iter().copied()))
        .select(ImageRow::as_select())
        .load(c)?;
    let mut by_seq: HashMap<i64, ImageRow> = rows.into_iter().map(|row| (row.seq, row)).collect();
    Ok(seqs.iter().filter_map(|seq| by_seq.remove(seq)).collect())
}
