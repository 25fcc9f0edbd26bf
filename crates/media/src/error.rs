use crate::probe::MAX_SCANS;

/// Why a file gives no picture, in words that its owner can read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MediaError {
    /// There are no bytes.
    #[error("the file is empty")]
    Empty,
    /// The content is none of the known formats.
    #[error("this is not a JPEG, PNG, WebP, GIF, TIFF, HEIC, AVIF or RAW picture")]
    UnknownFormat,
    /// A side of the picture is 0.
    #[error("the picture has no width or no height")]
    NoPixels,
    /// The header announces more pixels than are allowed. Nothing was decoded.
    #[error("the picture has {pixels} pixels, more than the {limit} that are allowed")]
    TooManyPixels {
        /// Pixels that the header announces.
        pixels: u64,
        /// Pixels that are allowed.
        limit: u64,
    },
    /// A JPEG asks to be refined more often than any real one. Nothing was decoded.
    #[error(
        "the picture is built up in {scans} scans of its size; no camera or program writes more than {MAX_SCANS}"
    )]
    TooManyScans {
        /// Scans in the file.
        scans: u32,
    },
    /// The file ends before any of its picture.
    #[error("the file is cut off before its picture begins")]
    Truncated,
    /// The decoder cannot read the picture.
    #[error("the picture is damaged: {0}")]
    Corrupt(String),
    /// A RAW file without a picture that could be shown; what the sensor saw is not developed.
    #[error("the RAW file has no embedded preview")]
    NoPreview,
    /// The format is known, but what decodes it is not installed.
    #[error(
        "{format} pictures need {missing}; install {install}, restart the service if it runs, and add the file again"
    )]
    NoDecoder {
        /// What the file is, for example `HEIC`.
        format: &'static str,
        /// What is missing, for example `libheif with an HEVC decoder`.
        missing: &'static str,
        /// The packages that bring it.
        install: &'static str,
    },
    /// The file is a movie; of a live or motion photo only the still comes in.
    #[error("the file is a movie, and only pictures are kept here")]
    Movie,
    /// A rendition could not be made from the decoded picture.
    #[error("the picture could not be converted: {0}")]
    Conversion(String),
}
