//! Whether text can be read.

use serde::{Deserialize, Serialize};

/// Whether text can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum OcrStatus {
    /// OCR was not requested.
    Off,
    /// Tesseract is loaded.
    Ready {
        /// The release of Tesseract, for example `5.3.0`.
        version: String,
        /// The languages that are read; the first one has priority.
        languages: Vec<String>,
        /// Requested languages that are not installed.
        missing: Vec<String>,
        /// All installed languages.
        installed: Vec<String>,
    },
    /// OCR was requested but does not work.
    Unavailable {
        /// The reason, for the operator.
        reason: String,
        /// Requested languages that are not installed, if this is the reason.
        missing: Vec<String>,
    },
}
