use std::collections::{HashMap, HashSet};

use diesel::{dsl::exists, prelude::*};
use domain::{FileInfo, ImageId, Rendition, Sidecar, Timestamp};
use storage::{DecodedPicture, IndexJob, JobId};

use super::jobs::{FOR_NEWER_DECODERS, fail_image};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        lease::{LeasableJob, OwnedLeaseRequest, available_jobs, lease_statements},
        schema::{images, index_jobs, renditions},
        sidecars,
        value::RowReader,
    },
};

lease_statements!(index_jobs by id: i64);

#[derive(Queryable, Selectable)]
#[diesel(table_name = index_jobs, check_for_backend(crate::Backend))]
struct IndexJobRow {
    id: i64,
    image_seq: i64,
    attempts: i64,
}

/// Jobs that decoders of this version can process. Of the jobs for newer decoders, these are the ones whose image was
/// decoded by an older version.
macro_rules! is_for {
    ($decoder_version:expr) => {
        index_jobs::priority.lt(FOR_NEWER_DECODERS).or(exists(
            images::table
                .filter(images::seq.eq(index_jobs::image_seq))
                .filter(images::decoder_version.lt(i64::from($decoder_version))),
        ))
    };
}

impl LeasableJob for IndexJobRow {
    type Leased = IndexJob;
    /// The version of the worker's decoders.
    type Queue = u32;

    fn is_any_available(
        c: &mut SqlConnection,
        decoder_version: u32,
        at: Timestamp,
    ) -> Result<bool, SqlError> {
        let any = available_jobs!(index_jobs as Self, at)
            .filter(is_for!(decoder_version))
            .order((index_jobs::priority, index_jobs::id))
            .limit(1);
        Ok(any.load(c)?.len() == 1)
    }

    fn claim(
        c: &mut SqlConnection,
        decoder_version: u32,
        at: Timestamp,
        max: u32,
    ) -> Result<Vec<Self>, SqlError> {
        let available = available_jobs!(index_jobs as Self, at)
            .filter(is_for!(decoder_version))
            .order((index_jobs::priority, index_jobs::id))
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
    ) -> Result<Vec<IndexJob>, SqlError> {
        mark_leased(c, jobs.iter().map(|job| job.id), request)?;
        let seqs: Vec<i64> = jobs.iter().map(|job| job.image_seq).collect();
        let rows: Vec<ImageToIndex> = images::table
            .filter(images::seq.eq_any(seqs.iter().copied()))
            .select(ImageToIndex::as_select())
            .load(c)?;
        let mut images: HashMap<i64, ImageToIndex> = rows.into_iter().map(|row| (row.seq, row)).collect();
        let mut sidecars = sidecars::of(c, &seqs)?;
        let displayable = displayable(c, images.values().map(|image| &image.original))?;
        jobs.iter()
            .map(|job| {
                let reader = RowReader::new("index_jobs", &job.id);
                let image = reader.required("image_seq", images.remove(&job.image_seq))?;
                let has_renditions = displayable.contains(&image.original);
                leased_job(job, image, has_renditions, sidecars.remove(&job.image_seq).unwrap_or_default())
            })
            .collect()
    }
}

pub(super) fn has_available(
    c: &mut SqlConnection,
    decoder_version: u32,
    at: Timestamp,
) -> Result<bool, SqlError> {
    IndexJobRow::is_any_available(c, decoder_version, at)
}

/// Leases jobs, and fails those that have been leased too often.
pub(super) fn lease(
    c: &mut SqlConnection,
    request: &OwnedLeaseRequest,
    decoder_version: u32,
) -> Result<Vec<IndexJob>, SqlError> {
    crate::sql::lease::lease(c, decoder_version, request, |c, given_up: &[IndexJobRow]| {
        for job in given_up {
            let reason = format!("indexing was started {} times and never completed", job.attempts);
            fail_image(c, job.image_seq, &reason, decoder_version)?;
        }
        Ok(())
    })
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
struct ImageToIndex {
    seq: i64,
    id: String,
    state: String,
    original: Vec<u8>,
    original_bytes: i64,
    file_name: Option<String>,
    modified_at_ms: Option<i64>,
    added_at_ms: i64,
    width: Option<i64>,
    height: Option<i64>,
    damaged: Option<String>,
    decoder_version: Option<i64>,
}

/// The originals among these that have all renditions that a visible image needs.
fn displayable<'a>(
    c: &mut SqlConnection,
    originals: impl Iterator<Item = &'a Vec<u8>>,
) -> Result<HashSet<Vec<u8>>, SqlError> {
    let names: Vec<&str> = Rendition::displayable().map(Rendition::name).collect();
    let rows: Vec<Vec<u8>> = renditions::table
        .filter(renditions::original.eq_any(originals))
        .filter(renditions::name.eq_any(&names))
        .select(renditions::original)
        .load(c)?;
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for original in rows {
        *counts.entry(original).or_default() += 1;
    }
    counts.retain(|_, count| *count == names.len());
    Ok(counts.into_keys().collect())
}

/// The job as its worker gets it.
fn leased_job(
    job: &IndexJobRow,
    image: ImageToIndex,
    has_renditions: bool,
    sidecars: Vec<Sidecar>,
) -> Result<IndexJob, SqlError> {
    let reader = RowReader::new("images", &job.image_seq);
    Ok(IndexJob {
        id: JobId(job.id),
        picture: if has_renditions { picture(&image)? } else { None },
        image: reader.required("id", ImageId::parse(image.id))?,
        original: reader.hash("original", &image.original)?,
        original_bytes: reader.unsigned("original_bytes", image.original_bytes)?,
        file: FileInfo {
            name: image.file_name,
            modified_at: reader.optional_timestamp("modified_at_ms", image.modified_at_ms)?,
            added_at: reader.timestamp("added_at_ms", image.added_at_ms)?,
            sidecars,
        },
        attempts: RowReader::new("index_jobs", &job.id)
            .unsigned("attempts", job.attempts.saturating_add(1))?,
    })
}

fn picture(image: &ImageToIndex) -> Result<Option<DecodedPicture>, SqlError> {
    if image.state != "ready" {
        return Ok(None);
    }
    let reader = RowReader::new("images", &image.seq);
    let version = reader.required("decoder_version", image.decoder_version)?;
    Ok(Some(DecodedPicture {
        size: reader
            .size(reader.required("width", image.width)?, reader.required("height", image.height)?)?,
        damaged: image.damaged.clone(),
        decoder_version: reader.unsigned("decoder_version", version)?,
    }))
}
