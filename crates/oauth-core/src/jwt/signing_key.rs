use std::{fmt, sync::Arc};

use ring::{
    error::KeyRejected,
    signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey},
};
use serde_json::Value;
use strict_json::parse_object;

use super::{HEADER, MAX_TOKEN_BYTES, UnverifiedToken};
use crate::{
    Jwk,
    secret::{base64url, sha256},
};

/// A private key that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the signing key cannot be used: {0}")]
pub struct InvalidKey(String);

impl From<KeyRejected> for InvalidKey {
    fn from(error: KeyRejected) -> Self {
        Self(error.to_string())
    }
}

/// Why claims were not signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClaimsError {
    /// The claims are not one JSON object, or the object has duplicate members.
    #[error("the claims of a token must be one JSON object without duplicate members")]
    Malformed,
    /// The token would be too long to be accepted.
    #[error("the token would be longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
}

/// An Ed25519 key that signs access tokens and verifies its own. Clones share the key.
///
/// ```
/// use oauth_core::jwt::{SigningKey, UnverifiedToken};
///
/// // Use a random seed in production, for instance of `new_key`.
/// let key = SigningKey::from_seed(&[7; 32])?;
/// let token = key.sign(br#"{"sub": "1"}"#)?;
/// let unverified = UnverifiedToken::parse(&token).ok_or("not a token")?;
/// assert_eq!(unverified.kid(), key.kid());
/// assert_eq!(key.verify(unverified).as_deref(), Some(&br#"{"sub": "1"}"#[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SigningKey(Arc<Key>);

struct Key {
    pair: Ed25519KeyPair,
    kid: String,
    /// In base64url.
    header: String,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.0.kid).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// The key of a seed (RFC 8032, section 5.1.5): 32 random bytes.
    ///
    /// # Errors
    /// [`InvalidKey`].
    pub fn from_seed(seed: &[u8; 32]) -> Result<Self, InvalidKey> {
        Ok(Self::new(Ed25519KeyPair::from_seed_unchecked(seed)?))
    }

    /// A key in PKCS #8 (RFC 8410), in DER. `openssl genpkey -algorithm ed25519 -outform DER` makes one. The public half
    /// may be missing; if it is present, it must match.
    ///
    /// # Errors
    /// [`InvalidKey`].
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, InvalidKey> {
        Ok(Self::new(Ed25519KeyPair::from_pkcs8_maybe_unchecked(der)?))
    }

    fn new(pair: Ed25519KeyPair) -> Self {
        let kid = thumbprint(pair.public_key().as_ref());
        let header = base64url([HEADER.0, &kid, HEADER.1].concat().as_bytes());
        Self(Arc::new(Key { pair, kid, header }))
    }

    /// The key's id: the thumbprint of its public half (RFC 7638), 43 characters of base64url.
    pub fn kid(&self) -> &str {
        &self.0.kid
    }

    /// The public half (RFC 8037), with `kid`, `alg` and `use`.
    pub fn public_jwk(&self) -> Jwk {
        let x = base64url(self.public());
        let members = [
            ("kty", "OKP"),
            ("crv", "Ed25519"),
            ("x", &x),
            ("kid", self.kid()),
            ("alg", "EdDSA"),
            ("use", "sig"),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
    }

    /// A token with these claims: one JSON object.
    ///
    /// # Errors
    /// [`ClaimsError`].
    pub fn sign(&self, claims: &[u8]) -> Result<String, ClaimsError> {
        parse_object(claims).map_err(|_| ClaimsError::Malformed)?;
        let message = format!("{}.{}", self.0.header, base64url(claims));
        let signature = base64url(&self.sign_message(message.as_bytes()));
        let token = format!("{message}.{signature}");
        if token.len() > MAX_TOKEN_BYTES { Err(ClaimsError::TooLong) } else { Ok(token) }
    }

    pub(super) fn sign_message(&self, message: &[u8]) -> Vec<u8> {
        self.0.pair.sign(message).as_ref().to_vec()
    }

    /// The claims of a token, if this key signed it and they are one JSON object without duplicate members. The caller
    /// checks the claims, also whether they expired ([`check_access`](crate::AuthorizationServer::check_access)).
    pub fn verify(&self, token: UnverifiedToken<'_>) -> Option<Vec<u8>> {
        // ring refuses malleable signatures (RFC 8032, section 5.1.7: S below L).
        let is_signed = || {
            let key = UnparsedPublicKey::new(&ED25519, self.public());
            key.verify(token.message.as_bytes(), &token.signature).is_ok()
        };
        let is_valid = token.kid == self.0.kid && is_signed() && parse_object(&token.payload).is_ok();
        is_valid.then_some(token.payload)
    }

    fn public(&self) -> &[u8] {
        self.0.pair.public_key().as_ref()
    }
}

/// The JWK thumbprint (RFC 7638) over the members that RFC 8037 requires, in order.
fn thumbprint(public: &[u8]) -> String {
    let x = base64url(public);
    base64url(&sha256(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#).as_bytes()))
}
