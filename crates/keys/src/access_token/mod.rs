//! Access tokens: JWTs (RFC 7519) as in RFC 9068, in a single format.
//!
//! The headers of all tokens are equal, byte for byte, except for the `kid`. So a header is compared, never
//! interpreted: any other header is refused, whatever algorithm, key or extension it names.

mod signing_key;
mod verifying_key;

#[cfg(test)]
mod sealing_tests;
#[cfg(test)]
mod tests;

pub use signing_key::{OpenKeyError, PublicJwk, SignError, SigningKey};
pub use verifying_key::{SignedToken, VerifyingKey};

/// The longest token in bytes. The service's tokens have about 700.
pub const MAX_TOKEN_BYTES: usize = 8192;

/// The header before and after the `kid`.
///
/// The algorithm is Ed25519 because every request verifies and few sign: ring verifies it in about 45 µs, while ES256
/// takes 60 µs with ring and 75 µs with josekit's OpenSSL. Signing takes about 27 µs and needs no random bytes.
const HEADER: (&str, &str) = (r#"{"alg":"EdDSA","typ":"at+jwt","kid":""#, r#""}"#);

/// The length of a `kid`: a SHA-256 in base64url.
const KID_CHARS: usize = 43;

/// The length of an Ed25519 signature.
const SIGNATURE_BYTES: usize = 64;
