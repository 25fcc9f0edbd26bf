//! The exchange with a worker about one photo.

use std::{io, pin::pin};

use bytes::Bytes;
use domain::Sidecar;
use futures_util::{Stream, StreamExt as _};
use media::{Rendered, RgbPicture};

use crate::{
    Analysis, AnalysisTask, DecodeTask, DecodedPhoto, FileFault, PoolOptions,
    process::{TimeLimit, Worker, WorkerError},
    response::{self, DecodePlan},
    wire::{Inspection, JobRequest, JobSpec, Proceed, Response},
};

/// A job that a worker does with a file.
pub(crate) trait WorkerJob: Sync {
    type Outcome: Send;

    /// Whether it needs a worker with OCR.
    fn reads_text(&self) -> bool;

    /// The job as it is sent to the worker.
    fn spec(&self, options: &PoolOptions) -> JobSpec;

    /// The sidecars to send with the file.
    fn sidecars(&self) -> &[Sidecar];

    /// Lets the worker do the job, for which memory is now reserved, and validates the result.
    fn finish(
        &self,
        worker: &mut Worker,
        plan: DecodePlan,
        time_limit: &mut TimeLimit,
    ) -> impl Future<Output = Result<Result<Self::Outcome, FileFault>, WorkerError>> + Send;
}

/// Why a job has no outcome.
#[derive(Debug)]
pub(crate) enum ExchangeError<E> {
    /// The worker failed. The file may be at fault.
    Worker(WorkerError),
    /// The file cannot be read.
    Source(E),
    /// The file is not as long as it should be.
    SourceLength,
    Closed,
    /// A more urgent job needs the memory.
    Preempted,
}

impl<E> From<WorkerError> for ExchangeError<E> {
    fn from(error: WorkerError) -> Self {
        Self::Worker(error)
    }
}

/// Announces a job to a worker. An error is not the file's fault, because the worker has not received any of its bytes.
pub(crate) async fn send_request(
    worker: &mut Worker,
    request: &JobRequest,
    time_limit: &mut TimeLimit,
) -> io::Result<()> {
    Ok(worker.send_message(request, time_limit).await?)
}

/// Sends the sidecars and the file.
pub(crate) async fn send<E>(
    worker: &mut Worker,
    sidecars: &[Sidecar],
    chunks: impl Stream<Item = Result<Bytes, E>>,
    length: u64,
    time_limit: &mut TimeLimit,
) -> Result<(), ExchangeError<E>> {
    for sidecar in sidecars {
        worker.send_bytes(&sidecar.content, time_limit).await?;
    }
    let mut chunks = pin!(chunks);
    let mut left = length;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(ExchangeError::Source)?;
        left = left.checked_sub(chunk.len() as u64).ok_or(ExchangeError::SourceLength)?;
        worker.send_bytes(&chunk, time_limit).await?;
    }
    if left > 0 { Err(ExchangeError::SourceLength) } else { Ok(()) }
}

/// Receives the result of reading the headers.
pub(crate) async fn inspect(
    worker: &mut Worker,
    max_pixels: u64,
    time_limit: &mut TimeLimit,
) -> Result<Result<DecodePlan, FileFault>, WorkerError> {
    match worker.receive_message(time_limit).await? {
        Inspection::Picture { upright_size, memory_bytes } => {
            Ok(Ok(DecodePlan::new(upright_size, memory_bytes, max_pixels)?))
        }
        Inspection::Refused(refusal) => Ok(Err(response::refused(&refusal)?)),
    }
}

/// Lets the worker proceed and receives its response. `expected` returns `None` for a response to another kind of job.
pub(crate) async fn receive_response<T>(
    worker: &mut Worker,
    time_limit: &mut TimeLimit,
    expected: impl FnOnce(Response) -> Option<T>,
) -> Result<Result<T, FileFault>, WorkerError> {
    worker.send_message(&Proceed {}, time_limit).await?;
    match worker.receive_message(time_limit).await? {
        Response::Refused(refusal) => Ok(Err(response::refused(&refusal)?)),
        other => {
            let mismatch = || WorkerError::InvalidResponse("it responded to another kind of job".into());
            expected(other).map(Ok).ok_or_else(mismatch)
        }
    }
}

impl WorkerJob for DecodeTask {
    type Outcome = DecodedPhoto;

    fn reads_text(&self) -> bool {
        false
    }

    fn spec(&self, _options: &PoolOptions) -> JobSpec {
        response::job_spec(self)
    }

    fn sidecars(&self) -> &[Sidecar] {
        self.read_metadata.as_ref().map_or(&[], |info| &info.sidecars)
    }

    async fn finish(
        &self,
        worker: &mut Worker,
        plan: DecodePlan,
        time_limit: &mut TimeLimit,
    ) -> Result<Result<DecodedPhoto, FileFault>, WorkerError> {
        let rendered = receive_response(worker, time_limit, |response| match response {
            Response::Rendered { damaged, webp_bytes, metadata, thumbhash } => {
                Some((damaged, webp_bytes, metadata, thumbhash))
            }
            _ => None,
        });
        let (damaged, webp_bytes, metadata, thumbhash) = match rendered.await? {
            Ok(rendered) => rendered,
            Err(refused) => return Ok(Err(refused)),
        };
        if metadata.is_some() != self.read_metadata.is_some() {
            return Err(WorkerError::InvalidResponse(
                "it returned metadata that were not requested, or none".into(),
            ));
        }
        let metadata = metadata.map(|metadata| response::metadata(*metadata)).transpose()?;
        let thumbhash = response::thumbhash(thumbhash)?;
        let requested = plan.renditions(&self.renditions);
        plan.check_lengths(&requested, &webp_bytes)?;
        let full_size = plan.upright_size.fit_within(domain::Rendition::Full.longest_side_px());
        let mut renditions = Vec::with_capacity(requested.len());
        for ((rendition, size), length) in requested.into_iter().zip(webp_bytes) {
            let webp = worker.receive_bytes(length, time_limit).await?;
            renditions.push(response::rendition(rendition, size, webp)?);
        }
        let damaged = damaged.as_deref().and_then(response::reason);
        Ok(Ok(DecodedPhoto { rendered: Rendered { full_size, damaged, renditions, thumbhash }, metadata }))
    }
}

impl WorkerJob for AnalysisTask {
    type Outcome = Analysis;

    fn reads_text(&self) -> bool {
        self.read_text
    }

    fn spec(&self, options: &PoolOptions) -> JobSpec {
        let milliseconds = u64::try_from(options.ocr_limit.as_millis()).unwrap_or(u64::MAX);
        JobSpec::Analyze { max_side_px: self.side_px(), read_text_ms: self.read_text.then_some(milliseconds) }
    }

    fn sidecars(&self) -> &[Sidecar] {
        &[]
    }

    async fn finish(
        &self,
        worker: &mut Worker,
        plan: DecodePlan,
        time_limit: &mut TimeLimit,
    ) -> Result<Result<Analysis, FileFault>, WorkerError> {
        let analyzed = receive_response(worker, time_limit, |response| match response {
            Response::Analyzed { text } => Some(text),
            _ => None,
        });
        let text = match analyzed.await? {
            Ok(text) => response::text(text, self)?,
            Err(refused) => return Ok(Err(refused)),
        };
        let picture = match plan.rgb_picture(self) {
            Some((size, length)) => {
                Some(RgbPicture { size, rgb: worker.receive_bytes(length, time_limit).await? })
            }
            None => None,
        };
        Ok(Ok(Analysis { picture, text }))
    }
}
