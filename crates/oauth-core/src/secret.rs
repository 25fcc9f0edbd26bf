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
    /// Signs consent forms.
    pub(crate) consent_forms: hmac::Key,
    /// Derives attempts from consent forms.
    pub(crate) attempts: hmac::Key,
}

impl DerivedKeys {
    pub(crate) fn of(secret_key: &[u8; 32]) -> Self {
        let derive = |purpose| hmac::Key::new(hmac::HMAC_SHA256, &derive(secret_key, purpose));
        Self {
            refresh_tokens: derive(b"refresh tokens"),
            subjects: derive(b"subjects"),
            consent_forms: derive(b"consent forms"),
            attempts: derive(b"attempts"),
        }
    }
}

/// The key for one purpose.
pub(crate) fn derive(secret_key: &[u8; 32], purpose: &[u8]) -> [u8; 32] {
    array(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret_key), purpose).as_ref())
}

/// The HMAC of a list of parts, each after its length, so that different lists never give the same message.
pub(crate) fn sign_parts(key: &hmac::Key, parts: &[&[u8]]) -> [u8; 32] {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    array(context.sign().as_ref())
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    array(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn array(digest: &[u8]) -> [u8; 32] {
    let mut array = [0; 32];
    array.iter_mut().zip(digest).for_each(|(to, from)| *to = *from);
    array
}

pub(crate) fn base64url(bytes: &[u8]) -> String {
    BASE64URL_NOPAD.encode(bytes)
}
