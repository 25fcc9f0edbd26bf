use std::net::IpAddr;

use bytes::Bytes;
use http::{Method, StatusCode, request::Parts};

use super::{
    oauth_error::{self, refusal, too_many, unread},
    rate_limits::RateLimits,
};
use crate::{Api, security_log};
use http_server::{
    body::{BodyKind, MAX_BODY_BYTES, ReadBodyError, RequestBody},
    reply::{Reply, method_not_allowed},
};

/// An endpoint that programs post to.
pub(super) struct Endpoint {
    /// What the security log calls what is done there.
    pub(super) name: &'static str,
    /// The code of a refusal of what cannot be read.
    pub(super) malformed: &'static str,
    /// Whether forms are taken beside JSON.
    pub(super) takes_forms: bool,
    /// What keeps an address from doing it too often; else how many seconds there are to wait.
    pub(super) limit: fn(&RateLimits, IpAddr) -> Result<(), u64>,
}

/// What came to an endpoint.
pub(super) struct Posted {
    pub(super) kind: BodyKind,
    pub(super) bytes: Bytes,
}

impl Endpoint {
    /// Reads a body, or refuses it: by method, rate limit, content encoding and type, and length, in this order.
    pub(super) async fn read(
        &self,
        api: &Api,
        parts: &Parts,
        body: RequestBody,
        address: IpAddr,
    ) -> Result<Posted, Reply> {
        if parts.method != Method::POST {
            return Err(method_not_allowed("POST"));
        }
        if let Err(retry_after_s) = (self.limit)(&api.authorization.limits, address) {
            security_log::rate_limited(address, self.name);
            return Err(too_many(retry_after_s));
        }
        if body.is_encoded() {
            return Err(unread(ReadBodyError::Encoded, self.malformed));
        }
        let taken = |kind: &BodyKind| self.takes_forms || *kind == BodyKind::Json;
        let Some(kind) = BodyKind::of(&parts.headers).filter(taken) else {
            return Err(self.refusal(if self.takes_forms {
                "the body must be a form or JSON, and its Content-Type say which"
            } else {
                "the body must be JSON, sent with `Content-Type: application/json`"
            }));
        };
        match body.read(MAX_BODY_BYTES).await {
            Ok(bytes) => Ok(Posted { kind, bytes }),
            Err(cause) => Err(unread(cause, self.malformed)),
        }
    }

    /// The refusal of what cannot be read.
    pub(super) fn refusal(&self, description: &str) -> Reply {
        refusal(StatusCode::BAD_REQUEST, &oauth_error::body(self.malformed, description))
    }
}
