use std::net::IpAddr;

use bytes::Bytes;
use http::{Method, StatusCode, request::Parts};

use web_auth::{RateLimits, security_log};

use super::oauth_error::{self, rejection, too_many, unreadable_body};
use crate::Api;
use http_server::{
    body::{BodyKind, MAX_BODY_BYTES, ReadBodyError, RequestBody},
    reply::{Reply, method_not_allowed},
};

/// An endpoint that clients post to.
pub(super) struct Endpoint {
    /// Its name in the security log.
    pub(super) name: &'static str,
    /// The error code for a malformed request.
    pub(super) malformed: &'static str,
    /// Whether it accepts forms besides JSON.
    pub(super) accepts_forms: bool,
    /// Its rate limit for an address. The error is the seconds to wait.
    pub(super) limit: fn(&RateLimits, IpAddr) -> Result<(), u64>,
}

/// The body of a request.
pub(super) struct PostedBody {
    pub(super) kind: BodyKind,
    pub(super) bytes: Bytes,
}

impl Endpoint {
    /// Reads a body. Checks method, rate limit, content encoding, content type and length, in this order.
    pub(super) async fn read(
        &self,
        api: &Api,
        parts: &Parts,
        body: RequestBody,
        address: IpAddr,
    ) -> Result<PostedBody, Reply> {
        if parts.method != Method::POST {
            return Err(method_not_allowed("POST"));
        }
        if let Err(retry_after_s) = (self.limit)(&api.authorization.limits, address) {
            security_log::rate_limited(address, self.name);
            return Err(too_many(retry_after_s));
        }
        if body.is_encoded() {
            return Err(unreadable_body(ReadBodyError::Encoded, self.malformed));
        }
        let is_accepted = |kind: &BodyKind| self.accepts_forms || *kind == BodyKind::Json;
        let Some(kind) = BodyKind::of(&parts.headers).filter(is_accepted) else {
            return Err(self.malformed_reply(if self.accepts_forms {
                "the body must be a form or JSON, with the matching Content-Type"
            } else {
                "the body must be JSON, sent with `Content-Type: application/json`"
            }));
        };
        match body.read(MAX_BODY_BYTES).await {
            Ok(bytes) => Ok(PostedBody { kind, bytes }),
            Err(cause) => Err(unreadable_body(cause, self.malformed)),
        }
    }

    /// The reply to a malformed request.
    pub(super) fn malformed_reply(&self, description: &str) -> Reply {
        rejection(StatusCode::BAD_REQUEST, &oauth_error::body(self.malformed, description))
    }
}
