use std::fmt;

use super::{PKCE_LENGTH, TokenError, authentication::Credentials};
use crate::{
    SecretHash,
    parameters::{Parameters, bad},
};

/// `resource` is not listed: the user's consent decided about the resource, so a value is ignored and never an error.
const KNOWN: [&str; 10] = [
    "grant_type",
    "code",
    "redirect_uri",
    "code_verifier",
    "refresh_token",
    "client_id",
    "client_secret",
    "client_assertion",
    "client_assertion_type",
    "scope",
];

/// The user's consent also decided about the scopes, so a `scope` that is not text is not an error.
const UNUSED: [&str; 1] = ["scope"];

/// A well-formed request for tokens.
#[derive(PartialEq, Eq)]
pub struct TokenRequest {
    pub(super) credentials: Credentials,
    pub(super) grant: GrantRequest,
}

/// The grant type with its parameters.
#[derive(PartialEq, Eq)]
pub(super) enum GrantRequest {
    Code(CodeExchange),
    /// A refresh token.
    Refresh(String),
}

#[derive(PartialEq, Eq)]
pub(super) struct CodeExchange {
    pub(super) code: String,
    pub(super) redirect_uri: String,
    pub(super) verifier: String,
}

impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grant_type = match self.grant {
            GrantRequest::Code(_) => "authorization_code",
            GrantRequest::Refresh(_) => "refresh_token",
        };
        f.debug_struct("TokenRequest")
            .field("client_id", &self.claimed_client_id())
            .field("grant_type", &grant_type)
            .finish_non_exhaustive()
    }
}

impl TokenRequest {
    /// Reads a body of type `application/x-www-form-urlencoded`, and the `Authorization` header if there is one.
    ///
    /// # Errors
    /// [`TokenError`]: `invalid_request`, `unsupported_grant_type`, or `invalid_client` for a header that is not
    /// well-formed Basic.
    pub fn from_form(body: &[u8], authorization: Option<&str>) -> Result<Self, TokenError> {
        Self::read(&Parameters::from_form(body, &KNOWN), authorization)
    }

    /// Reads a JSON body with the same parameters.
    ///
    /// # Errors
    /// As [`TokenRequest::from_form`].
    pub fn from_json(body: &[u8], authorization: Option<&str>) -> Result<Self, TokenError> {
        let parameters = Parameters::from_json(body, &KNOWN)
            .map_err(|message| TokenError::InvalidRequest(message.to_owned()))?;
        Self::read(&parameters, authorization)
    }

    fn read(parameters: &Parameters, authorization: Option<&str>) -> Result<Self, TokenError> {
        let grant = match parameters.required("grant_type")? {
            "authorization_code" => {
                parameters.check_except(&UNUSED)?;
                GrantRequest::Code(CodeExchange::read(parameters)?)
            }
            "refresh_token" => {
                parameters.check_except(&UNUSED)?;
                GrantRequest::Refresh(parameters.required("refresh_token")?.to_owned())
            }
            _ => return Err(TokenError::UnsupportedGrantType),
        };
        let credentials = Credentials::read(parameters, authorization)?;
        Ok(Self { credentials, grant })
    }

    /// The client's id as sent, not yet authenticated.
    pub fn claimed_client_id(&self) -> &str {
        &self.credentials.client_id
    }

    /// Whether the grant type is `refresh_token`.
    pub fn is_refresh(&self) -> bool {
        matches!(self.grant, GrantRequest::Refresh(_))
    }

    /// The hash of the code or refresh token, for rate limits.
    pub fn token_hash(&self) -> SecretHash {
        match &self.grant {
            GrantRequest::Code(exchange) => SecretHash::of(&exchange.code),
            GrantRequest::Refresh(token) => SecretHash::of(token),
        }
    }
}

impl CodeExchange {
    fn read(parameters: &Parameters) -> Result<Self, TokenError> {
        let code = parameters.required("code")?.to_owned();
        let redirect_uri = parameters.required("redirect_uri")?.to_owned();
        let verifier = parameters.required("code_verifier")?;
        let is_verifier = PKCE_LENGTH.contains(&verifier.len())
            && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
        if !is_verifier {
            let fault = "is not 43 to 128 characters from A-Z a-z 0-9 - . _ ~";
            return Err(bad("code_verifier", fault).into());
        }
        Ok(Self { code, redirect_uri, verifier: verifier.to_owned() })
    }
}
