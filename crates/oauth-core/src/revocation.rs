use std::fmt;

use crate::{
    AssertionError, AssertionRefused, AuthorizationServer, ErrorBody, Grants, Unavailable,
    client_assertion::{Assertion, read_assertion},
    parameters::{BadParameter, Parameters},
};

const KNOWN: [&str; 6] =
    ["token", "token_type_hint", "client_id", "client_secret", "client_assertion", "client_assertion_type"];

/// A well-formed request to revoke a token (RFC 7009, section 2.1).
#[derive(PartialEq, Eq)]
pub struct RevokeRequest {
    token: String,
    /// Checked if it is sent, although the token alone is enough.
    assertion: Result<Option<Assertion>, AssertionRefused>,
}

impl fmt::Debug for RevokeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RevokeRequest(…)")
    }
}

/// Why a revocation request is malformed: 400 `invalid_request`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedRevocation(String);

impl MalformedRevocation {
    /// The HTTP status of the response: 400.
    pub fn status(&self) -> u16 {
        400
    }

    /// The body of the response.
    pub fn body(&self) -> ErrorBody {
        ErrorBody::new("invalid_request", &self.0)
    }
}

impl From<BadParameter> for MalformedRevocation {
    fn from(bad: BadParameter) -> Self {
        Self(bad.to_string())
    }
}

impl RevokeRequest {
    /// Reads a body of type `application/x-www-form-urlencoded`.
    ///
    /// # Errors
    /// [`MalformedRevocation`].
    pub fn from_form(body: &[u8]) -> Result<Self, MalformedRevocation> {
        Self::read(&Parameters::from_form(body, &KNOWN))
    }

    /// Reads a JSON body with the same parameters.
    ///
    /// # Errors
    /// [`MalformedRevocation`].
    pub fn from_json(body: &[u8]) -> Result<Self, MalformedRevocation> {
        let parameters =
            Parameters::from_json(body, &KNOWN).map_err(|message| MalformedRevocation(message.to_owned()))?;
        Self::read(&parameters)
    }

    fn read(parameters: &Parameters) -> Result<Self, MalformedRevocation> {
        parameters.check()?;
        Ok(Self { token: parameters.required("token")?.to_owned(), assertion: read_assertion(parameters)? })
    }

    /// A request of the service itself, or of anyone who has the token.
    pub fn of(token: impl Into<String>) -> Self {
        Self { token: token.into(), assertion: Ok(None) }
    }

    /// The token to revoke.
    pub fn token(&self) -> &str {
        &self.token
    }
}

/// The effect of a revocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// The grant with that id and all its tokens were revoked.
    Grant(String),
    /// The token is unknown, or its grant was revoked before. The client gets the same response.
    Nothing,
}

impl AuthorizationServer {
    /// Revokes the grant of a token. The token may be the current or an older refresh token, or an access token, even
    /// an expired one. Whoever has the token may do so, but an assertion of a client that is sent must be valid.
    ///
    /// # Errors
    /// [`AssertionError::Refused`]: nothing was changed. [`AssertionError::Unavailable`]: it is not known whether the grant
    /// was revoked.
    pub async fn revoke(&self, request: &RevokeRequest) -> Result<Revoked, AssertionError> {
        if let Some(assertion) = request.assertion.as_ref().map_err(Clone::clone)? {
            let client = self.known_client(assertion.client_id()).await?;
            client.ok_or(AssertionRefused::NoKeys)?;
            self.verify_assertion(assertion).await?;
        }
        Ok(self.revoke_token(&request.token).await?)
    }

    async fn revoke_token(&self, token: &str) -> Result<Revoked, Unavailable> {
        let grant_id = match self.look_up_refresh_token(token).await? {
            Some(presented) => Some(presented.grant.id),
            None => {
                let claims = self.tokens.read(token).await?;
                claims.filter(|claims| claims.iss == self.config.issuer()).map(|claims| claims.grant_id)
            }
        };
        match grant_id {
            Some(id) if self.store.revoke(Grants::WithId(&id), self.now()).await? > 0 => {
                Ok(Revoked::Grant(id))
            }
            _ => Ok(Revoked::Nothing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let form = |body: &str| RevokeRequest::from_form(body.as_bytes()).map(|request| request.token);
        let json = |body: &str| RevokeRequest::from_json(body.as_bytes()).map(|request| request.token);
        let check = |got: Result<String, MalformedRevocation>, expect: Result<&str, &str>| match expect {
            Ok(token) => assert_eq!(got.as_deref(), Ok(token)),
            Err(message) => {
                let body = got.unwrap_err().body();
                assert_eq!(body.error, "invalid_request");
                assert!(body.error_description.contains(message), "{body:?}");
            }
        };
        check(form("token=a"), Ok("a"));
        check(form("token=a&token_type_hint=nonsense&client_id=b&other=1&other=2"), Ok("a"));
        check(form(""), Err("token is missing"));
        check(form("token="), Err("token is missing"));
        check(form("token=a&token=a"), Err("token is given more than once"));
        check(
            form("token=a&token_type_hint=a&token_type_hint=a"),
            Err("token_type_hint is given more than once"),
        );
        check(form("token=%ff"), Err("token is not text"));
        check(form(r#"{"token":"a"}"#), Err("token is missing"));
        check(json(r#"{"token":"a","token_type_hint":null}"#), Ok("a"));
        check(json(r#"{"token":1}"#), Err("token is not text"));
        check(json(r#"{"token":"a","token":"a"}"#), Err("token is given more than once"));
        check(json(r#"{"token":"a","other":1,"other":2}"#), Ok("a"));
        check(json("token=a"), Err("not JSON"));
        assert_eq!(format!("{:?}", RevokeRequest::of("abc")), "RevokeRequest(…)");
    }
}
