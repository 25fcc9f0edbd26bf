//! HEIC and AVIF by the system's libheif.

use domain::PixelSize;

use super::Decoded;
use crate::MediaError;
use crate::container::Header;

pub(super) fn decode(_bytes: &[u8], _header: &Header, _at_least: PixelSize) -> Result<Decoded, MediaError> {
    Err(MediaError::UnknownFormat)
}
