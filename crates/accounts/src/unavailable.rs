use keys::{OpenKeyError, RandomError, SignError};
use storage::StorageError;

/// The service is unavailable; the call can be retried later.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// The metadata store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The random source failed.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// Passwords cannot be checked.
    #[error("passwords cannot be checked: {0}")]
    Passwords(String),
    /// The key that signs access tokens cannot be opened.
    #[error(transparent)]
    SigningKey(#[from] OpenKeyError),
    /// Access tokens cannot be signed.
    #[error("access tokens cannot be signed: {0}")]
    Signing(#[from] SignError),
}
