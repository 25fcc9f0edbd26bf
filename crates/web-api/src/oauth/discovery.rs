use http::{Method, request::Parts};
use http_server::reply::{Reply, method_not_allowed, not_found};

use super::reply;
use crate::Api;

/// The public keys of access tokens as a JWK set (RFC 7517).
pub(super) async fn keys(api: &Api, parts: &Parts) -> Reply {
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return method_not_allowed("GET, HEAD");
    }
    match api.authorization.server.jwk_set().await {
        Ok(keys) => keys.map_or_else(not_found, |keys| reply(keys.response())),
        Err(error) => reply::unavailable(&error),
    }
}
