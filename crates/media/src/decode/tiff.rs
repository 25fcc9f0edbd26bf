//! TIFF by the tiff crate.

use super::Decoded;
use crate::MediaError;
use crate::container::Header;

pub(super) fn decode(_bytes: &[u8], _header: &Header) -> Result<Decoded, MediaError> {
    Err(MediaError::UnknownFormat)
}
