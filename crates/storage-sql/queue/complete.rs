use diesel::prelude::*;
use domain::Timestamp;
use storage::{BlobKind, IndexedImage, JobId};

use super::{capture_time::free_capture_time, jobs::lock_leased_image};
use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock, place_index,
    sql::{
        accounts::adjust_live_images,
        blob_registry::{self, can_keep},
        images::{DetailsRow, add_text, remove_text, replace_renditions, set_capture_time_in_albums},
        rendition_queue,
        schema::{images, index_jobs},
        stages::requeue_image,
        value::RowReader,
        vectors,
    },
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
struct CurrentImage {
    seq: i64,
    account_id: i64,
    original: Vec<u8>,
    state: String,
    captured_at_ms: Option<i64>,
    requested_captured_at_ms: Option<i64>,
    decoder_version: Option<i64>,
}

/// Makes an indexed image visible, or replaces the data of a visible one.
pub(super) fn complete(
    c: &mut SqlConnection,
    job: JobId,
    worker: &str,
    indexed: &IndexedImage,
) -> Result<bool, SqlError> {
    let Some(seq) = lock_leased_image(c, job, worker)? else { return Ok(false) };
    lock::take(c, Lock::SharedStages)?;
    let image: CurrentImage = images::table.find(seq).select(CurrentImage::as_select()).get_result(c)?;
    blob_registry::lock_original(c, &image.original)?;
    for rendition in &indexed.renditions {
        if !can_keep(c, BlobKind::Rendition, &rendition.blob)? {
            return Ok(false);
        }
    }
    let was_ready = image.state == "ready";
    if was_ready {
        // First the indexes, because they look up their entries by the image.
        remove_text(c, seq)?;
        place_index::remove(c, seq)?;
    }
    let captured_at_ms = capture_time(c, &image, indexed.metadata.capture.at)?;
    store(c, seq, captured_at_ms, indexed)?;
    add_text(c, seq)?;
    if let Some(position) = indexed.metadata.details.position {
        place_index::add(c, seq, image.account_id, position)?;
    }
    if was_ready && image.captured_at_ms != Some(captured_at_ms) {
        set_capture_time_in_albums(c, seq, captured_at_ms)?;
    }
    if was_ready {
        vectors::renumber(c, seq)?;
    }
    if image.decoder_version != Some(i64::from(indexed.decoder_version)) {
        requeue_image(c, seq)?;
    }
    let reader = RowReader::new("images", &image.seq);
    let original = reader.hash("original", &image.original)?;
    replace_renditions(c, &original, &indexed.renditions)?;
    diesel::delete(index_jobs::table.find(job.0)).execute(c)?;
    let live: bool = images::table.find(seq).select(images::live).get_result(c)?;
    if live && !was_ready {
        adjust_live_images(c, image.account_id, 1)?;
    }
    rendition_queue::update_job(c, &image.original)?;
    Ok(true)
}

/// The capture time for the image. It is kept when the same time was requested before.
fn capture_time(c: &mut SqlConnection, image: &CurrentImage, requested: Timestamp) -> Result<i64, SqlError> {
    match image.captured_at_ms {
        Some(current) if image.requested_captured_at_ms == Some(requested.millis()) => Ok(current),
        _ => free_capture_time(c, image.account_id, image.seq, requested),
    }
}

fn store(
    c: &mut SqlConnection,
    seq: i64,
    captured_at_ms: i64,
    indexed: &IndexedImage,
) -> Result<(), SqlError> {
    let capture = &indexed.metadata.capture;
    diesel::update(images::table.find(seq))
        .set((
            images::state.eq("ready"),
            images::captured_at_ms.eq(captured_at_ms),
            images::requested_captured_at_ms.eq(capture.at.millis()),
            images::capture_wall.eq(capture.wall.map(|wall| wall.to_string())),
            images::capture_offset_min.eq(capture.offset_minutes.map(i64::from)),
            images::capture_source.eq(capture.source.as_str()),
            images::width.eq(i64::from(indexed.size.width)),
            images::height.eq(i64::from(indexed.size.height)),
            images::decoder_version.eq(i64::from(indexed.decoder_version)),
            images::damaged.eq(indexed.damaged.as_deref()),
            images::place.eq(indexed.place.as_deref()),
            DetailsRow::from(indexed.metadata.details.clone()),
        ))
        .execute(c)?;
    if let Some(text) = &indexed.text {
        diesel::update(images::table.find(seq)).set(images::ocr_text.eq(text)).execute(c)?;
    }
    Ok(())
}
