use data_encoding::BASE64URL_NOPAD;
use ring::signature::{ED25519, UnparsedPublicKey};

use super::{HEADER, KID_CHARS, MAX_TOKEN_BYTES};
use crate::strict_json::is_strict_object;

/// A text that has the form of our access tokens. Nothing is proved yet: that takes the key that it names.
#[derive(Clone)]
pub struct SignedToken<'a> {
    /// Header and payload as they were signed.
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
    /// Takes a token apart. `None` for whatever we would not have written: more than 8 KiB, other than three segments,
    /// base64url with padding, white space or bits left over (RFC 4648, section 3.5), a header that is not ours to the
    /// byte, a signature of another length.
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
        let signature = decode(signature).filter(|signature| signature.len() == 64)?;
        Some(Self { message, kid: kid.to_owned(), payload: decode(payload)?, signature })
    }

    /// The key that it says it was signed with: 43 characters of base64url.
    pub fn kid(&self) -> &str {
        &self.kid
    }
}

/// Whether a text is a SHA-256 in base64url, which has no other spelling.
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

    /// The key's name.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// What a token says, if this key signed it: one JSON object in which no member is named twice. What it means, and
    /// whether it is still valid, is the caller's to judge.
    pub fn verify(&self, token: SignedToken<'_>) -> Option<Vec<u8>> {
        // ring refuses signatures that were altered into another valid form (RFC 8032, section 5.1.7: S below L).
        let signed = || {
            let key = UnparsedPublicKey::new(&ED25519, &self.public);
            key.verify(token.message.as_bytes(), &token.signature).is_ok()
        };
        (token.kid == self.kid && signed() && is_strict_object(&token.payload)).then_some(token.payload)
    }
}
