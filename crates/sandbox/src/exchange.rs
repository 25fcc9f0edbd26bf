//! One photo, from the request to the answer.

use std::{io, pin::pin};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use media::Rendered;

use crate::{
    Decoded, FileFault, Task,
    answer::{self, Plan},
    process::{Patience, Trouble, Worker},
    wire::{Answer, Go, Inspected, Request},
};

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
    task: &Task,
    chunks: impl Stream<Item = Result<Bytes, E>>,
    length: u64,
    patience: &mut Patience,
) -> Result<(), Interrupted<E>> {
    for (_, sidecar) in task.sidecars() {
        worker.send(sidecar, patience).await?;
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
    task: &Task,
    max_pixels: u64,
    patience: &mut Patience,
) -> Result<Result<Plan, FileFault>, Trouble> {
    match worker.hear(patience).await? {
        Inspected::Picture { upright_size, memory_bytes } => {
            Ok(Ok(Plan::new(upright_size, memory_bytes, &task.wanted, max_pixels)?))
        }
        Inspected::Refused(refusal) => Ok(Err(answer::refused(&refusal)?)),
    }
}

/// Has it rendered, and checks all that comes.
pub(crate) async fn render(
    worker: &mut Worker,
    task: &Task,
    plan: Plan,
    patience: &mut Patience,
) -> Result<Result<Decoded, FileFault>, Trouble> {
    worker.say(&Go {}, patience).await?;
    let (damaged, webp_bytes, metadata) = match worker.hear(patience).await? {
        Answer::Rendered { damaged, webp_bytes, metadata } => (damaged, webp_bytes, metadata),
        Answer::Refused(refusal) => return Ok(Err(answer::refused(&refusal)?)),
    };
    if metadata.is_some() != task.read_metadata.is_some() {
        return Err(Trouble::Lied("it read other metadata than were wanted".into()));
    }
    let metadata = metadata.map(answer::metadata).transpose()?;
    plan.check_lengths(&webp_bytes)?;
    let full_size = plan.upright_size.fit_within(domain::Rendition::Full.longest_side_px());
    let mut renditions = Vec::with_capacity(plan.renditions.len());
    for ((rendition, size), length) in plan.renditions.into_iter().zip(webp_bytes) {
        let webp = worker.receive(length, patience).await?;
        renditions.push(answer::rendition(rendition, size, webp)?);
    }
    let damaged = damaged.as_deref().and_then(answer::reason);
    Ok(Ok(Decoded { rendered: Rendered { full_size, damaged, renditions }, metadata }))
}
