//! The compact form of signed texts (RFC 7515, section 7.1).

use data_encoding::BASE64URL_NOPAD;

/// The longest text in bytes. Access tokens of this crate and assertions of clients usually have about 700.
pub(crate) const MAX_BYTES: usize = 8192;

/// A signed text whose signature was not verified yet.
pub(crate) struct Jws<'a> {
    /// Header and payload as signed.
    pub(crate) message: &'a str,
    pub(crate) header: Vec<u8>,
    pub(crate) payload: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    /// Parses a text. `None` if it is longer than [`MAX_BYTES`], or not three segments of base64url without padding, white
    /// space and trailing bits (RFC 4648, section 3.5).
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let (message, signature) = text.rsplit_once('.')?;
        let (header, payload) = message.split_once('.')?;
        let decode = |segment: &str| BASE64URL_NOPAD.decode(segment.as_bytes()).ok();
        Some(Self {
            message,
            header: decode(header)?,
            payload: decode(payload)?,
            signature: decode(signature)?,
        })
    }
}
