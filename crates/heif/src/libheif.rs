//! The public interface.

use std::fmt;
use std::sync::OnceLock;

use crate::functions::{Functions, NAME};
use crate::{DecodeOptions, DecodedImage, Error, LoadError, Version, decoding};

/// The oldest supported release.
const OLDEST: Version = Version { major: 1, minor: 12, patch: 0 };

/// How a picture is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// H.265, in HEIC files.
    Hevc,
    /// AV1, in AVIF files.
    Av1,
}

impl Codec {
    /// The codec's number in `enum heif_compression_format`.
    const fn number(self) -> std::ffi::c_int {
        match self {
            Self::Hevc => 1,
            Self::Av1 => 4,
        }
    }
}

pub struct Libheif {
    pub(crate) functions: Functions,
    version: Version,
}

impl Libheif {
    /// Opens the library and its decoder plugins on the first call in this process. That call must come before a
    /// sandbox closes the file system.
    ///
    /// # Errors
    /// [`LoadError`]; every later call returns the same one.
    pub fn load() -> Result<&'static Self, &'static LoadError> {
        static LIBRARY: OnceLock<Result<Libheif, LoadError>> = OnceLock::new();
        LIBRARY.get_or_init(Self::open).as_ref()
    }

    fn open() -> Result<Self, LoadError> {
        let functions = Functions::load()?;
        let version = version(decoding::version_number(&functions));
        if version < OLDEST {
            return Err(LoadError::TooOld { library: NAME, found: version, oldest: OLDEST });
        }
        decoding::init(&functions);
        Ok(Self { functions, version })
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether libheif has a decoder for this codec.
    pub fn can_decode(&self, codec: Codec) -> bool {
        decoding::have_decoder(&self.functions, codec.number())
    }

    /// Decodes the primary picture of a HEIF or AVIF file and applies the crop, rotation and mirroring of its container.
    /// Deeper channels are reduced to 8 bits, and grey becomes RGB. Colours stay in the colour space of the file.
    ///
    /// Tiles are decoded one after the other on this thread; a decoder may still start threads of its own.
    pub fn decode(&self, bytes: &[u8], options: &DecodeOptions) -> Result<DecodedImage, Error> {
        decoding::decode(&self.functions, self.version, bytes, options)
    }
}

impl fmt::Debug for Libheif {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Libheif").field("version", &self.version).finish_non_exhaustive()
    }
}

/// Decodes libheif's version number: one byte each for major, minor and patch from the highest byte on.
fn version(number: u32) -> Version {
    let [major, minor, patch, _] = number.to_be_bytes();
    Version { major: major.into(), minor: minor.into(), patch: patch.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_number_is_decoded() {
        assert_eq!(version(0x010F_0100).to_string(), "1.15.1");
        assert!(version(0x010F_0100) > OLDEST && version(0x010B_0000) < OLDEST);
    }
}
