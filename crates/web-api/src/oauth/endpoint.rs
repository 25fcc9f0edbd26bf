use std::net::IpAddr;

use bytes::Bytes;
use http::{Method, request::Parts};
use oauth_core::UnreadableBody;
use web_auth::{RateLimits, security_log};

use super::reply::{reply, too_many};
use crate::Api;
use http_server::{
    body::{MAX_BODY_BYTES, ReadBodyError, RequestBody},
    reply::Reply,
};

/// An endpoint that clients post to.
pub(super) struct Endpoint {
    /// Its name in the security log.
    pub(super) name: &'static str,
    /// The endpoint of `oauth-core`, which checks the requests.
    pub(super) endpoint: oauth_core::Endpoint,
    /// Its rate limit for an address. The error is the seconds to wait.
    pub(super) limit: fn(&RateLimits, IpAddr) -> Result<(), u64>,
}

impl Endpoint {
    /// Reads a body. Checks method, rate limit, content encoding, content type and length, in this order.
    pub(super) async fn read(
        &self,
        api: &Api,
        parts: &Parts,
        body: RequestBody,
        address: IpAddr,
    ) -> Result<Bytes, Reply> {
        if parts.method == Method::POST
            && let Err(retry_after_s) = (self.limit)(&api.authorization.limits, address)
        {
            security_log::rate_limited(address, self.name);
            return Err(too_many(retry_after_s));
        }
        self.endpoint.check(parts).map_err(|response| reply(*response))?;
        body.read(MAX_BODY_BYTES).await.map_err(|cause| {
            let cause = match cause {
                ReadBodyError::TooLarge => UnreadableBody::TooLarge(MAX_BODY_BYTES),
                ReadBodyError::TooSlow => UnreadableBody::TooSlow,
                ReadBodyError::Broken => UnreadableBody::Broken,
                ReadBodyError::Encoded => UnreadableBody::Encoded,
            };
            reply(self.endpoint.unreadable_body(cause))
        })
    }
}
