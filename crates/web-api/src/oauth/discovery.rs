use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use keys::PublicJwk;
use oauth_core::TokensUnavailable;
use serde::Serialize;

use http_server::reply::{Reply, WithHeader as _, json, method_not_allowed};

use crate::Api;

/// `Cache-Control` of the key set: shorter than that of the metadata, because a new key is used at once.
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// The public keys of access tokens as a JWK set (RFC 7517).
pub(super) async fn keys(api: &Api, parts: &Parts) -> Reply {
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return method_not_allowed("GET, HEAD");
    }
    #[derive(Serialize)]
    struct JwkSet {
        keys: Vec<PublicJwk>,
    }
    match api.authorization.keys.jwks().await {
        Ok(keys) => json(StatusCode::OK, &JwkSet { keys }).with(header::CACHE_CONTROL, FIVE_MINUTES),
        Err(error) => super::reply::unavailable(&TokensUnavailable(error.to_string()).into()),
    }
}
