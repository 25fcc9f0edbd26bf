//! Why a file was not decoded.

use std::{fmt, io, time::Duration};

use media::MediaError;
use serde::{Deserialize, Serialize};

/// Why a file was not decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError<E> {
    /// The file is at fault: a retry would not help.
    #[error(transparent)]
    File(FileFault),
    /// The file could not be read from its source.
    #[error(transparent)]
    Source(E),
    /// The source has more or fewer bytes than announced.
    #[error("the stored file does not have its {expected} bytes")]
    SourceLength { expected: u64 },
    /// The system is at fault: no worker could be started, or the worker ended before it received the file. A later call may
    /// succeed.
    #[error("no decoder is available: {0}")]
    Unavailable(io::Error),
}

/// Why a file cannot be decoded, for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFault {
    Refused {
        kind: RefusalKind,
        /// The reason: one line, at most [`MAX_REASON_CHARS`] characters.
        reason: String,
    },
    /// Twice, the decoder crashed on this file, or sent an invalid response.
    Crashed {
        /// What happened the second time, for logs.
        how: String,
    },
    /// Twice, the decoder exceeded a time limit.
    TimedOut {
        /// Which limit it was.
        kind: TimeKind,
        limit: Duration,
    },
    /// Twice, the decoder exceeded its memory limit.
    OutOfMemory { limit_bytes: u64 },
}

/// The longest reason, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// How time is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeKind {
    Cpu,
    /// Elapsed time.
    Wall,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { reason, .. } => f.write_str(reason),
            Self::Crashed { .. } => f.write_str("the decoder crashed on this file"),
            Self::TimedOut { kind, limit } => {
                write!(f, "decoding it took longer than {} s", limit.as_secs_f64())?;
                f.write_str(if *kind == TimeKind::Cpu { " of CPU time" } else { "" })
            }
            Self::OutOfMemory { limit_bytes } => {
                write!(f, "decoding it needs more memory than {} MiB", limit_bytes >> 20)
            }
        }
    }
}

impl std::error::Error for FileFault {}

/// The kinds of [`MediaError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    Empty,
    UnknownFormat,
    NoPixels,
    TooManyPixels,
    TooManyScans,
    Truncated,
    Corrupt,
    NoDecoder,
    Movie,
    NoPreview,
    Conversion,
}

impl From<&MediaError> for RefusalKind {
    fn from(error: &MediaError) -> Self {
        match error {
            MediaError::Empty => Self::Empty,
            MediaError::UnknownFormat => Self::UnknownFormat,
            MediaError::NoPixels => Self::NoPixels,
            MediaError::TooManyPixels { .. } => Self::TooManyPixels,
            MediaError::TooManyScans { .. } => Self::TooManyScans,
            MediaError::Truncated => Self::Truncated,
            MediaError::Corrupt(_) => Self::Corrupt,
            MediaError::NoDecoder { .. } => Self::NoDecoder,
            MediaError::Movie => Self::Movie,
            MediaError::NoPreview => Self::NoPreview,
            MediaError::Conversion(_) => Self::Conversion,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_described() {
        let check = |fault: FileFault, words: &str| assert_eq!(fault.to_string(), words);
        check(FileFault::Crashed { how: "signal 11".into() }, "the decoder crashed on this file");
        let limit = Duration::from_secs(30);
        check(
            FileFault::TimedOut { kind: TimeKind::Cpu, limit },
            "decoding it took longer than 30 s of CPU time",
        );
        let limit = Duration::from_millis(1500);
        check(FileFault::TimedOut { kind: TimeKind::Wall, limit }, "decoding it took longer than 1.5 s");
        let limit_bytes = 384 << 20;
        check(FileFault::OutOfMemory { limit_bytes }, "decoding it needs more memory than 384 MiB");
    }
}
