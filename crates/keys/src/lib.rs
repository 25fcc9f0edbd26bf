//! Randomness, key hashes, signatures and access tokens, on `ring` and `josekit`.
//!
//! The service has one [`Secret`]. From it come the keys of everything that is signed, each for its own purpose;
//! API keys and ids come from a [`Random`] source, which tests seed.
//!
//! This crate knows no HTTP, no database and no clock: moments are parameters.
//!
//! The commonest change is a new thing to sign: derive its key with [`Secret::derive`] under a purpose of its own
//! and give it a type such as [`UrlSigner`]. Only access tokens are signed with keys of their own, which others can
//! verify and which can be replaced: [`SigningKey`].
//!
//! ```
//! use keys::{Secret, UrlSigner};
//!
//! let secret = Secret::from_text("correct horse battery staple, and then some")?;
//! let signer = UrlSigner::new(&secret);
//! let signature = signer.sign("abc", "webp-thumb", 1_700_000_900);
//! assert!(signer.verify("abc", "webp-thumb", 1_700_000_900, &signature));
//! assert!(!signer.verify("abc", "webp-full", 1_700_000_900, &signature));
//! # Ok::<(), keys::SecretError>(())
//! ```
#![deny(missing_docs)]

mod access_token;
mod api_key;
mod form_signer;
mod parts;
mod random;
mod secret;
mod session;
mod signed_url;
mod strict_json;

pub use access_token::{OpenKeyError, PublicJwk, SignError, SignedToken, SigningKey, VerifyingKey};
pub use api_key::{API_KEY_PREFIX, api_key_hash, new_api_key, new_password};
pub use form_signer::FormSigner;
pub use parts::hash_parts;
pub use parts::sha256;
pub use random::{Random, RandomError, SeededRandom, SystemRandom, new_id};
pub use secret::{Secret, SecretError};
pub use session::{new_session_token, session_hash};
pub use signed_url::UrlSigner;
