use crate::{
    AssertionError, AssertionRefused, ErrorBody, Unavailable, errors::BASIC_CHALLENGE,
    parameters::BadParameter,
};

/// Why a client gets no tokens (RFC 6749, section 5.2).
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The request is malformed.
    #[error("{0}")]
    InvalidRequest(String),
    /// The client is unknown or its secret is wrong: 401 with a [challenge](Self::www_authenticate).
    #[error("the client is not registered here, or its secret is wrong")]
    InvalidClient,
    /// The client's assertion is refused: `invalid_client`, as for a wrong secret.
    #[error(transparent)]
    RefusedAssertion(#[from] AssertionRefused),
    /// The code or refresh token does not work.
    #[error("{0}")]
    InvalidGrant(InvalidGrantReason),
    /// The client did not register the grant type.
    #[error("the client did not register the grant type refresh_token")]
    UnauthorizedClient,
    /// Neither `authorization_code` nor `refresh_token`.
    #[error("grant_type is neither authorization_code nor refresh_token")]
    UnsupportedGrantType,
    /// A temporary failure: 503.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why a code or refresh token is invalid. Clients get little of this; the security log gets all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidGrantReason {
    /// It was never issued, or was swept.
    #[error("it is unknown")]
    Unknown,
    /// It belongs to another client. Nothing changed.
    #[error("it was issued to another client")]
    OtherClient,
    /// The code went to another redirect URI. Nothing changed.
    #[error("redirect_uri differs from that of the authorization request")]
    OtherRedirectUri,
    /// The verifier does not match the challenge. Nothing changed.
    #[error("code_verifier does not match")]
    WrongVerifier,
    /// It has expired.
    #[error("it has expired")]
    Expired,
    /// Its grant was revoked.
    #[error("its grant was revoked")]
    Revoked,
    /// The code was redeemed before; the grant stays as it is, unless
    /// [`ends_grant_on_code_replay`](crate::Policies::ends_grant_on_code_replay).
    #[error("it was used before")]
    CodeReplayed {
        /// The grant.
        grant_id: String,
    },
    /// The refresh token was replaced before.
    #[error("it was used before")]
    TokenReplayed {
        /// The grant.
        grant_id: String,
        /// Whether the grant was revoked because of the replay.
        ended: bool,
    },
    /// Another request with the same code or token came first.
    #[error("it was used by another request at the same time")]
    LostRace,
}

impl TokenError {
    /// The error code (RFC 6749, section 5.2).
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidClient | Self::RefusedAssertion(_) => "invalid_client",
            Self::InvalidGrant(_) => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::Unavailable(_) => Unavailable::CODE,
        }
    }

    /// The message for the client's developer.
    pub fn description(&self) -> String {
        match self {
            Self::Unavailable(error) => error.body().error_description,
            // The message does not reveal whether the token exists.
            Self::InvalidGrant(InvalidGrantReason::Unknown | InvalidGrantReason::OtherClient) => {
                "the code or refresh token was not issued to this client".to_owned()
            }
            Self::InvalidGrant(reason) => format!("the code or refresh token is invalid: {reason}"),
            other => other.to_string(),
        }
    }

    /// The HTTP status of the response.
    pub fn status(&self) -> u16 {
        match self {
            Self::InvalidClient | Self::RefusedAssertion(_) => 401,
            Self::Unavailable(error) => error.status(),
            Self::InvalidRequest(_)
            | Self::InvalidGrant(_)
            | Self::UnauthorizedClient
            | Self::UnsupportedGrantType => 400,
        }
    }

    /// The body of the response.
    pub fn body(&self) -> ErrorBody {
        ErrorBody::new(self.code(), self.description())
    }

    /// The value of `WWW-Authenticate`. Only errors with the code `invalid_client` have one (RFC 6749, section 5.2).
    pub fn www_authenticate(&self) -> Option<&'static str> {
        (self.code() == "invalid_client").then_some(BASIC_CHALLENGE)
    }
}

impl From<BadParameter> for TokenError {
    fn from(bad: BadParameter) -> Self {
        Self::InvalidRequest(bad.to_string())
    }
}

impl From<AssertionError> for TokenError {
    fn from(error: AssertionError) -> Self {
        match error {
            AssertionError::Refused(refused) => Self::RefusedAssertion(refused),
            AssertionError::Unavailable(error) => Self::Unavailable(error),
        }
    }
}

impl From<InvalidGrantReason> for TokenError {
    fn from(reason: InvalidGrantReason) -> Self {
        Self::InvalidGrant(reason)
    }
}
