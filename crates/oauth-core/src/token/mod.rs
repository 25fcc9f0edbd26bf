//! The token endpoint: what is asked, who asks, and what comes of it.

mod authentication;
mod code;
mod errors;
mod refresh;
mod refresh_token;
mod request;

pub use errors::{InvalidGrantReason, TokenError};
pub use request::TokenRequest;
use serde::Serialize;

use crate::{
    AccessTokenClaims, AuthorizationServer, Grant, SecretString, Unavailable, UnixMillis, secret::new_id,
};
use refresh_token::RefreshToken;
use request::Asked;

/// What a client gets (RFC 6749, section 5.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenResponse {
    /// The access token.
    pub access_token: SecretString,
    /// `Bearer`.
    pub token_type: &'static str,
    /// How long the access token lives, in seconds.
    pub expires_in: u32,
    /// The refresh token; none for a client that may not refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<SecretString>,
    /// What was granted, separated by spaces.
    pub scope: String,
}

/// A signed access token that nobody has yet, and when it expires.
struct Signed {
    token: String,
    expires_at: UnixMillis,
}

impl AuthorizationServer {
    /// Exchanges a code or a refresh token. Everything is checked before anything changes; of several that come with
    /// the same one at once exactly one succeeds.
    ///
    /// # Errors
    /// [`TokenError`].
    pub async fn token(&self, request: TokenRequest) -> Result<TokenResponse, TokenError> {
        let client = self.authenticate(&request.credentials).await?;
        match &request.asked {
            Asked::Code(exchange) => self.redeem(&client, exchange).await,
            Asked::Refresh(token) => self.refresh(&client, token).await,
        }
    }

    async fn sign(&self, grant: &Grant, now: UnixMillis) -> Result<Signed, Unavailable> {
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
        Ok(Signed { token, expires_at: UnixMillis(expires_at.saturating_mul(1000)) })
    }

    fn response(&self, grant: &Grant, access: Signed, refresh: Option<RefreshToken>) -> TokenResponse {
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

/// Whether a text could be the id of a client; for any other the store is not asked.
pub(crate) fn is_client_id(text: &str) -> bool {
    (1..=2000).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests;
