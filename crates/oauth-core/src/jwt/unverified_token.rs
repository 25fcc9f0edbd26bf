use std::fmt;

use data_encoding::BASE64URL_NOPAD;

use super::{HEADER, KID_CHARS, SIGNATURE_BYTES};
use crate::jws::Jws;

/// A text in the form of an access token, whose signature was not verified yet.
#[derive(Clone)]
pub struct UnverifiedToken<'a> {
    /// Header and payload as signed.
    pub(super) message: &'a str,
    pub(super) kid: String,
    pub(super) payload: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

impl fmt::Debug for UnverifiedToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnverifiedToken").field("kid", &self.kid).finish_non_exhaustive()
    }
}

impl<'a> UnverifiedToken<'a> {
    /// Parses a token. `None` for any text that a [`SigningKey`](super::SigningKey) cannot have written: longer than
    /// [`MAX_TOKEN_BYTES`](super::MAX_TOKEN_BYTES), not three segments, base64url with padding, white space or trailing
    /// bits (RFC 4648, section 3.5), another header, or a signature of another length.
    pub fn parse(token: &'a str) -> Option<Self> {
        let Jws { message, header, payload, signature } = Jws::parse(token)?;
        let header = String::from_utf8(header).ok()?;
        let kid = header.strip_prefix(HEADER.0)?.strip_suffix(HEADER.1)?;
        let is_well_formed = is_kid(kid) && signature.len() == SIGNATURE_BYTES;
        is_well_formed.then(|| Self { message, kid: kid.to_owned(), payload, signature })
    }

    /// The id of the key that it claims to be signed with: 43 characters of base64url.
    pub fn kid(&self) -> &str {
        &self.kid
    }
}

/// Whether a text is a SHA-256 in canonical base64url.
fn is_kid(text: &str) -> bool {
    text.len() == KID_CHARS && BASE64URL_NOPAD.decode(text.as_bytes()).is_ok()
}
