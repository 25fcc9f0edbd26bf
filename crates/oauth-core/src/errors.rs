use serde::Serialize;

use crate::{RandomError, StoreError, TokensUnavailable};

/// The JSON body of an error response (RFC 6749, section 5.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorBody {
    /// The error code.
    pub error: &'static str,
    /// A message for the client's developer.
    pub error_description: String,
}

impl ErrorBody {
    /// A body with this code and message.
    pub fn new(error: &'static str, error_description: impl Into<String>) -> Self {
        Self { error, error_description: error_description.into() }
    }
}

/// A temporary failure of a dependency. A store that failed may have made the change all the same; see [`StoreError`].
/// The caller responds with 503 and `Retry-After`, never with `invalid_grant`, because clients discard their tokens on
/// that error.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Unavailable {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The signing keys.
    #[error(transparent)]
    Tokens(#[from] TokensUnavailable),
    /// Randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

impl Unavailable {
    /// The error code.
    pub(crate) const CODE: &str = "temporarily_unavailable";

    /// The HTTP status of the response: 503. The response has the header `Retry-After`.
    pub fn status(&self) -> u16 {
        503
    }

    /// The body of the response, which reveals no internals. The `Display` text is for the log.
    pub fn body(&self) -> ErrorBody {
        ErrorBody::new(Self::CODE, "the service is temporarily unavailable; retry later")
    }
}
