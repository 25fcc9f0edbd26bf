//! API keys, session tokens, keys of access tokens, signed URLs and forms, on `ring` and `josekit`.
//!
//! The service has one [`Secret`], from which a key for each purpose is derived. API keys and ids come from a
//! [`Random`] source, which tests seed.
//!
//! This crate contains no HTTP, no database and no clock: times are parameters.
//!
//! The most common change is a new kind of signature: derive its key with [`Secret::derive`] under a new purpose and
//! write a type such as [`UrlSigner`]. Only access tokens have keys of their own, which others can verify with and
//! which can be rotated: [`SigningKey`]. The form of the tokens is that of [`oauth_core::jwt`].
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

mod api_key;
mod form_signer;
mod parts;
mod random;
mod secret;
mod session;
mod signed_url;
mod signing_key;

pub use api_key::{API_KEY_PREFIX, api_key_hash, new_api_key, new_password, new_sync_password};
pub use form_signer::FormSigner;
pub use oauth_core::{Random, RandomError, SystemRandom, new_id};
pub use parts::{hash_parts, sha256};
pub use random::SeededRandom;
pub use secret::{Secret, SecretError};
pub use session::{new_session_token, session_hash};
pub use signed_url::UrlSigner;
pub use signing_key::{OpenKeyError, SignError, SigningKey};
