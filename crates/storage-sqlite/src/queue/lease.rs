use std::collections::HashMap;

use diesel::{SqliteConnection, prelude::*};
use domain::{FileInfo, ImageId, Sidecar, Timestamp};
use storage::{DecodedPicture, IndexJob, JobId};

use super::{jobs::fail_image, sidecars};
use crate::{
    error::Failure,
    lease::{FreeJob, Request, leases},
    schema::{images, index_jobs},
    value::RowName,
};

leases!(index_jobs by id: i64);

#[derive(Queryable, Selectable)]
#[diesel(table_name = index_jobs, check_for_backend(diesel::sqlite::Sqlite))]
struct WaitingJob {
    id: i64,
    image_seq: i64,
    attempts: i64,
}

impl FreeJob for WaitingJob {
    type Leased = IndexJob;
    type Queue = ();

    fn free(c: &mut SqliteConnection, (): (), at: Timestamp, max: u32) -> Result<Vec<Self>, Failure> {
        let unleased = index_jobs::leased_until_ms.is_null().or(index_jobs::leased_until_ms.lt(at.millis()));
        Ok(index_jobs::table
            .filter(index_jobs::not_before_ms.le(at.millis()))
            .filter(unleased)
            .order((index_jobs::priority, index_jobs::id))
            .limit(i64::from(max))
            .select(Self::as_select())
            .load(c)?)
    }

    fn attempts(&self) -> i64 {
        self.attempts
    }

    fn take(c: &mut SqliteConnection, jobs: &[Self], request: &Request) -> Result<Vec<IndexJob>, Failure> {
        hold(c, jobs.iter().map(|job| job.id), request)?;
        let seqs: Vec<i64> = jobs.iter().map(|job| job.image_seq).collect();
        let rows: Vec<ImageToIndex> = images::table
            .filter(images::seq.eq_any(seqs.iter().copied()))
            .select(ImageToIndex::as_select())
            .load(c)?;
        let mut images: HashMap<i64, ImageToIndex> = rows.into_iter().map(|row| (row.seq, row)).collect();
        let mut sidecars = sidecars::of(c, &seqs)?;
        jobs.iter()
            .map(|job| {
                let name = RowName::new("index_jobs", &job.id);
                let image = name.some("image_seq", images.remove(&job.image_seq))?;
                described(job, image, sidecars.remove(&job.image_seq).unwrap_or_default())
            })
            .collect()
    }
}

pub(super) fn any_free(c: &mut SqliteConnection, at: Timestamp) -> Result<bool, Failure> {
    Ok(!WaitingJob::free(c, (), at, 1)?.is_empty())
}

/// Leases jobs, and fails those that were leased too often.
pub(super) fn lease(
    c: &mut SqliteConnection,
    request: &Request,
    decoder_version: u32,
) -> Result<Vec<IndexJob>, Failure> {
    crate::lease::lease(c, (), request, |c, given_up: &[WaitingJob]| {
        for job in given_up {
            let reason = format!("indexing was started {} times and never came to an end", job.attempts);
            fail_image(c, job.image_seq, &reason, decoder_version)?;
        }
        Ok(())
    })
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(diesel::sqlite::Sqlite))]
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

/// A job that was just leased, as its worker sees it.
fn described(job: &WaitingJob, image: ImageToIndex, sidecars: Vec<Sidecar>) -> Result<IndexJob, Failure> {
    let name = RowName::new("images", &job.image_seq);
    Ok(IndexJob {
        id: JobId(job.id),
        picture: picture(&image)?,
        image: name.some("id", ImageId::parse(image.id))?,
        original: name.hash("original", &image.original)?,
        original_bytes: name.unsigned("original_bytes", image.original_bytes)?,
        file: FileInfo {
            name: image.file_name,
            modified_at: name.optional_timestamp("modified_at_ms", image.modified_at_ms)?,
            added_at: name.timestamp("added_at_ms", image.added_at_ms)?,
            sidecars,
        },
        attempts: RowName::new("index_jobs", &job.id).unsigned("attempts", job.attempts.saturating_add(1))?,
    })
}

fn picture(image: &ImageToIndex) -> Result<Option<DecodedPicture>, Failure> {
    if image.state != "ready" {
        return Ok(None);
    }
    let name = RowName::new("images", &image.seq);
    let version = name.some("decoder_version", image.decoder_version)?;
    Ok(Some(DecodedPicture {
        size: name.size(name.some("width", image.width)?, name.some("height", image.height)?)?,
        damaged: image.damaged.clone(),
        decoder_version: name.unsigned("decoder_version", version)?,
    }))
}
