use std::net::IpAddr;

use http::{Method, StatusCode, request::Parts};
use oauth_core::{RevokeRequest, Revoked};

use super::{
    oauth_error::{self, refusal, too_many, unavailable, unread},
    post_only,
};
use crate::{
    app::Service,
    body::{BodyKind, MAX_BODY_BYTES, RequestBody},
    reply::{Reply, json},
    security_log,
};

/// `POST /api/oauth/revoke` (RFC 7009): whoever has a token may end its grant.
pub(super) async fn handle(service: &Service, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    const MALFORMED: &str = "invalid_request";
    if parts.method != Method::POST {
        return post_only();
    }
    if let Err(retry_after_s) = service.authorization.limits.check_token_request(address) {
        security_log::rate_limited(address, "revocation");
        return too_many(retry_after_s);
    }
    let Some(kind) = BodyKind::of(&parts.headers) else {
        let description = "the body must be a form or JSON, and its Content-Type say which";
        return refusal(StatusCode::BAD_REQUEST, &oauth_error::body(MALFORMED, description));
    };
    let bytes = match body.read(MAX_BODY_BYTES).await {
        Ok(bytes) => bytes,
        Err(cause) => return unread(cause, MALFORMED),
    };
    let read = match kind {
        BodyKind::Form => RevokeRequest::from_form(&bytes),
        BodyKind::Json => RevokeRequest::from_json(&bytes),
    };
    let request = match read {
        Ok(request) => request,
        Err(refused) => return refusal(StatusCode::BAD_REQUEST, &refused.body()),
    };
    match service.authorization.server.revoke(request.token()).await {
        Ok(revoked) => {
            if let Revoked::Grant(grant) = revoked {
                security_log::grant_revoked(address, &grant);
            }
            json(StatusCode::OK, &serde_json::Map::new())
        }
        Err(error) => unavailable(&error),
    }
}
