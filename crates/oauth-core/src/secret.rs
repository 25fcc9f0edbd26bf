use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use ring::{digest, hmac};
use serde::{Serialize, Serializer};

use crate::SecretHash;

/// A token, a code or a client secret to be sent to a client. `Debug` does not show it; only [`SecretString::expose`]
/// and serialising do.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretString(String);

impl SecretString {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Serialize for SecretString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl SecretHash {
    /// The hash of a code, a token or a client secret.
    pub fn of(secret: &str) -> Self {
        Self(sha256(secret.as_bytes()))
    }

    /// Compares in constant time.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        constant_time_eq(&self.0, &other.0)
    }
}

/// Compares in constant time.
pub(crate) fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"comparison");
    hmac::verify(&key, one, hmac::sign(&key, other).as_ref()).is_ok()
}

/// The keys derived from the server's secret key, one per purpose.
pub(crate) struct DerivedKeys {
    /// Authenticates refresh tokens.
    pub(crate) refresh_tokens: hmac::Key,
    /// Derives the `sub` of access tokens.
    pub(crate) subjects: hmac::Key,
}

impl DerivedKeys {
    pub(crate) fn of(secret_key: &[u8; 32]) -> Self {
        let root = hmac::Key::new(hmac::HMAC_SHA256, secret_key);
        let derive = |purpose: &[u8]| {
            let derived = hmac::sign(&root, purpose);
            hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref())
        };
        Self { refresh_tokens: derive(b"refresh tokens"), subjects: derive(b"subjects") }
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    let digest = digest::digest(&digest::SHA256, bytes);
    hash.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
    hash
}

pub(crate) fn base64url(bytes: &[u8]) -> String {
    BASE64URL_NOPAD.encode(bytes)
}
