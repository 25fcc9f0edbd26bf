//! A worker as the service sees it.

use std::{io, os::unix::process::ExitStatusExt as _, process::ExitStatus, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStdin, ChildStdout},
    task::JoinHandle,
    time::{self, Instant},
};

use crate::{
    FileFault, OcrStatus, Protections, TimeKind, Urgency,
    answer::Lie,
    limits::{Process, Usage},
    wire::{self, Hello, PROTOCOL},
};

/// How long a worker may take to start.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How long a process may take to end once it has closed its pipes.
const END_LIMIT: Duration = Duration::from_secs(2);
/// How much of what a worker complains about is kept.
const KEPT_COMPLAINT_BYTES: usize = 4096;
/// What the runtimes of Rust and C++ say before they abort for want of memory.
const OUT_OF_MEMORY: [&str; 2] = ["memory allocation of", "std::bad_alloc"];

/// A running worker. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    complaints: JoinHandle<Vec<u8>>,
    process: Process,
    pub(crate) urgency: Urgency,
    pub(crate) protections: Protections,
    pub(crate) text_reading: OcrStatus,
    /// What it held before its first photo.
    fresh: Option<Usage>,
    pub(crate) jobs: u32,
    pub(crate) idle_since: Instant,
}

/// Why talking with a worker came to an end.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It is gone, or closed its pipes.
    Gone(io::Error),
    /// It said what cannot be.
    Lied(String),
    /// The time is over.
    Slow,
}

impl From<Lie> for Trouble {
    fn from(lie: Lie) -> Self {
        Self::Lied(lie.0.to_owned())
    }
}

impl From<Trouble> for io::Error {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Gone(error) => error,
            Trouble::Slow => io::ErrorKind::TimedOut.into(),
            Trouble::Lied(lie) => Self::other(lie),
        }
    }
}

/// The time that a worker may still take. It runs only while the worker is waited for.
#[derive(Debug)]
pub(crate) struct Patience {
    left: Duration,
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { left: limit }
    }

    async fn wait<T>(&mut self, work: impl Future<Output = io::Result<T>>) -> Result<T, Trouble> {
        let begin = Instant::now();
        let outcome = time::timeout(self.left, work).await;
        self.left = self.left.saturating_sub(begin.elapsed());
        match outcome {
            Err(_) => Err(Trouble::Slow),
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Err(Trouble::Lied(error.to_string()))
            }
            Ok(Err(error)) => Err(Trouble::Gone(error)),
        }
    }
}

/// The limits that a photo was decoded under, for telling which of them a worker met.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) memory_bytes: u64,
}

impl Worker {
    /// Waits for a started worker to say that it is ready.
    ///
    /// # Errors
    /// It does not, or it is another version of the program.
    pub(crate) async fn welcome(mut child: Child, urgency: Urgency) -> io::Result<Self> {
        let lost = || io::Error::other("a decoder has lost its pipes");
        let input = child.stdin.take().ok_or_else(lost)?;
        let output = child.stdout.take().ok_or_else(lost)?;
        let complaints = tokio::spawn(last_bytes(child.stderr.take().ok_or_else(lost)?));
        let process = child.id().and_then(Process::new).ok_or_else(lost)?;
        let protections = Protections { files: false, system_calls: false, limits: false };
        let mut worker = Self {
            child,
            input,
            output,
            complaints,
            process,
            urgency,
            protections,
            text_reading: OcrStatus::Off,
            fresh: None,
            jobs: 0,
            idle_since: Instant::now(),
        };
        let hello = worker.hear::<Hello>(&mut Patience::new(START_LIMIT)).await;
        match hello {
            Ok(hello) if hello.protocol == PROTOCOL && hello.decoder_version == media::DECODER_VERSION => {
                worker.settle_in(hello.protections);
                worker.text_reading = hello.text_reading;
                Ok(worker)
            }
            Ok(_) => Err(io::Error::other("the decoder is of another version than the service")),
            Err(trouble) => {
                let (end, complaint) = worker.end(&trouble).await;
                Err(io::Error::other(format!("the decoder does not start: {} {complaint}", described(end))))
            }
        }
    }

    fn settle_in(&mut self, said: Protections) {
        if self.urgency == Urgency::Background
            && let Err(error) = self.process.yield_to_others()
        {
            tracing::debug!(%error, "a background decoder keeps its priority");
        }
        self.fresh = self.process.usage().ok();
        let limits = self.fresh.is_some_and(|fresh| self.limit_memory(fresh, u64::MAX).is_ok());
        self.protections = Protections { limits, ..said };
    }

    fn limit_memory(&self, now: Usage, bytes: u64) -> io::Result<()> {
        self.process.limit_mapped_bytes(now.mapped_bytes.saturating_add(bytes))
    }

    /// Whether it runs still, and waits to be asked: it must have nothing to say before.
    pub(crate) fn is_ready(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
            && rustix::io::ioctl_fionread(&self.output).is_ok_and(|said| said == 0)
    }

    /// Bounds what it uses, beyond what it uses now, for the next photo. Gives what it uses now.
    pub(crate) fn bound(&self, memory_bytes: u64, cpu: Duration) -> Option<Usage> {
        let bounded = || {
            let now = self.process.usage()?;
            self.limit_memory(now, memory_bytes)?;
            self.process.limit_cpu(now.cpu + cpu.max(Duration::from_secs(1)))?;
            Ok::<_, io::Error>(now)
        };
        bounded().inspect_err(|error| tracing::debug!(%error, "a decoder is not bounded")).ok()
    }

    /// Bounds its memory anew, beyond what it used `before`.
    pub(crate) fn bound_memory(&self, before: Option<Usage>, bytes: u64) {
        if let Some(Err(error)) = before.map(|before| self.limit_memory(before, bytes)) {
            tracing::debug!(%error, "a decoder is not bounded");
        }
    }

    /// Whether it holds much more than it did before its first photo.
    pub(crate) fn is_bloated(&self) -> bool {
        const TOLERATED_BYTES: u64 = 64 << 20;
        let now = self.process.usage().ok();
        now.zip(self.fresh).is_some_and(|(now, fresh)| {
            now.resident_bytes > fresh.resident_bytes.saturating_add(TOLERATED_BYTES)
        })
    }

    pub(crate) async fn say(
        &mut self,
        message: &impl Serialize,
        patience: &mut Patience,
    ) -> Result<(), Trouble> {
        let message = wire::encode(message).map_err(Trouble::Gone)?;
        self.send(&message, patience).await
    }

    pub(crate) async fn send(&mut self, bytes: &[u8], patience: &mut Patience) -> Result<(), Trouble> {
        patience.wait(self.input.write_all(bytes)).await
    }

    pub(crate) async fn hear<T: DeserializeOwned>(&mut self, patience: &mut Patience) -> Result<T, Trouble> {
        let output = &mut self.output;
        let message = async {
            let mut length = [0; 4];
            output.read_exact(&mut length).await?;
            let mut json = vec![0; wire::head_length(length)?];
            output.read_exact(&mut json).await?;
            wire::decode(&json).map_err(|error| wire::invalid(format!("a message is malformed: {error}")))
        };
        patience.wait(message).await
    }

    /// So many bytes; memory is taken as they come.
    pub(crate) async fn receive(&mut self, length: u64, patience: &mut Patience) -> Result<Vec<u8>, Trouble> {
        let output = &mut self.output;
        let bytes = async {
            let mut bytes = Vec::new();
            output.take(length).read_to_end(&mut bytes).await?;
            if bytes.len() as u64 == length {
                bytes.shrink_to_fit();
                Ok(bytes)
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        };
        patience.wait(bytes).await
    }

    /// Ends it after trouble over a file, and says what the trouble was.
    pub(crate) async fn blame(self, trouble: Trouble, bounds: Bounds) -> FileFault {
        let (end, complaint) = self.end(&trouble).await;
        let signal = end.and_then(|end| end.signal());
        let fault = match trouble {
            Trouble::Slow => FileFault::TimedOut { kind: TimeKind::Wall, limit: bounds.wall },
            Trouble::Lied(lie) => FileFault::Crashed { how: format!("it gave nonsense: {lie}") },
            Trouble::Gone(_) if signal == Some(rustix::process::Signal::XCPU.as_raw()) => {
                FileFault::TimedOut { kind: TimeKind::Cpu, limit: bounds.cpu }
            }
            Trouble::Gone(_) if OUT_OF_MEMORY.iter().any(|words| complaint.contains(words)) => {
                FileFault::OutOfMemory { limit_bytes: bounds.memory_bytes }
            }
            Trouble::Gone(_) => FileFault::Crashed { how: described(end) },
        };
        tracing::debug!(%complaint, "a decoder's last words");
        fault
    }

    /// Ends it; gives how it ended and what it complained about.
    async fn end(mut self, trouble: &Trouble) -> (Option<ExitStatus>, String) {
        // What is gone by itself has an end of its own, which a kill would hide.
        let by_itself = match trouble {
            Trouble::Gone(_) => time::timeout(END_LIMIT, self.child.wait()).await.ok(),
            Trouble::Lied(_) | Trouble::Slow => None,
        };
        let end = match by_itself {
            Some(end) => end,
            None => match self.child.start_kill() {
                Ok(()) => self.child.wait().await,
                Err(error) => Err(error),
            },
        };
        let complaint = time::timeout(END_LIMIT, self.complaints).await;
        let complaint = complaint.ok().and_then(Result::ok).unwrap_or_default();
        let complaint = String::from_utf8_lossy(&complaint).trim().escape_debug().to_string();
        (end.ok(), complaint)
    }

    /// Lets it end by closing its input; kills it when it does not.
    pub(crate) async fn dismiss(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        if time::timeout(END_LIMIT, child.wait()).await.is_err()
            && let Err(error) = child.kill().await
        {
            tracing::warn!(%error, "a decoder cannot be ended");
        }
    }
}

fn described(end: Option<ExitStatus>) -> String {
    end.map_or_else(|| "it vanished".to_owned(), |end| end.to_string())
}

/// Reads to the end, so that the writer never waits, and keeps the last bytes.
async fn last_bytes(mut from: impl AsyncRead + Unpin) -> Vec<u8> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        kept.extend(chunk.iter().take(read));
        kept.drain(..kept.len().saturating_sub(KEPT_COMPLAINT_BYTES));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_complaints_are_kept() {
        assert_eq!(last_bytes(&b"short"[..]).await, b"short");
        let long: Vec<u8> = (0..20_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
        assert_eq!(last_bytes(&long[..]).await, long[long.len() - KEPT_COMPLAINT_BYTES..]);
    }
}
