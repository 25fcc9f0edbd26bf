use josekit::{
    JoseError,
    jwk::Jwk,
    jws::{EdDSA, deserialize_compact},
};
use oauth_core::jwt::{self, ClaimsError, UnverifiedToken};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::{Random, RandomError, Secret};

/// The first byte of a sealed key: the version of the format.
const FORMAT: u8 = 1;

/// Why a stored signing key was not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenKeyError {
    /// It was sealed with another secret.
    #[error(
        "the signing key {kid} cannot be opened: the service's secret differs from the one that the key was sealed with"
    )]
    WrongSecret { kid: String },
    /// It is stored in an unknown format.
    #[error("the signing key {kid} is stored in a format that this version of the program does not know")]
    UnknownFormat { kid: String },
    /// The cryptographic library refused it.
    #[error("the signing key {kid} cannot be used: {reason}")]
    Unusable { kid: String, reason: String },
}

/// Why a token was not signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    #[error(transparent)]
    Claims(#[from] ClaimsError),
    /// No random bytes for a new key.
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("the cryptographic library failed: {0}")]
    Failed(String),
}

impl From<JoseError> for SignError {
    fn from(error: JoseError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<jwt::InvalidKey> for SignError {
    fn from(error: jwt::InvalidKey) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A key that signs access tokens and verifies its own. It is stored sealed, so that a copy of the metadata store alone
/// cannot sign.
///
/// Before a key is used, josekit, another implementation, verifies a token that the key signed, with the published form
/// of the public key. So a key whose tokens other services would refuse is never used.
pub struct SigningKey {
    seed: [u8; 32],
    key: jwt::SigningKey,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid()).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// A new key.
    ///
    /// # Errors
    /// [`SignError::Random`], or the cryptographic library failed.
    pub fn generate(random: &dyn Random) -> Result<Self, SignError> {
        let mut seed = [0; 32];
        random.fill(&mut seed)?;
        Self::from_seed(seed)
    }

    fn from_seed(seed: [u8; 32]) -> Result<Self, SignError> {
        let key = jwt::SigningKey::from_seed(&seed)?;
        let verifier = EdDSA.verifier_from_jwk(&Jwk::from_map(key.public_jwk())?)?;
        deserialize_compact(key.sign(b"{}")?, &verifier)?;
        Ok(Self { seed, key })
    }

    /// The key's id: the thumbprint of its public half (RFC 7638), 43 characters of base64url.
    pub fn kid(&self) -> &str {
        self.key.kid()
    }

    /// The public half (RFC 8037), with `kid`, `alg` and `use`.
    pub fn public_jwk(&self) -> oauth_core::Jwk {
        self.key.public_jwk()
    }

    /// Signs a token with these claims, one JSON object.
    pub fn sign(&self, claims: &[u8]) -> Result<String, SignError> {
        Ok(self.key.sign(claims)?)
    }

    /// The claims of a token, if this key signed it; see [`jwt::SigningKey::verify`].
    pub fn verify(&self, token: UnverifiedToken<'_>) -> Option<Vec<u8>> {
        self.key.verify(token)
    }

    /// The key in its stored form: encrypted and bound to its id by ChaCha20-Poly1305 (RFC 8439), under a key derived
    /// from the secret.
    ///
    /// # Errors
    /// [`SignError::Random`], or the cryptographic library failed.
    pub fn seal(&self, secret: &Secret, random: &dyn Random) -> Result<Vec<u8>, SignError> {
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce)?;
        let mut sealed = self.seed.to_vec();
        sealing_key(secret)
            .and_then(|key| {
                let nonce = Nonce::assume_unique_for_key(nonce);
                key.seal_in_place_append_tag(nonce, Aad::from(self.kid()), &mut sealed).ok()
            })
            .ok_or_else(|| SignError::Failed("a signing key could not be sealed".to_owned()))?;
        Ok([&[FORMAT][..], &nonce, &sealed].concat())
    }

    pub fn open(kid: &str, sealed: &[u8], secret: &Secret) -> Result<Self, OpenKeyError> {
        let unknown = || OpenKeyError::UnknownFormat { kid: kid.to_owned() };
        let (nonce, encrypted) = match sealed {
            [FORMAT, rest @ ..] => rest.split_first_chunk::<NONCE_LEN>().ok_or_else(unknown)?,
            _ => return Err(unknown()),
        };
        let mut encrypted = encrypted.to_vec();
        let seed = sealing_key(secret)
            .and_then(|key| {
                let nonce = Nonce::assume_unique_for_key(*nonce);
                key.open_in_place(nonce, Aad::from(kid), &mut encrypted).ok()
            })
            .ok_or_else(|| OpenKeyError::WrongSecret { kid: kid.to_owned() })?;
        let seed = <[u8; 32]>::try_from(&*seed).map_err(|_| unknown())?;
        Self::from_seed(seed)
            .map_err(|error| OpenKeyError::Unusable { kid: kid.to_owned(), reason: error.to_string() })
    }
}

fn sealing_key(secret: &Secret) -> Option<LessSafeKey> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, &secret.derive("signing keys")).ok()?;
    Some(LessSafeKey::new(key))
}

#[cfg(test)]
mod josekit_tests;
#[cfg(test)]
mod sealing_tests;
