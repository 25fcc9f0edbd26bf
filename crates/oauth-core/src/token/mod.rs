//! The token endpoint: request, client authentication, and the two grant types.

mod authentication;
mod code;
mod errors;
mod refresh;
mod refresh_token;
mod request;

use std::ops::RangeInclusive;

pub use errors::{InvalidGrantReason, TokenError};
pub use request::TokenRequest;
use serde::Serialize;

use crate::{
    AccessTokenClaims, AuthorizationServer, Grant, MAX_REDIRECT_URI_CHARS, SecretString, Unavailable,
    UnixMillis, new_id,
};
use refresh_token::RefreshToken;
use request::GrantRequest;

/// A successful response (RFC 6749, section 5.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TokenResponse {
    /// The access token.
    pub access_token: SecretString,
    /// `Bearer`.
    pub token_type: &'static str,
    /// The lifetime of the access token in seconds.
    pub expires_in: u32,
    /// The refresh token; none for a client without that grant type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<SecretString>,
    /// The granted scopes, separated by spaces.
    pub scope: String,
}

/// A signed access token that is not yet issued.
struct SignedAccessToken {
    token: String,
    expires_at: UnixMillis,
}

impl AuthorizationServer {
    /// Exchanges a code or a refresh token. Everything is checked before anything changes. Exactly one of several
    /// concurrent requests with the same code or token succeeds.
    ///
    /// # Errors
    /// [`TokenError`].
    pub async fn token(&self, request: TokenRequest) -> Result<TokenResponse, TokenError> {
        let client = self.authenticate(&request.credentials).await?;
        match &request.grant {
            GrantRequest::Code(exchange) => self.redeem(&client, exchange).await,
            GrantRequest::Refresh(token) => self.refresh(&client, token).await,
        }
    }

    async fn sign(&self, grant: &Grant, now: UnixMillis) -> Result<SignedAccessToken, Unavailable> {
        let issued_at = now.seconds();
        let expires_at = issued_at.saturating_add(i64::from(self.config.lifetimes().access_token_seconds));
        let claims = AccessTokenClaims {
            iss: self.config.issuer().to_owned(),
            sub: self.subject_for_client(grant),
            aud: grant.resource.clone(),
            client_id: grant.client_id.clone(),
            scope: grant.scopes.join(" "),
            iat: issued_at,
            exp: expires_at,
            jti: new_id(&*self.random)?,
            grant_id: grant.id.clone(),
        };
        let token = self.tokens.sign(&claims).await?;
        Ok(SignedAccessToken { token, expires_at: UnixMillis(expires_at.saturating_mul(1000)) })
    }

    fn response(
        &self,
        grant: &Grant,
        access: SignedAccessToken,
        refresh: Option<RefreshToken>,
    ) -> TokenResponse {
        TokenResponse {
            access_token: SecretString::new(access.token),
            token_type: "Bearer",
            expires_in: self.config.lifetimes().access_token_seconds,
            refresh_token: refresh.map(|token| SecretString::new(token.encode())),
            scope: grant.scopes.join(" "),
        }
    }

    fn refresh_expires_at(&self, now: UnixMillis) -> UnixMillis {
        now.plus_ms(i64::from(self.config.lifetimes().refresh_token_seconds) * 1000)
    }
}

/// The length of a PKCE verifier, and of a challenge (RFC 7636, section 4).
pub(crate) const PKCE_LENGTH: RangeInclusive<usize> = 43..=128;

/// Whether a text can be the id of a client; others are not looked up. The longest ids are URLs.
fn is_client_id(text: &str) -> bool {
    (1..=MAX_REDIRECT_URI_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests;
