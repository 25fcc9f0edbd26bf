use crate::Format;

/// Why a file cannot be decoded. Its owner sees the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MediaError {
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The content has no known format.
    #[error("this is not a {} picture", Format::names())]
    UnknownFormat,
    /// The width or height is 0.
    #[error("the picture has no width or no height")]
    NoPixels,
    /// The header declares more pixels than allowed. Nothing was decoded.
    #[error("the picture has {pixels} pixels; at most {limit} are allowed")]
    TooManyPixels {
        /// Declared number of pixels.
        pixels: u64,
        /// Allowed number of pixels.
        limit: u64,
    },
    /// A JPEG has more scans than any camera or program writes. Nothing was decoded.
    #[error("the JPEG has {scans} scans, too many for its size")]
    TooManyScans {
        /// Scans in the file.
        scans: u32,
    },
    /// The file ends before the picture data.
    #[error("the file is cut off before its picture begins")]
    Truncated,
    /// The decoder cannot read the picture.
    #[error("the picture cannot be read: {0}")]
    Corrupt(String),
    /// A RAW file without an embedded preview. Sensor data are not developed.
    #[error("the RAW file has no embedded preview")]
    NoPreview,
    /// The format is known, but its decoder is not installed.
    #[error(
        "{format} pictures need {missing}; install {install}, restart the service, then import the file again"
    )]
    NoDecoder {
        /// The format, for example `HEIC`.
        format: &'static str,
        /// The missing decoder, for example `libheif with an HEVC decoder`.
        missing: &'static str,
        /// The packages that contain it.
        install: &'static str,
    },
    /// The file is a video. Only the still picture of a live or motion photo is imported.
    #[error("the file is a video; only photos can be imported")]
    Movie,
    /// A rendition could not be made from the decoded picture.
    #[error("the picture could not be converted: {0}")]
    Conversion(String),
}

impl MediaError {
    /// Two headers declare different sizes.
    pub(crate) fn size_mismatch() -> Self {
        Self::Corrupt(SIZE_MISMATCH.into())
    }

    /// The pixels do not fit into memory.
    pub(crate) fn out_of_memory() -> Self {
        Self::Conversion("it does not fit into memory".into())
    }
}

/// The reason for a file whose end is missing.
pub(crate) const CUT_OFF: &str = "the file is cut off";

/// The reason for a file whose headers declare different sizes.
pub(crate) const SIZE_MISMATCH: &str = "the headers disagree about the size";
