use std::collections::HashMap;

use diesel::{OptionalExtension, prelude::*, sql_types::BigInt};
use domain::{ImageId, Rendition, Timestamp};
use storage::{JobId, RenditionBlob, StageId, StageJob, StageOutcome};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock,
    sql::{
        lease::{LeasableJob, OwnedLeaseRequest, available_jobs, lease_statements},
        schema::{images, renditions, stage_failures, stage_jobs, stages},
        statement,
        text::{add_text, remove_text},
        value::RowReader,
        vectors,
    },
};

lease_statements!(stage_jobs by id: i64);

#[derive(Queryable, Selectable)]
#[diesel(table_name = stage_jobs, check_for_backend(crate::Backend))]
struct StageJobRow {
    id: i64,
    stage_id: i64,
    image_seq: i64,
    attempts: i64,
}

impl LeasableJob for StageJobRow {
    type Leased = StageJob;
    type Queue = StageId;

    fn is_any_available(c: &mut SqlConnection, stage: StageId, at: Timestamp) -> Result<bool, SqlError> {
        let any = available_jobs!(stage_jobs as Self, at)
            .filter(stage_jobs::stage_id.eq(stage.0))
            .order(stage_jobs::image_seq.desc())
            .limit(1);
        Ok(any.load(c)?.len() == 1)
    }

    fn claim(c: &mut SqlConnection, stage: StageId, at: Timestamp, max: u32) -> Result<Vec<Self>, SqlError> {
        let available = available_jobs!(stage_jobs as Self, at)
            .filter(stage_jobs::stage_id.eq(stage.0))
            .order(stage_jobs::image_seq.desc())
            .limit(i64::from(max));
        Ok(skip_locked!(available).load(c)?)
    }

    fn attempts(&self) -> i64 {
        self.attempts
    }

    fn lease(
        c: &mut SqlConnection,
        jobs: &[Self],
        request: &OwnedLeaseRequest,
    ) -> Result<Vec<StageJob>, SqlError> {
        mark_leased(c, jobs.iter().map(|job| job.id), request)?;
        let seqs = jobs.iter().map(|job| job.image_seq);
        let rows: Vec<(i64, String, Vec<u8>, i64)> = images::table
            .filter(images::seq.eq_any(seqs))
            .select((images::seq, images::id, images::original, images::original_bytes))
            .load(c)?;
        let mut encoders = vectors::encoders_of(c, rows.iter().map(|row| row.0))?;
        let renditions = renditions(c, rows.iter().map(|(_, _, original, _)| original))?;
        let mut of_seq: HashMap<i64, _> = rows.into_iter().map(|row| (row.0, row)).collect();
        jobs.iter()
            .map(|job| {
                let reader = RowReader::new("stage_jobs", &job.id);
                let (seq, id, original, bytes) =
                    reader.required("image_seq", of_seq.remove(&job.image_seq))?;
                let reader = RowReader::new("images", &seq);
                Ok(StageJob {
                    id: JobId(job.id),
                    image: reader.required("id", ImageId::parse(id))?,
                    original: reader.hash("original", &original)?,
                    original_bytes: reader.unsigned("original_bytes", bytes)?,
                    renditions: renditions.get(&original).cloned().unwrap_or_default(),
                    encoders: encoders.remove(&seq).unwrap_or_default(),
                })
            })
            .collect()
    }
}

/// The renditions medium and thumb of originals, the smaller first. Two accounts may have the same original.
fn renditions<'a>(
    c: &mut SqlConnection,
    originals: impl Iterator<Item = &'a Vec<u8>>,
) -> Result<HashMap<Vec<u8>, Vec<RenditionBlob>>, SqlError> {
    let kinds = [Rendition::Thumb, Rendition::Medium];
    let rows: Vec<(Vec<u8>, String, Vec<u8>, i64)> = renditions::table
        .filter(renditions::original.eq_any(originals))
        .filter(renditions::name.eq_any(kinds.map(Rendition::name)))
        .select((renditions::original, renditions::name, renditions::blob, renditions::bytes))
        .load(c)?;
    let mut of_original: HashMap<_, Vec<_>> = HashMap::new();
    for (original, name, blob, bytes) in rows {
        let reader = RowReader::new("renditions", &name);
        let rendition = RenditionBlob {
            rendition: reader.required("name", Rendition::from_name(&name))?,
            blob: reader.hash("blob", &blob)?,
            bytes: reader.unsigned("bytes", bytes)?,
        };
        of_original.entry(original).or_default().push(rendition);
    }
    for renditions in of_original.values_mut() {
        renditions.sort_by_key(|blob| blob.rendition.longest_side_px());
    }
    Ok(of_original)
}

pub(super) fn has_available(c: &mut SqlConnection, stage: StageId, at: Timestamp) -> Result<bool, SqlError> {
    StageJobRow::is_any_available(c, stage, at)
}

pub(super) fn lease(
    c: &mut SqlConnection,
    stage: StageId,
    request: &OwnedLeaseRequest,
) -> Result<Vec<StageJob>, SqlError> {
    crate::sql::lease::lease(c, stage, request, |c, given_up: &[StageJobRow]| {
        for job in given_up {
            let reason = format!("it was started {} times and never completed", job.attempts);
            fail_job(c, job, &reason)?;
        }
        Ok(())
    })
}

/// The account of a job, which never changes.
pub(super) fn account_of(c: &mut SqlConnection, job: JobId) -> Result<Option<i64>, SqlError> {
    Ok(images::table
        .inner_join(stage_jobs::table)
        .filter(stage_jobs::id.eq(job.0))
        .select(images::account_id)
        .get_result(c)
        .optional()?)
}

/// The job, which no other write leases or deletes until this one ends.
fn locked_leased(c: &mut SqlConnection, job: JobId, worker: &str) -> Result<Option<StageJobRow>, SqlError> {
    let row = stage_jobs::table
        .find(job.0)
        .filter(stage_jobs::leased_by.eq(worker))
        .select(StageJobRow::as_select());
    Ok(for_update!(row).get_result(c).optional()?)
}

pub(super) fn complete(
    c: &mut SqlConnection,
    job: JobId,
    worker: &str,
    version: &str,
    outcome: &StageOutcome,
) -> Result<bool, SqlError> {
    lock::take(c, Lock::SharedStages)?;
    let Some(job) = locked_leased(c, job, worker)? else { return Ok(false) };
    let current: String = stages::table.find(job.stage_id).select(stages::version).get_result(c)?;
    if current != version {
        return Ok(false);
    }
    match outcome {
        StageOutcome::Text(text) => store_text(c, job.image_seq, text.as_deref())?,
        StageOutcome::Vectors(new) => {
            for vector in new {
                vectors::store(c, job.image_seq, &vector.encoder, &vector.vector)?;
            }
        }
    }
    diesel::delete(stage_jobs::table.find(job.id)).execute(c)?;
    diesel::delete(stage_failures::table.find((job.stage_id, job.image_seq))).execute(c)?;
    Ok(true)
}

fn store_text(c: &mut SqlConnection, seq: i64, text: Option<&str>) -> Result<(), SqlError> {
    let known: Option<String> = images::table.find(seq).select(images::ocr_text).get_result(c)?;
    if known.as_deref() == text {
        return Ok(());
    }
    // The index entry is removed first, because finding it needs the row of the image.
    remove_text(c, &[seq])?;
    diesel::update(images::table.find(seq)).set(images::ocr_text.eq(text)).execute(c)?;
    add_text(c, &[seq])
}

pub(super) fn fail(c: &mut SqlConnection, job: JobId, worker: &str, reason: &str) -> Result<(), SqlError> {
    match locked_leased(c, job, worker)? {
        Some(job) => fail_job(c, &job, reason),
        None => Ok(()),
    }
}

fn fail_job(c: &mut SqlConnection, job: &StageJobRow, reason: &str) -> Result<(), SqlError> {
    diesel::insert_into(stage_failures::table)
        .values((
            stage_failures::stage_id.eq(job.stage_id),
            stage_failures::image_seq.eq(job.image_seq),
            stage_failures::reason.eq(reason),
        ))
        .on_conflict((stage_failures::stage_id, stage_failures::image_seq))
        .do_update()
        .set(stage_failures::reason.eq(reason))
        .execute(c)?;
    diesel::delete(stage_jobs::table.find(job.id)).execute(c)?;
    Ok(())
}

/// Queues an image with a new picture for every stage. Workers that are processing the old picture lose their leases.
pub(crate) fn requeue_image(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    diesel::delete(stage_jobs::table.filter(stage_jobs::image_seq.eq(seq))).execute(c)?;
    statement("INSERT INTO stage_jobs (stage_id, image_seq) SELECT id, $1 FROM stages")
        .bind::<BigInt, _>(seq)
        .execute(c)?;
    diesel::delete(stage_failures::table.filter(stage_failures::image_seq.eq(seq))).execute(c)?;
    Ok(())
}
