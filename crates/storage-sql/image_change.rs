use diesel::prelude::*;

use crate::{
    SqlConnection,
    error::SqlError,
    place_index,
    sql::{
        map, months, regions,
        schema::{album_images, image_facets, images},
        text::{add_text, remove_text},
        value::RowReader,
        vectors,
    },
};

/// The values of an image that other tables copy.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
struct RepeatedValues {
    account_id: i64,
    live: bool,
    captured_at_ms: Option<i64>,
    latitude: Option<f64>,
    longitude: Option<f64>,
}

impl RepeatedValues {
    fn of(c: &mut SqlConnection, seq: i64) -> Result<Self, SqlError> {
        Ok(images::table.find(seq).select(Self::as_select()).get_result(c)?)
    }

    /// Whether the capture time or the position differs. Caches of vectors keep both.
    fn differs_in_caches(&self, other: &Self) -> bool {
        (self.captured_at_ms, self.latitude, self.longitude)
            != (other.captured_at_ms, other.latitude, other.longitude)
    }
}

/// Changes the row of an image, and everything that follows from its capture time, texts, position and size: the months
/// of the timeline, the map, the regions, the indexes of words and places, the copies in albums and facets, and the ids of its vectors.
/// Afterwards the image is ready.
pub(crate) fn change_indexed(
    c: &mut SqlConnection,
    seq: i64,
    change: impl FnOnce(&mut SqlConnection) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    let before = RepeatedValues::of(c, seq)?;
    let was_ready = before.captured_at_ms.is_some();
    if was_ready {
        // The index entries are removed first, because finding them needs the row of the image.
        remove_text(c, &[seq])?;
        place_index::remove(c, seq)?;
    }
    if before.live {
        months::remove(c, &[seq])?;
    }
    change(c)?;
    add_text(c, &[seq])?;
    map::update(c, seq)?;
    regions::update(c, seq)?;
    let after = RepeatedValues::of(c, seq)?;
    if after.live {
        months::add(c, &[seq])?;
    }
    let reader = RowReader::new("images", &seq);
    if let Some(position) = reader.position(after.latitude, after.longitude)? {
        place_index::add(c, seq, after.account_id, position)?;
    }
    if was_ready && before.differs_in_caches(&after) {
        let captured_at_ms = reader.required("captured_at_ms", after.captured_at_ms)?;
        if before.captured_at_ms != Some(captured_at_ms) {
            set_capture_time_in_copies(c, seq, captured_at_ms)?;
        }
        vectors::renumber(c, seq)?;
    }
    Ok(())
}

/// Updates the copies of an image's capture time in albums and facets.
fn set_capture_time_in_copies(c: &mut SqlConnection, seq: i64, captured_at_ms: i64) -> Result<(), SqlError> {
    diesel::update(album_images::table.filter(album_images::image_seq.eq(seq)))
        .set(album_images::captured_at_ms.eq(captured_at_ms))
        .execute(c)?;
    diesel::update(image_facets::table.filter(image_facets::image_seq.eq(seq)))
        .set(image_facets::captured_at_ms.eq(captured_at_ms))
        .execute(c)?;
    Ok(())
}
