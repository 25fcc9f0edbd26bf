use serde::Serialize;

use crate::{DocumentError, RandomError, StoreError, TokensUnavailable};

/// The challenge of a response with `invalid_client` (RFC 6749, section 5.2).
pub(crate) const BASIC_CHALLENGE: &str = "Basic realm=\"token endpoint\", charset=\"UTF-8\"";

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
    /// The public keys of a client, which are on a host of its own.
    #[error("the client's public keys could not be fetched: {0}")]
    ClientKeys(DocumentError),
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
        let description = match self {
            Self::ClientKeys(_) => format!("{self}; retry later"),
            _ => "the service is temporarily unavailable; retry later".to_owned(),
        };
        ErrorBody::new(Self::CODE, description)
    }
}
