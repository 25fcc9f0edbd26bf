//! The library as the rest of the program sees it.

use std::fmt;
use std::sync::OnceLock;

use crate::decoding;
use crate::functions::Functions;

/// The oldest release whose functions are known to do what is expected of them.
const OLDEST: Version = Version { major: 1, minor: 12, patch: 0 };

/// How a picture is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// H.265, of HEIC files.
    Hevc,
    /// AV1, of AVIF files.
    Av1,
}

impl Codec {
    /// Its number in `enum heif_compression_format`.
    const fn number(self) -> std::ffi::c_int {
        match self {
            Self::Hevc => 1,
            Self::Av1 => 4,
        }
    }
}

/// A release of libheif.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u8,
    /// The second number.
    pub minor: u8,
    /// The third number.
    pub patch: u8,
}

impl Version {
    /// From the way libheif writes it: a byte for each number, the highest first, and one that is not used.
    const fn from_number(number: u32) -> Self {
        let [major, minor, patch, _] = number.to_be_bytes();
        Self { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Why there is no libheif to use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The system's loader does not find it, or not all that it is linked with.
    #[error("libheif cannot be loaded: {reason}")]
    NotFound {
        /// What the loader says.
        reason: String,
    },
    /// A function is missing that every release has.
    #[error("libheif lacks the function {function}")]
    Incomplete {
        /// Its name in C.
        function: &'static str,
    },
    /// The release is too old.
    #[error("libheif is {found}, but at least {OLDEST} is needed")]
    TooOld {
        /// The release that was found.
        found: Version,
    },
}

/// Why a file gives no picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It has more pixels than [`DecodeOptions::max_pixels`], or than libheif itself allows.
    #[error("it has more pixels than its header says, or than libheif allows")]
    TooManyPixels,
    /// The library does not know the coding, or a feature of it.
    #[error("the installed libheif cannot read it ({0})")]
    Unsupported(String),
    /// The file is broken, or what decodes it thinks so.
    #[error("libheif says: {0}")]
    Damaged(String),
    /// There is not enough memory for it.
    #[error("there is not enough memory for it")]
    NoMemory,
}

/// What a decoder may be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// The most pixels that the picture may have.
    pub max_pixels: u64,
}

/// What the bytes of a pixel mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PixelFormat {
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, and alpha that they are not multiplied with.
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

/// A decoded picture, upright as far as its container knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedImage {
    /// Pixels in a row; at least 1.
    pub width: u32,
    /// Rows; at least 1.
    pub height: u32,
    /// What the bytes of a pixel mean.
    pub layout: PixelFormat,
    /// The pixels: rows from top to bottom without gaps, 8 bits a channel.
    pub bytes: Vec<u8>,
}

/// The system's libheif.
pub struct Libheif {
    pub(crate) functions: Functions,
    version: Version,
}

impl Libheif {
    /// The library, opened with all its decoders by the first call in this process. Make that call before a sandbox
    /// closes the file system.
    ///
    /// # Errors
    /// When there is none that can be used; every later call gives the same error.
    pub fn load() -> Result<&'static Self, &'static LoadError> {
        static LIBRARY: OnceLock<Result<Libheif, LoadError>> = OnceLock::new();
        LIBRARY.get_or_init(Self::open).as_ref()
    }

    fn open() -> Result<Self, LoadError> {
        let functions = Functions::load()?;
        let version = Version::from_number(decoding::version_number(&functions));
        if version < OLDEST {
            return Err(LoadError::TooOld { found: version });
        }
        decoding::init(&functions);
        Ok(Self { functions, version })
    }

    /// Its release.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether it has a decoder for that.
    pub fn can_decode(&self, codec: Codec) -> bool {
        decoding::have_decoder(&self.functions, codec.number())
    }

    /// Decodes the primary picture of a HEIF or AVIF file, with the crop, turns and mirrors that its container asks
    /// for. Deeper channels are reduced to 8 bits, and grey becomes RGB. Colours stay in the colour space of the
    /// file.
    ///
    /// Tiles are decoded one after the other in this thread; a decoder may still start threads of its own.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn decode(&self, bytes: &[u8], options: &DecodeOptions) -> Result<DecodedImage, Error> {
        decoding::decode(&self.functions, self.version, bytes, options)
    }
}

impl fmt::Debug for Libheif {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Library").field("version", &self.version).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_their_number() {
        let version = Version::from_number(0x010F_0100);
        assert_eq!(version.to_string(), "1.15.1");
        assert!(version > OLDEST && Version::from_number(0x010B_0000) < OLDEST);
    }
}
