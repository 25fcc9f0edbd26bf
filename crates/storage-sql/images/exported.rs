use diesel::prelude::*;
use domain::{AccountId, Timestamp};
use storage::{ExportedImage, ImageEdits};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{edits::of_images, image_rows::ImageRow, schema::images, value::RowReader},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
struct ExportedRow {
    original: Vec<u8>,
    original_bytes: i64,
    media_type: String,
    #[diesel(embed)]
    image: ImageRow,
}

impl ExportedRow {
    fn with_edits(self, edits: Option<ImageEdits>) -> Result<ExportedImage, SqlError> {
        let seq = self.image.seq;
        let reader = RowReader::new("images", &seq);
        Ok(ExportedImage {
            original: reader.hash("original", &self.original)?,
            original_bytes: reader.unsigned("original_bytes", self.original_bytes)?,
            media_type: self.media_type,
            image: self.image.try_into()?,
            edits,
        })
    }
}

/// The images after a capture time, oldest first.
pub(super) fn page(
    c: &mut SqlConnection,
    account: AccountId,
    after: Option<Timestamp>,
    max: u32,
) -> Result<Vec<ExportedImage>, SqlError> {
    let first_ms = after.map_or(i64::MIN, |after| after.millis().saturating_add(1));
    let rows: Vec<ExportedRow> = images::table
        .filter(images::account_id.eq(account.0))
        .filter(images::live.eq(true))
        .filter(images::captured_at_ms.between(first_ms, Timestamp::MAX.millis()))
        .order(images::captured_at_ms)
        .limit(i64::from(max))
        .select(ExportedRow::as_select())
        .load(c)?;
    let seqs: Vec<i64> = rows.iter().map(|row| row.image.seq).collect();
    let mut edits = of_images(c, &seqs)?;
    rows.into_iter()
        .map(|row| {
            let edits = edits.remove(&row.image.seq);
            row.with_edits(edits)
        })
        .collect()
}
