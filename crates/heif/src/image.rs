//! Decoded pictures, and why decoding fails.

/// Why a file was not decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The picture has more pixels than [`DecodeOptions::max_pixels`] or libheif itself allows.
    #[error("it has more pixels than its header says, or than libheif allows")]
    TooManyPixels,
    /// libheif does not support the codec or a feature of it.
    #[error("the installed libheif cannot read it ({0})")]
    Unsupported(String),
    /// The file is damaged, according to libheif.
    #[error("libheif says: {0}")]
    Damaged(String),
    #[error("there is not enough memory for it")]
    NoMemory,
}

/// Limits of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// The most pixels that the picture may have.
    pub max_pixels: u64,
}

/// The channels of a pixel, 8 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PixelFormat {
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, and straight (not premultiplied) alpha.
    Rgba,
}

impl PixelFormat {
    /// Bytes per pixel.
    pub const fn channels(self) -> usize {
        match self {
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }
}

/// A decoded picture, with the rotation and mirroring of its container applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedImage {
    /// Pixels per row; at least 1.
    pub width: u32,
    /// Rows; at least 1.
    pub height: u32,
    /// The channels of each pixel.
    pub format: PixelFormat,
    /// The pixels: rows from top to bottom without gaps, 8 bits a channel.
    pub bytes: Vec<u8>,
}
