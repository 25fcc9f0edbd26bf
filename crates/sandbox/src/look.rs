//! What a pool is asked of a file that was rendered before, and what it gives: plain pixels and words.

use domain::PixelSize;

/// The longest side of a plain picture; more is not given.
pub const MAX_ANALYSIS_SIDE_PX: u32 = 4096;

/// What is made of a photo for those who search it: any file that the service keeps, original or rendition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnalysisTask {
    /// Gives the picture, with no side longer than this and at most [`MAX_ANALYSIS_SIDE_PX`]; never enlarged.
    pub max_side_px: Option<u32>,
    /// Reads the words in it. Only a worker can do that which was started to:
    /// [`run_ocr_worker`](crate::run_ocr_worker).
    pub read_text: bool,
}

impl AnalysisTask {
    /// The longest side of the picture to be given, if one is.
    pub(crate) fn side_px(&self) -> Option<u32> {
        self.max_side_px.map(|side| side.clamp(1, MAX_ANALYSIS_SIDE_PX))
    }
}

/// What was seen in a photo. Its form was checked, but a worker that a hostile file has taken over can still give wrong
/// pixels and words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// The picture, if it was asked for.
    pub picture: Option<RgbPicture>,
    /// The words, if they were asked for and there are any: lines of the picture are lines here. At most
    /// [`domain::MAX_TEXT_CHARS`] characters, cleaned by [`domain::clean_text`].
    pub text: Option<String>,
}

/// The pixels of an upright picture in the colours of sRGB. What is transparent lies on white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RgbPicture {
    /// Its size.
    pub size: PixelSize,
    /// Red, green and blue of each pixel, 8 bits each, rows from top to bottom without gaps: exactly
    /// `width * height * 3` bytes.
    pub rgb: Vec<u8>,
}

impl RgbPicture {
    pub(crate) const BYTES_PER_PIXEL: u64 = 3;
}
