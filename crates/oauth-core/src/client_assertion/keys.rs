use data_encoding::BASE64URL_NOPAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;

use super::{AssertionRefused, assertion::Assertion};
use crate::Jwk;

/// A signature algorithm (RFC 7518, section 3.1; RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Es256,
    Rs256,
    Ps256,
    EdDsa,
}

impl Algorithm {
    const ALL: [Self; 4] = [Self::Es256, Self::Rs256, Self::Ps256, Self::EdDsa];

    const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// The type of its keys, and their curve.
    const fn key_type(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Es256 => ("EC", Some("P-256")),
            Self::Rs256 | Self::Ps256 => ("RSA", None),
            Self::EdDsa => ("OKP", Some("Ed25519")),
        }
    }
}

/// The members of private and symmetric keys (RFC 7518, sections 6.2 to 6.4). A key with one of them is known to everyone
/// who can read its document.
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// Verifies the signature of an assertion with the one key that fits. Keys that cannot be used are ignored.
pub(super) fn verify(keys: &[Value], assertion: &Assertion) -> Result<(), AssertionRefused> {
    let mut fitting = keys.iter().filter_map(Value::as_object).filter(|key| fits(key, assertion));
    let (Some(key), None) = (fitting.next(), fitting.next()) else {
        return Err(AssertionRefused::UnknownKey);
    };
    is_signed_by(key, assertion).ok_or(AssertionRefused::Signature)
}

/// Whether a key may verify the assertion, by its metadata (RFC 7517, section 4).
fn fits(key: &Jwk, assertion: &Assertion) -> bool {
    let (key_type, curve) = assertion.algorithm.key_type();
    let member = |name: &str| key.get(name).and_then(Value::as_str);
    let is_or_absent = |name: &str, expected: &str| key.get(name).is_none_or(|value| value == expected);
    let may_verify = key.get("key_ops").is_none_or(|operations| {
        operations.as_array().is_some_and(|operations| operations.iter().any(|name| name == "verify"))
    });
    member("kty") == Some(key_type)
        && curve.is_none_or(|curve| member("crv") == Some(curve))
        && assertion.kid.as_deref().is_none_or(|kid| member("kid") == Some(kid))
        && is_or_absent("alg", assertion.algorithm.name())
        && is_or_absent("use", "sig")
        && may_verify
        && !PRIVATE.iter().any(|name| key.contains_key(*name))
}

/// `Some` if the key signed the assertion. Ring refuses RSA keys below 2048 bits, and malleable Ed25519 signatures.
fn is_signed_by(key: &Jwk, assertion: &Assertion) -> Option<()> {
    let bytes = |name: &str| BASE64URL_NOPAD.decode(key.get(name)?.as_str()?.as_bytes()).ok();
    let (message, signature) = (assertion.message.as_bytes(), assertion.signature.as_slice());
    let verified = match assertion.algorithm {
        Algorithm::Es256 => {
            let point = [vec![4], coordinate(bytes("x")?)?, coordinate(bytes("y")?)?].concat();
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
        }
        Algorithm::EdDsa => UnparsedPublicKey::new(&ED25519, bytes("x")?).verify(message, signature),
        Algorithm::Rs256 | Algorithm::Ps256 => {
            let parameters = match assertion.algorithm {
                Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
                _ => &RSA_PKCS1_2048_8192_SHA256,
            };
            RsaPublicKeyComponents { n: bytes("n")?, e: bytes("e")? }.verify(parameters, message, signature)
        }
    };
    verified.ok()
}

/// A coordinate of P-256, which always has 32 bytes (RFC 7518, section 6.2.1.2).
fn coordinate(bytes: Vec<u8>) -> Option<Vec<u8>> {
    (bytes.len() == 32).then_some(bytes)
}
