use std::net::IpAddr;

use http::{Method, StatusCode, request::Parts};
use oauth_core::RegisterError;

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

/// `POST /api/oauth/register`: dynamic client registration (RFC 7591), open to everyone.
pub(super) async fn handle(service: &Service, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    const MALFORMED: &str = "invalid_client_metadata";
    if parts.method != Method::POST {
        return post_only();
    }
    if let Err(retry_after_s) = service.authorization.limits.check_registration(address) {
        security_log::rate_limited(address, "registration");
        return too_many(retry_after_s);
    }
    if BodyKind::of(&parts.headers) != Some(BodyKind::Json) {
        let description = "the body must be JSON, sent with `Content-Type: application/json`";
        return refusal(StatusCode::BAD_REQUEST, &oauth_error::body(MALFORMED, description));
    }
    let bytes = match body.read(MAX_BODY_BYTES).await {
        Ok(bytes) => bytes,
        Err(cause) => return unread(cause, MALFORMED),
    };
    match service.authorization.server.register(&bytes).await {
        Ok(client) => {
            security_log::client_registered(address, &client.client_id);
            json(StatusCode::CREATED, &client)
        }
        Err(RegisterError::Unavailable(error)) => unavailable(&error),
        Err(refused) => {
            security_log::registration_refused(address, refused.code());
            refusal(StatusCode::BAD_REQUEST, &refused.body())
        }
    }
}
