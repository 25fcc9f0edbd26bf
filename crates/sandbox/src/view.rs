//! JPEGs of several renditions at once.

use bytes::Bytes;
use domain::Sidecar;
use media::ViewOptions;

use crate::{
    FileFault, PoolOptions,
    exchange::{WorkerJob, receive_response},
    jpeg,
    process::{TimeLimit, Worker, WorkerError},
    response::{DecodePlan, InvalidResponse},
    wire::{JobSpec, Response},
};

/// Makes views of renditions, as [`media::views`] does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ViewTask {
    pub(crate) options: ViewOptions,
    /// The length of each file.
    pub(crate) file_bytes: Vec<u64>,
}

impl ViewTask {
    pub(crate) fn new(files: &[Bytes], options: ViewOptions) -> Self {
        Self { options, file_bytes: files.iter().map(|file| file.len() as u64).collect() }
    }

    /// Checks the announced lengths.
    pub(crate) fn check_lengths(&self, jpeg_bytes: &[u64]) -> Result<(), InvalidResponse> {
        let expected = if self.options.sheet { 1 } else { self.file_bytes.len() };
        if jpeg_bytes.len() != expected {
            return Err(InvalidResponse("it made other views than were requested"));
        }
        let total = jpeg_bytes.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(*bytes));
        if total
            .and_then(|bytes| usize::try_from(bytes).ok())
            .is_none_or(|bytes| bytes > self.options.max_bytes)
        {
            return Err(InvalidResponse("it made views that are too long"));
        }
        Ok(())
    }

    /// Checks the form of a JPEG.
    pub(crate) fn check_view(&self, view: &[u8]) -> Result<(), InvalidResponse> {
        jpeg::check(view, self.options.longest_side_px()).map_err(InvalidResponse)
    }
}

impl WorkerJob for ViewTask {
    type Outcome = Vec<Bytes>;

    fn reads_text(&self) -> bool {
        false
    }

    fn spec(&self, _options: &PoolOptions) -> JobSpec {
        let ViewOptions { rendition, sheet, max_bytes } = self.options;
        let (file_bytes, rendition) = (self.file_bytes.clone(), rendition.name().to_owned());
        JobSpec::View { file_bytes, rendition, sheet, max_bytes }
    }

    fn sidecars(&self) -> &[Sidecar] {
        &[]
    }

    async fn finish(
        &self,
        worker: &mut Worker,
        _plan: DecodePlan,
        time_limit: &mut TimeLimit,
    ) -> Result<Result<Vec<Bytes>, FileFault>, WorkerError> {
        let viewed = receive_response(worker, time_limit, |response| match response {
            Response::Viewed { jpeg_bytes } => Some(jpeg_bytes),
            _ => None,
        });
        let jpeg_bytes = match viewed.await? {
            Ok(jpeg_bytes) => jpeg_bytes,
            Err(refused) => return Ok(Err(refused)),
        };
        self.check_lengths(&jpeg_bytes)?;
        let mut views = Vec::with_capacity(jpeg_bytes.len());
        for length in jpeg_bytes {
            let view = worker.receive_bytes(length, time_limit).await?;
            self.check_view(&view)?;
            views.push(Bytes::from(view));
        }
        Ok(Ok(views))
    }
}
