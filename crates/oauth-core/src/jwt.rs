//! Access tokens as JWTs (RFC 9068), which other services verify with public keys (feature `jwt`).
//!
//! The signatures are Ed25519 (RFC 8037). [`JwtTokens`] signs with the keys of a [`KeySchedule`]. The metadata then has
//! the `jwks_uri` ([`Endpoints::jwks`](crate::Endpoints::jwks)), where `HttpEndpoints` serves the public keys.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! use std::sync::Arc;
//!
//! use oauth_core::{
//!     AuthorizationServer, Clock, Config, Endpoints, Lifetimes, MemoryStore, Resource, SystemClock, SystemRandom,
//!     jwt::{JwtTokens, KeySchedule, SigningKey},
//!     new_key,
//! };
//!
//! let photos = Resource::new("https://photos.example/mcp", "Photos", &["photos"]);
//! let endpoints = Endpoints::under("https://photos.example/oauth");
//! let config = Config::new("https://photos.example", endpoints, vec![photos], Lifetimes::default())?;
//!
//! // Keep seeds, or keys in PKCS #8, in a secret store, with the time from which each key signs.
//! let old = SigningKey::from_seed(&new_key(&SystemRandom::new())?)?;
//! let tokens = Arc::new(JwtTokens::new(KeySchedule::new(old.clone()), &config));
//! let server = AuthorizationServer::builder(config, Arc::new(MemoryStore::new()), &[7; 32])
//!     .access_tokens(tokens.clone())
//!     .build();
//! assert_eq!(server.server_metadata().jwks_uri.as_deref(), Some("https://photos.example/oauth/jwks"));
//!
//! // Rotation, without a restart: the new key signs in an hour.
//! let new = SigningKey::from_seed(&new_key(&SystemRandom::new())?)?;
//! let signs_from = SystemClock.now().plus_ms(3_600_000);
//! tokens.replace_keys(KeySchedule::new(old).then(signs_from, new));
//! assert_eq!(server.jwk_set().await?.ok_or("no keys")?.keys.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rotation
//!
//! 1. Add a key that signs from a time in the future, and give all processes the new schedule before that time. The key
//!    is published at once. Caches keep the published keys for five minutes, and other services may keep them longer, so
//!    an hour or a day ahead is a good time.
//! 2. From its time on, the new key signs. The clock decides, so processes need not change at the same moment. The old
//!    key still verifies.
//! 3. After the lifetime of an access token, the old key neither verifies nor is published. Remove it from the schedule
//!    when convenient.
//!
//! If a key was stolen, call [`JwtTokens::replace_keys`] with a schedule without it: its tokens are refused at once, and
//! clients get new ones with their refresh tokens.
//!
//! # Services that verify tokens themselves
//!
//! They read the keys at `jwks_uri`, and again when a token names an unknown `kid`, but at most every few seconds. They
//! check `typ`, `alg`, the signature, `iss`, `aud` and `exp` (RFC 9068, section 4). They do not notice that a grant was
//! revoked before its last access token expires; a [`ProtectedResource`](crate::ProtectedResource) of this server does,
//! at the next request. Everyone who holds a token can read its claims.
//!
//! **`sub` is not the user's id.** It is a pseudonym that is different for each client, and nobody can compute the user from
//! it. So a service that keeps data per `sub` sees one person as a different user in each app. With
//! [`Policies::reveals_subject`](crate::Policies::reveals_subject), `sub` is the user's id.
//!
//! # One form of tokens
//!
//! The headers of all tokens are equal, byte for byte, except for the `kid`, which is the thumbprint of the key (RFC
//! 7638). So a header is compared, never interpreted: any other header is refused, whatever algorithm, key, type or
//! extension it names. The segments have one spelling too: base64url without padding and unused bits.
//!
//! # Keys in a store of your own
//!
//! A service that, for instance, reads its keys from a database at each request implements
//! [`AccessTokens`](crate::AccessTokens) and [`PublicKeys`](crate::PublicKeys) itself: [`SigningKey`] signs, and
//! [`UnverifiedToken::parse`] returns the id of the key to verify with.

mod jwt_tokens;
mod schedule;
mod signing_key;
#[cfg(test)]
mod tests;
mod unverified_token;

pub use jwt_tokens::JwtTokens;
pub use schedule::KeySchedule;
pub use signing_key::{ClaimsError, InvalidKey, SigningKey};
pub use unverified_token::UnverifiedToken;

/// The longest token in bytes. Tokens of this crate usually have about 700.
pub const MAX_TOKEN_BYTES: usize = crate::jws::MAX_BYTES;

/// The header before and after the `kid`.
///
/// The algorithm is Ed25519 because every request verifies a token and few requests sign one: ring verifies Ed25519 in
/// about 45 µs, and ES256 in 60 µs. Signing with Ed25519 takes about 27 µs and needs no random bytes.
const HEADER: (&str, &str) = (r#"{"alg":"EdDSA","typ":"at+jwt","kid":""#, r#""}"#);

/// The length of a `kid`: a SHA-256 in base64url.
const KID_CHARS: usize = 43;

/// The length of an Ed25519 signature.
const SIGNATURE_BYTES: usize = 64;
