use crate::{ErrorBody, StoreError, Unavailable, errors::BASIC_CHALLENGE};

/// Why a client assertion is refused (RFC 7523, section 3): a message for the client's developer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssertionRefused {
    /// The client must send an assertion.
    #[error("the client's metadata document asks for private_key_jwt, but client_assertion is missing")]
    Missing,
    /// Another type, or none.
    #[error("client_assertion_type is not {}", super::ASSERTION_TYPE)]
    Type,
    /// Not a signed JWT.
    #[error(
        "client_assertion is not a JWT: three segments of base64url, of which the first two contain JSON without \
         duplicate members"
    )]
    Malformed,
    /// A header that is not accepted.
    #[error("the header of client_assertion {0}")]
    Header(&'static str),
    /// A claim that is not accepted.
    #[error("the claim {name} of client_assertion {fault}")]
    Claim {
        /// The name of the claim.
        name: &'static str,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// It names another client than `client_id`.
    #[error("client_assertion names another client than client_id")]
    OtherClient,
    /// The client has no metadata document, or its document has no keys.
    #[error(
        "client_assertion cannot be verified, because the client has no metadata document with jwks or jwks_uri"
    )]
    NoKeys,
    /// No key fits, or several do.
    #[error(
        "the client does not have exactly one public key that fits the kid and the alg of client_assertion and has no \
         private members"
    )]
    UnknownKey,
    /// The signature is wrong, or the key is too weak.
    #[error("the signature of client_assertion does not match the client's key, or the key is too weak")]
    Signature,
    /// The client has sent an assertion with the same `jti` before.
    #[error("client_assertion was used before: its jti must be new in each request")]
    Replayed,
}

/// Why a client is not authenticated by its assertion.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AssertionError {
    /// The assertion is refused: 401 `invalid_client`.
    #[error(transparent)]
    Refused(#[from] AssertionRefused),
    /// A temporary failure: 503.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl AssertionError {
    /// The HTTP status of the response.
    pub fn status(&self) -> u16 {
        match self {
            Self::Refused(_) => 401,
            Self::Unavailable(error) => error.status(),
        }
    }

    /// The body of the response.
    pub fn body(&self) -> ErrorBody {
        match self {
            Self::Refused(refused) => ErrorBody::new("invalid_client", refused.to_string()),
            Self::Unavailable(error) => error.body(),
        }
    }

    /// The value of `WWW-Authenticate`. Only a refusal has one (RFC 6749, section 5.2).
    pub fn www_authenticate(&self) -> Option<&'static str> {
        matches!(self, Self::Refused(_)).then_some(BASIC_CHALLENGE)
    }
}

impl From<StoreError> for AssertionError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}
