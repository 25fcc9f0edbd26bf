//! Authenticates MCP requests.

use std::{fmt::Display, net::IpAddr};

use http::{HeaderValue, StatusCode, header, request::Parts};
use library::Caller;
use oauth_core::{AccessError, AccessRefused, AccessTokenClaims, ProtectedResource};
use serde::Serialize;
use web_auth::security_log;

use super::McpResource;
use crate::{Api, images_api::ApiError};
use http_server::{
    BaseUrl,
    authorization_header::bearer,
    reply::{ErrorBody, Reply, WithHeader as _, json},
};

/// Why a request is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AuthenticationError {
    /// No token, or one that is wrong, expired, revoked or issued for another resource.
    NoValidToken,
    /// An access token without the scope of this resource.
    InsufficientScope {
        client_id: String,
        /// The grant that the token belongs to.
        grant_id: String,
        /// The value of `WWW-Authenticate`.
        challenge: String,
    },
    /// The store cannot be read now.
    Unavailable,
}

/// Authenticates a request by the token in `Authorization: Bearer …`, never by URL, body or cookie. An API key works at
/// every resource. An access token works at the resource that it was issued for, until its grant is revoked.
pub(super) async fn authenticate(
    api: &Api,
    resource: McpResource,
    parts: &Parts,
) -> Result<Caller, AuthenticationError> {
    let token = bearer(&parts.headers).ok_or(AuthenticationError::NoValidToken)?;
    // A JWT has dots, an API key has none.
    if token.contains('.') {
        return by_access_token(api, api.authorization.protected(resource), token).await;
    }
    api.library
        .accounts
        .caller_by_key(token)
        .await
        .map_err(|error| unavailable(&error))?
        .ok_or(AuthenticationError::NoValidToken)
}

/// Reads the grant, with its account, at every request.
async fn by_access_token(
    api: &Api,
    resource: &ProtectedResource,
    token: &str,
) -> Result<Caller, AuthenticationError> {
    let claims = resource.claims(token).await.map_err(refused)?;
    let caller =
        api.library.accounts.caller_by_grant(&claims.grant_id).await.map_err(|error| unavailable(&error))?;
    let caller = caller.ok_or(AuthenticationError::NoValidToken)?;
    match resource.check(&claims, caller.credential.grant()) {
        Ok(()) => Ok(caller),
        Err(AccessError::Refused { refused: AccessRefused::InsufficientScope, challenge }) => {
            let AccessTokenClaims { client_id, grant_id, .. } = claims;
            Err(AuthenticationError::InsufficientScope { client_id, grant_id, challenge })
        }
        Err(error) => Err(refused(error)),
    }
}

fn refused(error: AccessError) -> AuthenticationError {
    match error {
        AccessError::Refused { .. } => AuthenticationError::NoValidToken,
        AccessError::Unavailable(error) => unavailable(&error),
    }
}

fn unavailable(error: &dyn Display) -> AuthenticationError {
    tracing::error!(%error, "a bearer token could not be checked");
    AuthenticationError::Unavailable
}

impl AuthenticationError {
    pub(super) fn into_reply(self, base_url: &BaseUrl, resource: McpResource, address: IpAddr) -> Reply {
        #[derive(Serialize)]
        struct Unauthorized {
            error: &'static str,
            message: &'static str,
        }
        match self {
            Self::NoValidToken => {
                let body = Unauthorized {
                    error: "unauthorized",
                    message: "the token is missing, wrong, expired or revoked; send `Authorization: Bearer TOKEN`",
                };
                json(StatusCode::UNAUTHORIZED, &body)
                    .with(header::WWW_AUTHENTICATE, challenge(base_url, resource))
            }
            Self::InsufficientScope { client_id, grant_id, challenge } => {
                security_log::scope_refused(address, &client_id, &grant_id);
                json(StatusCode::FORBIDDEN, &ErrorBody { error: "insufficient_scope" })
                    .with(header::WWW_AUTHENTICATE, header_value(challenge))
            }
            Self::Unavailable => ApiError::Unavailable.into_reply(),
        }
    }
}

/// `WWW-Authenticate` for a request without a valid token. It never names an error, because clients expect one and the
/// same header whether the token is missing or wrong.
pub(super) fn challenge(base_url: &BaseUrl, resource: McpResource) -> HeaderValue {
    header_value(AccessRefused::NoToken.www_authenticate(&resource.protected(base_url)))
}

fn header_value(challenge: String) -> HeaderValue {
    // Its URL has only ASCII characters.
    HeaderValue::try_from(challenge).unwrap_or(HeaderValue::from_static("Bearer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_names_scope_and_metadata() {
        let base_url = BaseUrl::parse("https://photos.example.org/").unwrap();
        for (resource, expect) in [
            (
                McpResource::V1,
                "Bearer scope=\"mcp:images\", resource_metadata=\"https://photos.example.org/.well-known/oauth-protected-resource/api/mcp/v1\"",
            ),
            (
                McpResource::V2,
                "Bearer scope=\"mcp:images\", resource_metadata=\"https://photos.example.org/.well-known/oauth-protected-resource/api/mcp/v2\"",
            ),
            (
                McpResource::Legacy,
                "Bearer scope=\"mcp:photos\", resource_metadata=\"https://photos.example.org/.well-known/oauth-protected-resource/api/mcp/legacy\"",
            ),
        ] {
            assert_eq!(challenge(&base_url, resource), expect);
        }
    }

    #[test]
    fn an_unreachable_store_is_not_a_wrong_token() {
        let base_url = BaseUrl::parse("http://localhost").unwrap();
        let reply = AuthenticationError::Unavailable.into_reply(
            &base_url,
            McpResource::V1,
            IpAddr::from([127, 0, 0, 1]),
        );
        assert_eq!(reply.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(reply.headers().contains_key(header::RETRY_AFTER));
        assert!(!reply.headers().contains_key(header::WWW_AUTHENTICATE));
    }
}
