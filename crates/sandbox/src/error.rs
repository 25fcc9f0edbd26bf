//! Why a file was not decoded.

use std::{fmt, io, time::Duration};

use media::MediaError;
use serde::{Deserialize, Serialize};

/// Why a file was not decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError<E> {
    /// The file is at fault: trying it again is of no use.
    #[error(transparent)]
    File(FileFault),
    /// The file could not be read where it is kept.
    #[error(transparent)]
    Source(E),
    /// Where the file is kept, it is not as long as it should be.
    #[error("the stored file does not have its {expected} bytes")]
    SourceLength {
        /// The length that was announced.
        expected: u64,
    },
    /// The system is at fault: no worker could be had, or it went away before it saw any of the file. The same call
    /// may succeed later.
    #[error("no decoder can be run now: {0}")]
    Unavailable(io::Error),
}

/// What is wrong with a file, in words that its owner can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFault {
    /// The decoder understood that it cannot read the file.
    Refused {
        /// The kind of reason.
        kind: RefusalKind,
        /// The reason: one line, at most [`MAX_REASON_CHARS`] characters.
        reason: String,
    },
    /// Twice, the decoder ended over this file, or gave nonsense.
    Crashed {
        /// How it ended the second time, for logs.
        how: String,
    },
    /// Twice, the decoder took too long.
    TimedOut {
        /// Which time it was.
        kind: TimeKind,
        /// How long it could take.
        limit: Duration,
    },
    /// Twice, the decoder took too much memory.
    OutOfMemory {
        /// The memory that decoding could take, in bytes.
        limit_bytes: u64,
    },
}

/// The longest reason that is passed on, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// How time was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeKind {
    /// The time that a processor worked on it.
    Cpu,
    /// The time that went by.
    Wall,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { reason, .. } => f.write_str(reason),
            Self::Crashed { .. } => f.write_str("the decoder crashed on this file"),
            Self::TimedOut { kind: clock, limit } => {
                write!(f, "decoding it took longer than {} s", limit.as_secs_f64())?;
                f.write_str(if *clock == TimeKind::Cpu { " of CPU time" } else { "" })
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
    /// [`MediaError::Empty`]
    Empty,
    /// [`MediaError::UnknownFormat`]
    UnknownFormat,
    /// [`MediaError::NoPixels`]
    NoPixels,
    /// [`MediaError::TooManyPixels`]
    TooManyPixels,
    /// [`MediaError::TooManyScans`]
    TooManyScans,
    /// [`MediaError::Truncated`]
    Truncated,
    /// [`MediaError::Corrupt`]
    Corrupt,
    /// [`MediaError::NoDecoder`]
    NoDecoder,
    /// [`MediaError::Movie`]
    Movie,
    /// [`MediaError::NoPreview`]
    NoPreview,
    /// [`MediaError::Conversion`]
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
    fn faults_are_told_in_words() {
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
