use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use josekit::{
    JoseError,
    jwk::Jwk,
    jws::{EdDSA, JwsAlgorithm, JwsSigner},
};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    signature::{Ed25519KeyPair, KeyPair as _},
};
use serde_json::{Map, Value};
use strict_json::parse_object;

use super::{HEADER, MAX_TOKEN_BYTES, SIGNATURE_BYTES, VerifyingKey};
use crate::{Random, RandomError, Secret, parts::sha256};

/// The first byte of a sealed key: the version of the format.
const FORMAT: u8 = 1;

/// Why a stored signing key was not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenKeyError {
    /// It was sealed with another secret.
    #[error(
        "the signing key {kid} cannot be opened: the service's secret differs from the one that the key was sealed with"
    )]
    WrongSecret {
        /// The key.
        kid: String,
    },
    /// It is stored in an unknown format.
    #[error("the signing key {kid} is stored in a format that this version of the program does not know")]
    UnknownFormat {
        /// The key.
        kid: String,
    },
    /// The cryptographic library refused it.
    #[error("the signing key {kid} cannot be used: {reason}")]
    Unusable {
        /// The key.
        kid: String,
        /// The library's message.
        reason: String,
    },
}

/// Why a token was not signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// The claims are not one JSON object without duplicate members.
    #[error("the claims of a token must be one JSON object without duplicate members")]
    InvalidClaims,
    /// The token would be too long to be accepted.
    #[error("the token would be longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
    /// No random bytes for a new key.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The cryptographic library failed.
    #[error("the cryptographic library failed: {0}")]
    Failed(String),
}

impl From<JoseError> for SignError {
    fn from(error: JoseError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// The public half of a signing key as a JWK (RFC 7517).
pub type PublicJwk = Map<String, Value>;

/// Ed25519 by ring as a josekit signer. ring signs in half the time of josekit's OpenSSL.
#[derive(Debug, Clone)]
struct Ed25519Signer {
    pair: Arc<Ed25519KeyPair>,
    kid: String,
}

impl JwsSigner for Ed25519Signer {
    fn algorithm(&self) -> &dyn JwsAlgorithm {
        &EdDSA
    }

    fn key_id(&self) -> Option<&str> {
        Some(&self.kid)
    }

    fn signature_len(&self) -> usize {
        SIGNATURE_BYTES
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, JoseError> {
        Ok(self.pair.sign(message).as_ref().to_vec())
    }

    fn box_clone(&self) -> Box<dyn JwsSigner> {
        Box::new(self.clone())
    }
}

/// An Ed25519 key that signs access tokens. It is stored sealed, so that a copy of the metadata store alone cannot
/// sign.
pub struct SigningKey {
    private: [u8; 32],
    signer: Ed25519Signer,
    jwk: PublicJwk,
    header: String,
    verifying: VerifyingKey,
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
        let mut private = [0; 32];
        random.fill(&mut private)?;
        Self::from_private(private)
    }

    pub(super) fn from_private(private: [u8; 32]) -> Result<Self, SignError> {
        let failed = |reason: &dyn ToString| SignError::Failed(reason.to_string());
        let pair = Ed25519KeyPair::from_seed_unchecked(&private).map_err(|error| failed(&error))?;
        let public = <[u8; 32]>::try_from(pair.public_key().as_ref()).map_err(|error| failed(&error))?;
        let kid = thumbprint(&public);
        Ok(Self {
            private,
            signer: Ed25519Signer { pair: Arc::new(pair), kid: kid.clone() },
            jwk: public_jwk(&kid, &public)?,
            header: BASE64URL_NOPAD.encode([HEADER.0, &kid, HEADER.1].concat().as_bytes()),
            verifying: VerifyingKey::new(kid, public),
        })
    }

    /// The key's id: the thumbprint of its public half (RFC 7638), 43 characters of base64url.
    pub fn kid(&self) -> &str {
        self.verifying.kid()
    }

    /// The public half, as a JWK (RFC 8037) with `kid`, `alg` and `use`.
    pub fn public_jwk(&self) -> &PublicJwk {
        &self.jwk
    }

    /// The public half for verification.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying
    }

    /// Signs a token with these claims, one JSON object.
    ///
    /// # Errors
    /// [`SignError`].
    pub fn sign(&self, claims: &[u8]) -> Result<String, SignError> {
        parse_object(claims).map_err(|_| SignError::InvalidClaims)?;
        let message = format!("{}.{}", self.header, BASE64URL_NOPAD.encode(claims));
        let signature = BASE64URL_NOPAD.encode(&self.sign_message(message.as_bytes())?);
        let token = format!("{message}.{signature}");
        if token.len() > MAX_TOKEN_BYTES { Err(SignError::TooLong) } else { Ok(token) }
    }

    pub(super) fn sign_message(&self, message: &[u8]) -> Result<Vec<u8>, JoseError> {
        self.signer.sign(message)
    }

    /// The key in its stored form: encrypted and bound to its id by ChaCha20-Poly1305 (RFC 8439), under a key derived
    /// from the secret.
    ///
    /// # Errors
    /// [`SignError::Random`], or the cryptographic library failed.
    pub fn seal(&self, secret: &Secret, random: &dyn Random) -> Result<Vec<u8>, SignError> {
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce)?;
        let mut sealed = self.private.to_vec();
        sealing_key(secret)
            .and_then(|key| {
                let nonce = Nonce::assume_unique_for_key(nonce);
                key.seal_in_place_append_tag(nonce, Aad::from(self.kid()), &mut sealed).ok()
            })
            .ok_or_else(|| SignError::Failed("a signing key could not be sealed".to_owned()))?;
        Ok([&[FORMAT][..], &nonce, &sealed].concat())
    }

    /// Opens a [sealed](Self::seal) key.
    ///
    /// # Errors
    /// [`OpenKeyError`].
    pub fn open(kid: &str, sealed: &[u8], secret: &Secret) -> Result<Self, OpenKeyError> {
        let unknown = || OpenKeyError::UnknownFormat { kid: kid.to_owned() };
        let (nonce, encrypted) = match sealed {
            [FORMAT, rest @ ..] => rest.split_first_chunk::<NONCE_LEN>().ok_or_else(unknown)?,
            _ => return Err(unknown()),
        };
        let mut encrypted = encrypted.to_vec();
        let private = sealing_key(secret)
            .and_then(|key| {
                let nonce = Nonce::assume_unique_for_key(*nonce);
                key.open_in_place(nonce, Aad::from(kid), &mut encrypted).ok()
            })
            .ok_or_else(|| OpenKeyError::WrongSecret { kid: kid.to_owned() })?;
        let private = <[u8; 32]>::try_from(&*private).map_err(|_| unknown())?;
        Self::from_private(private)
            .map_err(|error| OpenKeyError::Unusable { kid: kid.to_owned(), reason: error.to_string() })
    }
}

fn sealing_key(secret: &Secret) -> Option<LessSafeKey> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, &secret.derive("signing keys")).ok()?;
    Some(LessSafeKey::new(key))
}

fn public_jwk(kid: &str, public: &[u8; 32]) -> Result<PublicJwk, JoseError> {
    let mut jwk = Jwk::new("OKP");
    jwk.set_key_use("sig");
    jwk.set_algorithm(EdDSA.name());
    jwk.set_key_id(kid);
    jwk.set_parameter("crv", Some("Ed25519".into()))?;
    jwk.set_parameter("x", Some(BASE64URL_NOPAD.encode(public).into()))?;
    Ok(jwk.into())
}

/// The JWK thumbprint (RFC 7638) over the members that RFC 8037 requires, in order.
fn thumbprint(public: &[u8; 32]) -> String {
    let x = BASE64URL_NOPAD.encode(public);
    let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    BASE64URL_NOPAD.encode(&sha256(canonical.as_bytes()))
}
