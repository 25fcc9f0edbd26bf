//! Who sends a message, and what those are told who do not say.

use http::{HeaderValue, StatusCode, header, request::Parts};
use library::Caller;
use serde::Serialize;

use super::Resource;
use crate::{
    BaseUrl,
    app::Service,
    images_api::ApiError,
    presented_key::bearer,
    reply::{Reply, WithHeader as _, json},
};

/// Why a message is not listened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// No token, or one that is wrong, expired or revoked.
    NoValidToken,
    /// The store cannot tell now whether the token is good.
    Unavailable,
}

/// Finds out whom the token of a request speaks for. The token stands in `Authorization: Bearer …`, never in the
/// URL, the body or a cookie; an API key can call every tool of every resource.
pub(super) async fn authenticate(service: &Service, parts: &Parts) -> Result<Caller, Refused> {
    let token = bearer(&parts.headers).ok_or(Refused::NoValidToken)?;
    match service.library.caller(token).await {
        Ok(caller) => caller.ok_or(Refused::NoValidToken),
        Err(error) => {
            tracing::error!(%error, "a bearer token cannot be checked");
            Err(Refused::Unavailable)
        }
    }
}

impl Refused {
    pub(super) fn into_reply(self, base_url: &BaseUrl, resource: Resource) -> Reply {
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
            Self::Unavailable => ApiError::Unavailable.into_reply(),
        }
    }
}

/// What `WWW-Authenticate` says to a request without a valid token: the scope it needs, and where the metadata of
/// the resource stand (RFC 9728, section 5.1).
pub(super) fn challenge(base_url: &BaseUrl, resource: Resource) -> HeaderValue {
    let (scope, base_url, path) = (resource.scope(), base_url.as_str(), resource.path());
    let text = format!(
        "Bearer scope=\"{scope}\", resource_metadata=\"{base_url}/.well-known/oauth-protected-resource{path}\""
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
        let reply = Refused::Unavailable.into_reply(&base_url, Resource::V1);
        assert_eq!(reply.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(reply.headers().contains_key(header::RETRY_AFTER));
        assert!(!reply.headers().contains_key(header::WWW_AUTHENTICATE));
    }
}
