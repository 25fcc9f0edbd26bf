use data_encoding::BASE64URL_NOPAD;
use josekit::{
    JoseError,
    jwk::KeyPair as _,
    jws::{EdDSA, JwsSigner as _, alg::eddsa::EddsaJwsSigner},
};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde_json::{Map, Value};

use super::{HEADER, MAX_TOKEN_BYTES, VerifyingKey};
use crate::{Random, RandomError, Secret, parts::sha256, strict_json::is_strict_object};

/// What a sealed key begins with; another form would begin with another byte.
const FORM: u8 = 1;
/// What stands before the 32 bytes of an Ed25519 key in its PKCS #8 form (RFC 8410, section 7).
const PKCS8_PREFIX: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// Why a stored signing key was not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenKeyError {
    /// The secret is not the one that it was sealed with.
    #[error(
        "the signing key {kid} cannot be opened: the service's secret differs from the one that the key was sealed with"
    )]
    WrongSecret {
        /// The key.
        kid: String,
    },
    /// It is stored in a form that this version does not write.
    #[error("the signing key {kid} is stored in a form that this version of the program does not know")]
    UnknownForm {
        /// The key.
        kid: String,
    },
    /// The cryptographic library refused it.
    #[error("the signing key {kid} cannot be used: {reason}")]
    Unusable {
        /// The key.
        kid: String,
        /// What the library said.
        reason: String,
    },
}

/// Why a token was not signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// The claims are not one JSON object, or name a member twice.
    #[error("the claims of a token must be one JSON object in which no member is named twice")]
    NoClaims,
    /// The token would be longer than any that is accepted.
    #[error("a token would be longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
    /// There is no randomness for a new key.
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

/// The public half of a signing key as others read it: a JWK (RFC 7517).
pub type PublicJwk = Map<String, Value>;

/// An Ed25519 key that signs access tokens. It is stored sealed, so that a copy of the metadata store signs nothing
/// without the service's [`Secret`].
pub struct SigningKey {
    private: [u8; 32],
    signer: EddsaJwsSigner,
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
        Ok(Self::from_private(private)?)
    }

    pub(super) fn from_private(private: [u8; 32]) -> Result<Self, JoseError> {
        let der = [&PKCS8_PREFIX[..], &private].concat();
        let mut pair = EdDSA.key_pair_from_der(&der)?;
        let public = public_key(&pair.to_jwk_public_key())?;
        let kid = thumbprint(&public);
        pair.set_key_id(Some(&kid));
        Ok(Self {
            private,
            signer: EdDSA.signer_from_der(&der)?,
            jwk: pair.to_jwk_public_key().into(),
            header: BASE64URL_NOPAD.encode([HEADER.0, &kid, HEADER.1].concat().as_bytes()),
            verifying: VerifyingKey::new(kid, public),
        })
    }

    /// The key's name: the thumbprint of its public half (RFC 7638), 43 characters of base64url.
    pub fn kid(&self) -> &str {
        self.verifying.kid()
    }

    /// The public half, as a JWK (RFC 8037) with `kid`, `alg` and `use`.
    pub fn public_jwk(&self) -> &PublicJwk {
        &self.jwk
    }

    /// The public half, to verify with.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying
    }

    /// The token that carries these claims, one JSON object.
    ///
    /// # Errors
    /// [`SignError`].
    pub fn sign(&self, claims: &[u8]) -> Result<String, SignError> {
        if !is_strict_object(claims) {
            return Err(SignError::NoClaims);
        }
        let message = format!("{}.{}", self.header, BASE64URL_NOPAD.encode(claims));
        let signature = BASE64URL_NOPAD.encode(&self.sign_message(message.as_bytes())?);
        let token = format!("{message}.{signature}");
        if token.len() > MAX_TOKEN_BYTES { Err(SignError::TooLong) } else { Ok(token) }
    }

    pub(super) fn sign_message(&self, message: &[u8]) -> Result<Vec<u8>, JoseError> {
        self.signer.sign(message)
    }

    /// The key as it may be stored: encrypted and bound to its name, by ChaCha20-Poly1305 (RFC 8439) under a key of the
    /// secret's.
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
        Ok([&[FORM][..], &nonce, &sealed].concat())
    }

    /// The key of that name, as it was [sealed](Self::seal).
    ///
    /// # Errors
    /// [`OpenKeyError`].
    pub fn open(kid: &str, sealed: &[u8], secret: &Secret) -> Result<Self, OpenKeyError> {
        let unknown = || OpenKeyError::UnknownForm { kid: kid.to_owned() };
        let (nonce, encrypted) = match sealed {
            [FORM, rest @ ..] => rest.split_first_chunk::<NONCE_LEN>().ok_or_else(unknown)?,
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

fn public_key(jwk: &josekit::jwk::Jwk) -> Result<[u8; 32], JoseError> {
    jwk.parameter("x")
        .and_then(Value::as_str)
        .and_then(|x| BASE64URL_NOPAD.decode(x.as_bytes()).ok())
        .and_then(|x| x.try_into().ok())
        .ok_or_else(|| JoseError::InvalidKeyFormat(std::io::Error::other("no public half").into()))
}

/// RFC 7638 with the members that RFC 8037 names, in their order.
fn thumbprint(public: &[u8; 32]) -> String {
    let x = BASE64URL_NOPAD.encode(public);
    let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    BASE64URL_NOPAD.encode(&sha256(canonical.as_bytes()))
}
