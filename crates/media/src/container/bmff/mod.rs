//! HEIF and AVIF: ISO/IEC 14496-12 (boxes) and 23008-12 (items).

use super::{Blocks, Header};
use crate::MediaError;

pub(super) fn header(_bytes: &[u8]) -> Result<Header, MediaError> {
    Err(MediaError::UnknownFormat)
}

pub(super) fn blocks(_bytes: &[u8]) -> Blocks<'_> {
    Blocks::default()
}
