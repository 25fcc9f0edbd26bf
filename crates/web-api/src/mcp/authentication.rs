//! Who sends a message, and what those are told who do not say.

use std::{fmt::Display, net::IpAddr};

use http::{HeaderValue, StatusCode, header, request::Parts};
use library::Caller;
use oauth_core::{AccessRefused, UnixMillis};
use serde::Serialize;

use super::Resource;
use http_server::{BaseUrl, authorization_header::bearer, reply::{ErrorBody, Reply, WithHeader as _, json}};
use crate::{Api, images_api::ApiError, security_log};

/// Why a message is not listened to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// No token, or one that is wrong, expired, revoked or another resource's.
    NoValidToken,
    /// An access token that does not allow what this resource is for.
    InsufficientScope {
        /// Whose token it is.
        client_id: String,
        /// What it stands for.
        grant_id: String,
    },
    /// The store cannot tell now whether the token is good.
    Unavailable,
}

/// Finds out whom the token of a request speaks for. The token stands in `Authorization: Bearer …`, never in the
/// URL, the body or a cookie. An API key can call every tool of every resource; an access token opens the resource that
/// it was issued for, as long as its grant stands.
pub(super) async fn authenticate(
    api: &Api,
    resource: Resource,
    parts: &Parts,
) -> Result<Caller, Refused> {
    let token = bearer(&parts.headers).ok_or(Refused::NoValidToken)?;
    // A JWT has dots, an API key has none.
    if token.contains('.') {
        return by_access_token(api, resource, token).await;
    }
    service
        .library
        .caller_by_key(token)
        .await
        .map_err(|error| unavailable(&error))?
        .ok_or(Refused::NoValidToken)
}

/// The signature is checked once for each token, the grant is read at every request.
async fn by_access_token(api: &Api, resource: Resource, token: &str) -> Result<Caller, Refused> {
    let authorization = &api.authorization;
    let claims = authorization.verified.read(token).await.map_err(|error| unavailable(&error))?;
    let claims = claims.ok_or(Refused::NoValidToken)?;
    let holder =
        api.library.caller_by_grant(&claims.grant_id).await.map_err(|error| unavailable(&error))?;
    let (caller, grant) = holder.ok_or(Refused::NoValidToken)?;
    let url = format!("{}{}", api.base_url.as_str(), resource.path());
    let now = UnixMillis(api.library.clock().now().millis());
    match authorization.server.check_access(&claims, Some(&grant), &url, now) {
        Ok(()) => Ok(caller),
        Err(AccessRefused::Invalid) => Err(Refused::NoValidToken),
        Err(AccessRefused::InsufficientScope) => {
            Err(Refused::InsufficientScope { client_id: grant.client_id, grant_id: grant.id })
        }
    }
}

fn unavailable(error: &dyn Display) -> Refused {
    tracing::error!(%error, "a bearer token cannot be checked");
    Refused::Unavailable
}

impl Refused {
    pub(super) fn into_reply(self, base_url: &BaseUrl, resource: Resource, address: IpAddr) -> Reply {
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
            Self::InsufficientScope { client_id, grant_id } => {
                security_log::scope_refused(address, &client_id, &grant_id);
                json(StatusCode::FORBIDDEN, &ErrorBody { error: "insufficient_scope" })
                    .with(header::WWW_AUTHENTICATE, insufficient_scope(base_url, resource))
            }
            Self::Unavailable => ApiError::Unavailable.into_reply(),
        }
    }
}

/// What `WWW-Authenticate` says to a request without a valid token: the scope it needs, and where the metadata of
/// the resource stand (RFC 9728, section 5.1).
pub(super) fn challenge(base_url: &BaseUrl, resource: Resource) -> HeaderValue {
    bearer_challenge("", base_url, resource)
}

/// What it says to a token without the scope (RFC 6750, section 3.1).
fn insufficient_scope(base_url: &BaseUrl, resource: Resource) -> HeaderValue {
    bearer_challenge("error=\"insufficient_scope\", ", base_url, resource)
}

fn bearer_challenge(error: &str, base_url: &BaseUrl, resource: Resource) -> HeaderValue {
    let (scope, base_url, path) = (resource.scope(), base_url.as_str(), resource.path());
    let text = format!(
        "Bearer {error}scope=\"{scope}\", resource_metadata=\"{base_url}/.well-known/oauth-protected-resource{path}\""
    );
    // An origin has only ASCII characters.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_names_scope_and_metadata() {
        let base_url = BaseUrl::parse("https://photos.example.org/").unwrap();
        for (resource, expect) in [
            (
                Resource::V1,
                "Bearer scope=\"mcp:images\", resource_metadata=\"https://photos.example.org/.well-known/oauth-protected-resource/api/mcp/v1\"",
            ),
            (
                Resource::V2,
                "Bearer scope=\"mcp:images\", resource_metadata=\"https://photos.example.org/.well-known/oauth-protected-resource/api/mcp/v2\"",
            ),
            (
                Resource::Legacy,
                "Bearer scope=\"mcp:photos\", resource_metadata=\"https://photos.example.org/.well-known/oauth-protected-resource/api/mcp/legacy\"",
            ),
        ] {
            assert_eq!(challenge(&base_url, resource), expect);
        }
    }

    #[test]
    fn an_unreachable_store_is_not_a_wrong_token() {
        let base_url = BaseUrl::parse("http://localhost").unwrap();
        let reply = Refused::Unavailable.into_reply(&base_url, Resource::V1, IpAddr::from([127, 0, 0, 1]));
        assert_eq!(reply.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(reply.headers().contains_key(header::RETRY_AFTER));
        assert!(!reply.headers().contains_key(header::WWW_AUTHENTICATE));
    }
}
