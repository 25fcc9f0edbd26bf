//! A worker process, seen from the service.

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
    limits::{ProcessHandle, Usage},
    response::InvalidResponse,
    wire::{self, Hello, PROTOCOL},
};

/// How long a worker may take to start.
const START_TIME_LIMIT: Duration = Duration::from_secs(30);
/// How long a worker may take to exit after its pipes are closed.
const EXIT_TIME_LIMIT: Duration = Duration::from_secs(2);
/// The scheduling priorities. A deferrable job leaves seven eighths of a processor to a background job.
const BACKGROUND_NICENESS: i32 = 10;
const DEFERRABLE_NICENESS: i32 = 19;
/// How much of the end of stderr is kept.
const MAX_STDERR_BYTES: usize = 4096;
/// What the runtimes of Rust and C++ print before they abort because an allocation failed.
const OUT_OF_MEMORY_MESSAGES: [&str; 2] = ["memory allocation of", "std::bad_alloc"];

/// A running worker. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    stderr: JoinHandle<Vec<u8>>,
    process: ProcessHandle,
    pub(crate) urgency: Urgency,
    pub(crate) protections: Protections,
    pub(crate) ocr_status: OcrStatus,
    /// What it used before its first photo.
    initial_usage: Option<Usage>,
    pub(crate) jobs: u32,
    pub(crate) idle_since: Instant,
}

/// Why an exchange with a worker failed.
#[derive(Debug)]
pub(crate) enum WorkerError {
    /// It exited, or closed its pipes.
    Disconnected(io::Error),
    /// It sent something malformed or impossible.
    InvalidResponse(String),
    TimedOut,
}

impl From<InvalidResponse> for WorkerError {
    fn from(error: InvalidResponse) -> Self {
        Self::InvalidResponse(error.0.to_owned())
    }
}

impl From<WorkerError> for io::Error {
    fn from(error: WorkerError) -> Self {
        match error {
            WorkerError::Disconnected(error) => error,
            WorkerError::TimedOut => io::ErrorKind::TimedOut.into(),
            WorkerError::InvalidResponse(reason) => Self::other(reason),
        }
    }
}

/// The remaining time of a worker. Only the time in which the service waits for the worker counts.
#[derive(Debug)]
pub(crate) struct TimeLimit {
    remaining: Duration,
}

impl TimeLimit {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { remaining: limit }
    }

    async fn run<T>(&mut self, work: impl Future<Output = io::Result<T>>) -> Result<T, WorkerError> {
        let begin = Instant::now();
        let outcome = time::timeout(self.remaining, work).await;
        self.remaining = self.remaining.saturating_sub(begin.elapsed());
        match outcome {
            Err(_) => Err(WorkerError::TimedOut),
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Err(WorkerError::InvalidResponse(error.to_string()))
            }
            Ok(Err(error)) => Err(WorkerError::Disconnected(error)),
        }
    }
}

/// The limits of a job, which the fault of the file names if a worker exceeds one of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobLimits {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) memory_bytes: u64,
}

impl Worker {
    /// Waits until a spawned process reports that it is ready.
    ///
    /// # Errors
    /// It fails to start, or it is another version of the program.
    pub(crate) async fn start(mut child: Child, urgency: Urgency) -> io::Result<Self> {
        let no_pipes = || io::Error::other("a decoder has no pipes");
        let input = child.stdin.take().ok_or_else(no_pipes)?;
        let output = child.stdout.take().ok_or_else(no_pipes)?;
        let stderr = tokio::spawn(last_bytes(child.stderr.take().ok_or_else(no_pipes)?));
        let process = child.id().and_then(ProcessHandle::new).ok_or_else(no_pipes)?;
        let protections =
            Protections { files: false, system_calls: false, capabilities: false, limits: false };
        let mut worker = Self {
            child,
            input,
            output,
            stderr,
            process,
            urgency,
            protections,
            ocr_status: OcrStatus::Off,
            initial_usage: None,
            jobs: 0,
            idle_since: Instant::now(),
        };
        let hello = worker.receive_message::<Hello>(&mut TimeLimit::new(START_TIME_LIMIT)).await;
        match hello {
            Ok(hello) if hello.protocol == PROTOCOL && hello.decoder_version == media::DECODER_VERSION => {
                worker.set_up(hello.protections);
                worker.ocr_status = hello.ocr_status;
                Ok(worker)
            }
            Ok(_) => Err(io::Error::other("the decoder has another version than the service")),
            Err(error) => {
                let (status, stderr) = worker.stop(&error).await;
                Err(io::Error::other(format!(
                    "the decoder does not start: {} {stderr}",
                    describe_exit(status)
                )))
            }
        }
    }

    fn set_up(&mut self, reported: Protections) {
        let niceness = match self.urgency {
            Urgency::Interactive => None,
            Urgency::Background => Some(BACKGROUND_NICENESS),
            Urgency::Deferrable => Some(DEFERRABLE_NICENESS),
        };
        if let Some(Err(error)) = niceness.map(|niceness| self.process.lower_priority(niceness)) {
            tracing::debug!(%error, "the priority of a decoder cannot be lowered");
        }
        self.initial_usage = self.process.usage().ok();
        let limits = self.initial_usage.is_some_and(|usage| self.limit_memory(usage, u64::MAX).is_ok());
        self.protections = Protections { limits, ..reported };
    }

    fn limit_memory(&self, now: Usage, bytes: u64) -> io::Result<()> {
        self.process.limit_mapped_bytes(now.mapped_bytes.saturating_add(bytes))
    }

    /// Whether the worker is running and waits for a request. A worker that has sent something unrequested is not
    /// ready.
    pub(crate) fn is_ready(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
            && rustix::io::ioctl_fionread(&self.output).is_ok_and(|unread| unread == 0)
    }

    /// Limits the memory and processor time of the next job, in addition to the worker's current usage, which is
    /// returned.
    pub(crate) fn limit(&self, memory_bytes: u64, cpu: Duration) -> Option<Usage> {
        let limited = || {
            let now = self.process.usage()?;
            self.limit_memory(now, memory_bytes)?;
            self.process.limit_cpu(now.cpu + cpu.max(Duration::from_secs(1)))?;
            Ok::<_, io::Error>(now)
        };
        limited().inspect_err(|error| tracing::debug!(%error, "the limits of a decoder cannot be set")).ok()
    }

    /// Changes the memory limit of the current job, in addition to the worker's usage `before` the job.
    pub(crate) fn change_memory_limit(&self, before: Option<Usage>, bytes: u64) {
        if let Some(Err(error)) = before.map(|before| self.limit_memory(before, bytes)) {
            tracing::debug!(%error, "the limits of a decoder cannot be set");
        }
    }

    /// Whether it holds much more memory than before its first photo.
    pub(crate) fn has_grown(&self) -> bool {
        const TOLERATED_BYTES: u64 = 64 << 20;
        let now = self.process.usage().ok();
        now.zip(self.initial_usage).is_some_and(|(now, initial)| {
            now.resident_bytes > initial.resident_bytes.saturating_add(TOLERATED_BYTES)
        })
    }

    pub(crate) async fn send_message(
        &mut self,
        message: &impl Serialize,
        time_limit: &mut TimeLimit,
    ) -> Result<(), WorkerError> {
        let message = wire::encode(message).map_err(WorkerError::Disconnected)?;
        self.send_bytes(&message, time_limit).await
    }

    pub(crate) async fn send_bytes(
        &mut self,
        bytes: &[u8],
        time_limit: &mut TimeLimit,
    ) -> Result<(), WorkerError> {
        time_limit.run(self.input.write_all(bytes)).await
    }

    pub(crate) async fn receive_message<T: DeserializeOwned>(
        &mut self,
        time_limit: &mut TimeLimit,
    ) -> Result<T, WorkerError> {
        let output = &mut self.output;
        let message = async {
            let mut length = [0; 4];
            output.read_exact(&mut length).await?;
            let mut json = vec![0; wire::head_length(length)?];
            output.read_exact(&mut json).await?;
            wire::decode(&json).map_err(|error| wire::invalid(format!("a message is malformed: {error}")))
        };
        time_limit.run(message).await
    }

    /// Receives `length` bytes. Memory is allocated as they arrive.
    pub(crate) async fn receive_bytes(
        &mut self,
        length: u64,
        time_limit: &mut TimeLimit,
    ) -> Result<Vec<u8>, WorkerError> {
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
        time_limit.run(bytes).await
    }

    /// Stops it after an error, and determines the fault of the file.
    pub(crate) async fn stop_after_error(self, error: WorkerError, limits: JobLimits) -> FileFault {
        let (status, stderr) = self.stop(&error).await;
        let signal = status.and_then(|status| status.signal());
        let fault = match error {
            WorkerError::TimedOut => FileFault::TimedOut { kind: TimeKind::Wall, limit: limits.wall },
            WorkerError::InvalidResponse(reason) => {
                FileFault::Crashed { how: format!("invalid response: {reason}") }
            }
            WorkerError::Disconnected(_) if signal == Some(rustix::process::Signal::XCPU.as_raw()) => {
                FileFault::TimedOut { kind: TimeKind::Cpu, limit: limits.cpu }
            }
            WorkerError::Disconnected(_)
                if OUT_OF_MEMORY_MESSAGES.iter().any(|text| stderr.contains(text)) =>
            {
                FileFault::OutOfMemory { limit_bytes: limits.memory_bytes }
            }
            WorkerError::Disconnected(_) => FileFault::Crashed { how: describe_exit(status) },
        };
        tracing::debug!(%stderr, "stderr of a failed decoder");
        fault
    }

    /// Stops it. Returns its exit status and the end of its stderr.
    async fn stop(mut self, error: &WorkerError) -> (Option<ExitStatus>, String) {
        // A worker that exited has a status of its own, which a kill would hide.
        let exited = match error {
            WorkerError::Disconnected(_) => time::timeout(EXIT_TIME_LIMIT, self.child.wait()).await.ok(),
            WorkerError::InvalidResponse(_) | WorkerError::TimedOut => None,
        };
        let status = match exited {
            Some(status) => status,
            None => match self.child.start_kill() {
                Ok(()) => self.child.wait().await,
                Err(error) => Err(error),
            },
        };
        let stderr = time::timeout(EXIT_TIME_LIMIT, self.stderr).await;
        let stderr = stderr.ok().and_then(Result::ok).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr).trim().escape_debug().to_string();
        (status.ok(), stderr)
    }

    /// Closes its input, which ends it; kills it if it does not exit.
    pub(crate) async fn shut_down(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        if time::timeout(EXIT_TIME_LIMIT, child.wait()).await.is_err()
            && let Err(error) = child.kill().await
        {
            tracing::warn!(%error, "a decoder cannot be killed");
        }
    }
}

fn describe_exit(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| "exit status unknown".to_owned(), |status| status.to_string())
}

/// Reads to the end, so that the writer never blocks, and returns the last bytes.
async fn last_bytes(mut from: impl AsyncRead + Unpin) -> Vec<u8> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        kept.extend(chunk.iter().take(read));
        kept.drain(..kept.len().saturating_sub(MAX_STDERR_BYTES));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn end_of_stderr_is_kept() {
        assert_eq!(last_bytes(&b"short"[..]).await, b"short");
        let long: Vec<u8> = (0..20_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
        assert_eq!(last_bytes(&long[..]).await, long[long.len() - MAX_STDERR_BYTES..]);
    }
}
