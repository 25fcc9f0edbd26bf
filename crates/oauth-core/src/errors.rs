use serde::Serialize;

/// The JSON of an error answer (RFC 6749, section 5.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorBody {
    /// The code, which programs decide by.
    pub error: &'static str,
    /// The same in words.
    pub error_description: String,
}

/// The code for what is [`Unavailable`](crate::Unavailable).
pub(crate) const TEMPORARILY_UNAVAILABLE: &str = "temporarily_unavailable";

/// What a client is told when something is [`Unavailable`](crate::Unavailable): no word of the inside.
pub(crate) const TRY_AGAIN: &str = "the service cannot answer right now; try again in a moment";
