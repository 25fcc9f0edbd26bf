//! Analysis of a stored file for search: its RGB pixels and its text.

use media::RgbPicture;

/// The longest possible side of an RGB picture, in pixels.
pub const MAX_ANALYSIS_SIDE_PX: u32 = 4096;

/// What to extract from a stored file, original or rendition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnalysisTask {
    /// Extracts the pixels, scaled down so that no side is longer than this or [`MAX_ANALYSIS_SIDE_PX`].
    pub max_side_px: Option<u32>,
    /// Reads the text, which needs workers that call [`run_ocr_worker`](crate::run_ocr_worker).
    pub read_text: bool,
}

impl AnalysisTask {
    /// The longest side of the RGB picture, if one is requested.
    pub(crate) fn side_px(&self) -> Option<u32> {
        self.max_side_px.map(|side| side.clamp(1, MAX_ANALYSIS_SIDE_PX))
    }
}

/// The result of an analysis. Its form is validated, but a worker that was taken over by a malicious file can still return
/// wrong pixels and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// The picture, if it was requested.
    pub picture: Option<RgbPicture>,
    /// The text, line by line, if it was requested and there is any. At most [`domain::MAX_TEXT_CHARS`] characters, cleaned by
    /// [`domain::clean_text`].
    pub text: Option<String>,
}
