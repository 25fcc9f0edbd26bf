use std::collections::HashMap;

use diesel::prelude::*;
use domain::{Circle, Image, ImageId, Thumbhash};
use storage::FoundImage;

use super::{details::DetailsRow, visibility::Visibility};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        marks::{self, MarksOfImage},
        schema::images,
        value::RowReader,
    },
};

/// The row of a ready image, as its owner sees it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
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
    original_bytes: i64,
    decoder_version: Option<i64>,
    thumbhash: Option<Vec<u8>>,
    #[diesel(select_expression = MarksOfImage, select_expression_type = MarksOfImage)]
    marks: Option<String>,
    #[diesel(embed)]
    details: DetailsRow,
}

/// An image that was looked up by a key, with the data that decides its visibility. Visibility is not a condition of
/// the query, because SQLite would then scan the account's whole timeline instead of looking up the keys.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
pub(crate) struct ImageRowWithOwner {
    account_id: i64,
    live: bool,
    #[diesel(embed)]
    row: ImageRow,
}

impl ImageRowWithOwner {
    pub(crate) fn if_visible(self, visibility: Visibility) -> Option<ImageRow> {
        let recent =
            self.row.captured_at_ms.is_some_and(|captured_at_ms| captured_at_ms >= visibility.oldest_ms);
        (self.live && recent && self.account_id == visibility.account).then_some(self.row)
    }
}

impl TryFrom<ImageRow> for Image {
    type Error = SqlError;

    fn try_from(row: ImageRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("images", &row.seq);
        let captured_at_ms = reader.required("captured_at_ms", row.captured_at_ms)?;
        let size =
            reader.size(reader.required("width", row.width)?, reader.required("height", row.height)?)?;
        Ok(Self {
            id: reader.required("id", ImageId::parse(row.id))?,
            captured_at: reader.timestamp("captured_at_ms", captured_at_ms)?,
            utc_offset: reader.utc_offset("capture_offset_min", row.capture_offset_min)?,
            added_at: reader.timestamp("added_at_ms", row.added_at_ms)?,
            size,
            details: row.details.read(reader)?,
            marks: marks::read(reader, row.marks.as_deref())?,
            place: row.place,
            text: row.ocr_text,
            file_name: row.file_name,
            file_bytes: reader.unsigned("original_bytes", row.original_bytes)?,
            picture_version: reader.unsigned("decoder_version", row.decoder_version.unwrap_or(0))?,
            thumbhash: row.thumbhash.and_then(Thumbhash::new),
        })
    }
}

/// An image with its distance from the circle's centre.
pub(crate) fn found_image(row: ImageRow, circle: Option<Circle>) -> Result<FoundImage, SqlError> {
    let image = Image::try_from(row)?;
    let distance_m =
        circle.and_then(|circle| image.details.position.map(|position| circle.centre().distance_m(position)));
    Ok(FoundImage { image, distance_m })
}

pub(crate) fn load_in_order(c: &mut SqlConnection, seqs: &[i64]) -> Result<Vec<ImageRow>, SqlError> {
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
