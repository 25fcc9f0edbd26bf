use serde::Serialize;

/// The JSON body of an error response (RFC 6749, section 5.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorBody {
    /// The error code.
    pub error: &'static str,
    /// A message for the client's developer.
    pub error_description: String,
}

/// The error code of [`Unavailable`](crate::Unavailable).
pub(crate) const TEMPORARILY_UNAVAILABLE: &str = "temporarily_unavailable";

/// The message for [`Unavailable`](crate::Unavailable), without internals.
pub(crate) const TRY_AGAIN: &str = "the service is temporarily unavailable; try again in a moment";
