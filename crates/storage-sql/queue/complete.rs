use diesel::prelude::*;
use domain::{Metadata, PhotoDetails, Timestamp};
use storage::{BlobKind, EditableImage, IndexedImage, JobId, NameKind};

use super::jobs::lock_leased_image;
use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock,
    sql::{
        account_rows::adjust_live_images,
        blob_registry::{self, can_keep},
        camera_settings,
        capture_time::free_capture_time,
        edits::{CaptureColumns, with_corrections},
        image_change::change_indexed,
        image_rows::DetailsRow,
        marks::{self, MarkedImage},
        rendition_queue, renditions,
        schema::{images, index_jobs},
        stages::requeue_image,
        value::RowReader,
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
    let shown = with_corrections(c, seq, of_file(indexed))?;
    change_indexed(c, seq, |c| {
        let captured_at_ms = capture_time(c, &image, shown.capture.at)?;
        store(c, seq, captured_at_ms, indexed, &shown)?;
        let live = images::table.find(seq).select(images::live).get_result(c)?;
        let marked =
            MarkedImage { seq, account: image.account_id, captured_at_ms: Some(captured_at_ms), live };
        let camera = indexed.metadata.details.camera();
        marks::remember_name(c, image.account_id, NameKind::Camera, camera.as_deref())?;
        camera_settings::replace(c, seq, indexed.metadata.settings.as_ref())?;
        let before = marks::of(c, seq)?;
        marks::replace(c, marked, &before, &shown.marks)
    })?;
    // Stages look at the picture, which is the same if only the metadata was read again.
    let is_decoded = !indexed.renditions.is_empty();
    if is_decoded && image.decoder_version != Some(i64::from(indexed.decoder_version)) {
        requeue_image(c, seq)?;
    }
    let reader = RowReader::new("images", &image.seq);
    let original = reader.hash("original", &image.original)?;
    renditions::replace(c, &original, &indexed.renditions)?;
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

/// The values of the file in the fields that people can correct.
fn of_file(indexed: &IndexedImage) -> EditableImage {
    let Metadata { capture, details, settings: _, marks } = &indexed.metadata;
    EditableImage {
        capture: *capture,
        position: details.position,
        place: indexed.place.clone(),
        description: details.description.clone(),
        marks: marks.clone(),
    }
}

fn store(
    c: &mut SqlConnection,
    seq: i64,
    captured_at_ms: i64,
    indexed: &IndexedImage,
    shown: &EditableImage,
) -> Result<(), SqlError> {
    let details = PhotoDetails {
        position: shown.position,
        description: shown.description.clone(),
        ..indexed.metadata.details.clone()
    };
    diesel::update(images::table.find(seq))
        .set((
            images::state.eq("ready"),
            images::captured_at_ms.eq(captured_at_ms),
            images::width.eq(i64::from(indexed.size.width)),
            images::height.eq(i64::from(indexed.size.height)),
            images::decoder_version.eq(i64::from(indexed.decoder_version)),
            images::damaged.eq(indexed.damaged.as_deref()),
            images::place.eq(shown.place.as_deref()),
            CaptureColumns::from(&shown.capture),
            images::camera.eq(details.camera()),
            DetailsRow::from(details),
        ))
        .execute(c)?;
    if let Some(preview) = &indexed.thumbhash {
        diesel::update(images::table.find(seq)).set(images::thumbhash.eq(preview.as_bytes())).execute(c)?;
    }
    if let Some(text) = &indexed.text {
        diesel::update(images::table.find(seq)).set(images::ocr_text.eq(text)).execute(c)?;
    }
    Ok(())
}
