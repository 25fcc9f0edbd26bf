use data_encoding::BASE64URL_NOPAD;
use ring::signature::{ED25519, UnparsedPublicKey};
use strict_json::parse_object;

use super::{HEADER, KID_CHARS, MAX_TOKEN_BYTES, SIGNATURE_BYTES};

/// A text in the format of the service's access tokens, not yet verified.
#[derive(Clone)]
pub struct SignedToken<'a> {
    /// Header and payload as signed.
    message: &'a str,
    kid: String,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

impl std::fmt::Debug for SignedToken<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedToken").field("kid", &self.kid).finish_non_exhaustive()
    }
}

impl<'a> SignedToken<'a> {
    /// Parses a token. `None` for any text that [`SigningKey`](super::SigningKey) cannot have written: longer than 8
    /// KiB, not three segments, base64url with padding, white space or trailing bits (RFC 4648, section 3.5), another
    /// header, or a signature of another length.
    pub fn parse(token: &'a str) -> Option<Self> {
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let (message, signature) = token.rsplit_once('.')?;
        let (header, payload) = message.split_once('.')?;
        let decode = |segment: &str| BASE64URL_NOPAD.decode(segment.as_bytes()).ok();
        let header = String::from_utf8(decode(header)?).ok()?;
        let kid = header.strip_prefix(HEADER.0)?.strip_suffix(HEADER.1)?;
        if !is_kid(kid) {
            return None;
        }
        let signature = decode(signature).filter(|signature| signature.len() == SIGNATURE_BYTES)?;
        Some(Self { message, kid: kid.to_owned(), payload: decode(payload)?, signature })
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

/// The public half of a [`SigningKey`](super::SigningKey).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    kid: String,
    public: [u8; 32],
}

impl VerifyingKey {
    pub(super) fn new(kid: String, public: [u8; 32]) -> Self {
        Self { kid, public }
    }

    /// The key's id.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The payload of a token, if this key signed it and it is one JSON object without duplicate members. The caller
    /// checks the claims and the expiry.
    pub fn verify(&self, token: SignedToken<'_>) -> Option<Vec<u8>> {
        // ring refuses malleable signatures (RFC 8032, section 5.1.7: S below L).
        let is_signed = || {
            let key = UnparsedPublicKey::new(&ED25519, &self.public);
            key.verify(token.message.as_bytes(), &token.signature).is_ok()
        };
        let is_valid = token.kid == self.kid && is_signed() && parse_object(&token.payload).is_ok();
        is_valid.then_some(token.payload)
    }
}
