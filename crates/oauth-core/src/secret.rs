use std::fmt;

use data_encoding::{BASE32_NOPAD, BASE64URL_NOPAD};
use ring::{digest, hmac};
use serde::{Serialize, Serializer};

use crate::{Random, RandomError, SecretHash};

/// A token, a code or a client secret on its way to a client. It is shown by [`Secret::expose`] and by serialising
/// only, never by `{:?}`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretString(String);

impl SecretString {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself.
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
    /// The hash of a code, a token or a client secret as its client holds it.
    pub fn of(secret: &str) -> Self {
        Self(sha256(secret.as_bytes()))
    }

    /// Whether the two are the same, in constant time.
    pub(crate) fn is(&self, other: &Self) -> bool {
        is_same(&self.0, &other.0)
    }
}

/// Compares in constant time.
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"comparison");
    hmac::verify(&key, one, hmac::sign(&key, other).as_ref()).is_ok()
}

/// The keys that the server derives from its secret key, each for one purpose.
pub(crate) struct DerivedKeys {
    /// Authenticates refresh tokens.
    pub(crate) refresh_tokens: hmac::Key,
    /// Makes the names under which clients know users.
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

/// So many random bytes.
pub(crate) fn random<const N: usize>(source: &dyn Random) -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    source.fill(&mut bytes)?;
    Ok(bytes)
}

/// A new id that nobody has: 128 random bits as 26 characters from `a-z 2-7`.
pub(crate) fn new_id(source: &dyn Random) -> Result<String, RandomError> {
    Ok(BASE32_NOPAD.encode(&random::<16>(source)?).to_ascii_lowercase())
}
