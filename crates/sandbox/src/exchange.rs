//! One photo, from the request to the answer.

use std::{io, pin::pin};

use bytes::Bytes;
use domain::Sidecar;
use futures_util::{Stream, StreamExt as _};
use media::Rendered;

use crate::{
    Analysis, AnalysisTask, DecodeTask, DecodedPhoto, FileFault, PoolOptions, RgbPicture,
    answer::{self, Plan},
    process::{Patience, Trouble, Worker},
    wire::{Answer, Go, Inspected, Order, Request},
};

/// Something that a worker is asked to do with a file.
pub(crate) trait Job: Sync {
    /// What comes of it.
    type Outcome: Send;

    /// Whether only a worker can do it that reads words.
    fn reads_text(&self) -> bool;

    /// What the worker is told.
    fn order(&self, options: &PoolOptions) -> Order;

    /// The sidecars that go to the worker with the file.
    fn sidecars(&self) -> &[Sidecar];

    /// Has it done, now that there is memory for it, and checks all that comes.
    fn finish(
        &self,
        worker: &mut Worker,
        plan: Plan,
        patience: &mut Patience,
    ) -> impl Future<Output = Result<Result<Self::Outcome, FileFault>, Trouble>> + Send;
}

/// Why there is no outcome.
#[derive(Debug)]
pub(crate) enum Interrupted<E> {
    /// The worker failed, and the file may be at fault.
    Trouble(Trouble),
    /// The file cannot be read.
    Source(E),
    /// The file is not as long as it should be.
    SourceLength,
    /// The pool is closed.
    Closed,
}

impl<E> From<Trouble> for Interrupted<E> {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// Tells a worker what comes. Trouble here is not the file's fault: the worker has seen none of it.
pub(crate) async fn begin(worker: &mut Worker, request: &Request, patience: &mut Patience) -> io::Result<()> {
    Ok(worker.say(request, patience).await?)
}

/// Sends the sidecars and the file.
pub(crate) async fn send<E>(
    worker: &mut Worker,
    sidecars: &[Sidecar],
    chunks: impl Stream<Item = Result<Bytes, E>>,
    length: u64,
    patience: &mut Patience,
) -> Result<(), Interrupted<E>> {
    for sidecar in sidecars {
        worker.send(&sidecar.content, patience).await?;
    }
    let mut chunks = pin!(chunks);
    let mut left = length;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(Interrupted::Source)?;
        left = left.checked_sub(chunk.len() as u64).ok_or(Interrupted::SourceLength)?;
        worker.send(&chunk, patience).await?;
    }
    if left > 0 { Err(Interrupted::SourceLength) } else { Ok(()) }
}

/// Hears what the headers say.
pub(crate) async fn inspect(
    worker: &mut Worker,
    max_pixels: u64,
    patience: &mut Patience,
) -> Result<Result<Plan, FileFault>, Trouble> {
    match worker.hear(patience).await? {
        Inspected::Picture { upright_size, memory_bytes } => {
            Ok(Ok(Plan::new(upright_size, memory_bytes, max_pixels)?))
        }
        Inspected::Refused(refusal) => Ok(Err(answer::refused(&refusal)?)),
    }
}

/// Lets the worker go on, and hears what it made. What comes of a job of another kind is a lie.
async fn answer<T>(
    worker: &mut Worker,
    patience: &mut Patience,
    of_this_kind: impl FnOnce(Answer) -> Option<T>,
) -> Result<Result<T, FileFault>, Trouble> {
    worker.say(&Go {}, patience).await?;
    match worker.hear(patience).await? {
        Answer::Refused(refusal) => Ok(Err(answer::refused(&refusal)?)),
        other => {
            let lied = || Trouble::Lied("it did something else than it was asked".into());
            of_this_kind(other).map(Ok).ok_or_else(lied)
        }
    }
}

impl Job for DecodeTask {
    type Outcome = DecodedPhoto;

    fn reads_text(&self) -> bool {
        false
    }

    fn order(&self, _options: &PoolOptions) -> Order {
        answer::order(self)
    }

    fn sidecars(&self) -> &[Sidecar] {
        self.read_metadata.as_ref().map_or(&[], |info| &info.sidecars)
    }

    async fn finish(
        &self,
        worker: &mut Worker,
        plan: Plan,
        patience: &mut Patience,
    ) -> Result<Result<DecodedPhoto, FileFault>, Trouble> {
        let rendered = answer(worker, patience, |answer| match answer {
            Answer::Rendered { damaged, webp_bytes, metadata } => Some((damaged, webp_bytes, metadata)),
            _ => None,
        });
        let (damaged, webp_bytes, metadata) = match rendered.await? {
            Ok(rendered) => rendered,
            Err(refused) => return Ok(Err(refused)),
        };
        if metadata.is_some() != self.read_metadata.is_some() {
            return Err(Trouble::Lied("it read other metadata than were wanted".into()));
        }
        let metadata = metadata.map(answer::metadata).transpose()?;
        let wanted = plan.renditions(&self.renditions);
        plan.check_lengths(&wanted, &webp_bytes)?;
        let full_size = plan.upright_size.fit_within(domain::Rendition::Full.longest_side_px());
        let mut renditions = Vec::with_capacity(wanted.len());
        for ((rendition, size), length) in wanted.into_iter().zip(webp_bytes) {
            let webp = worker.receive(length, patience).await?;
            renditions.push(answer::rendition(rendition, size, webp)?);
        }
        let damaged = damaged.as_deref().and_then(answer::reason);
        Ok(Ok(DecodedPhoto { rendered: Rendered { full_size, damaged, renditions }, metadata }))
    }
}

impl Job for AnalysisTask {
    type Outcome = Analysis;

    fn reads_text(&self) -> bool {
        self.read_text
    }

    fn order(&self, options: &PoolOptions) -> Order {
        let milliseconds = u64::try_from(options.ocr_limit.as_millis()).unwrap_or(u64::MAX);
        Order::Look { max_side_px: self.side_px(), read_text_ms: self.read_text.then_some(milliseconds) }
    }

    fn sidecars(&self) -> &[Sidecar] {
        &[]
    }

    async fn finish(
        &self,
        worker: &mut Worker,
        plan: Plan,
        patience: &mut Patience,
    ) -> Result<Result<Analysis, FileFault>, Trouble> {
        let looked = answer(worker, patience, |answer| match answer {
            Answer::Looked { text } => Some(text),
            _ => None,
        });
        let text = match looked.await? {
            Ok(text) => answer::text(text, self)?,
            Err(refused) => return Ok(Err(refused)),
        };
        let picture = match plan.plain_picture(self) {
            Some((size, length)) => Some(RgbPicture { size, rgb: worker.receive(length, patience).await? }),
            None => None,
        };
        Ok(Ok(Analysis { picture, text }))
    }
}
