//! Connects HTTP to [`mcp_protocol::Server`]: headers, statuses and bodies.

use std::{borrow::Cow, error::Error};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_body::Body;
use hyper::body::Incoming;
use mcp_protocol::{
    Server,
    headers::{METHOD, MessageHeaders, NAME, PROTOCOL_VERSION},
    jsonrpc::{ErrorObject, Response, SERVER_ERROR},
    server::ServerResponse,
};

use http_server::{
    BaseUrl, HttpLimits,
    body::{RequestBody, full},
    local_access,
    reply::{JSON, Reply, WithHeader as _, empty, json, with_body},
};

use crate::images_api::json_bytes;

/// Handles one HTTP request to an MCP server without authentication, at any path. Only the check of `Host` and `Origin`
/// protects it, so it is for servers that only their own machine can reach.
///
/// Rejects a foreign `Host` or `Origin` at a loopback base URL (403), methods other than POST and OPTIONS (405), a body that
/// is too large (413) or not plain JSON (415), and messages that [`Server::handle`] rejects.
pub async fn serve_mcp<C: Send + 'static>(
    server: &Server<C>,
    context: C,
    base_url: &BaseUrl,
    limits: &HttpLimits,
    request: Request<Incoming>,
) -> http::Response<impl Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + use<C>> {
    let (parts, incoming) = request.into_parts();
    if !local_access::is_allowed(base_url, &parts.uri, &parts.headers, false) {
        return local_access::forbidden(base_url);
    }
    if parts.method == Method::OPTIONS {
        return options();
    }
    if parts.method != Method::POST {
        return method_not_allowed();
    }
    let body = RequestBody::new(&parts, incoming, limits.body_timeout);
    match json_bytes(&parts, body).await {
        Ok(body) => reply(server.handle(context, &message_headers(&parts.headers), &body).await),
        Err(error) => error.into_reply(),
    }
}

/// The methods that an endpoint allows.
const ALLOW: HeaderValue = HeaderValue::from_static("POST, OPTIONS");

/// The reply to OPTIONS that is not a preflight (RFC 9110, section 9.3.7).
pub(super) fn options() -> Reply {
    empty(StatusCode::NO_CONTENT).with(header::ALLOW, ALLOW)
}

/// The reply to any method but POST and OPTIONS.
pub(super) fn method_not_allowed() -> Reply {
    let error = ErrorObject::new(SERVER_ERROR, "method not allowed; send each message by POST");
    json(StatusCode::METHOD_NOT_ALLOWED, &Response::failure(None, error)).with(header::ALLOW, ALLOW)
}

/// The headers that the protocol defines.
pub(super) fn message_headers(headers: &HeaderMap) -> MessageHeaders<'_> {
    MessageHeaders {
        protocol_version: value(headers, PROTOCOL_VERSION),
        method: value(headers, METHOD),
        name: value(headers, NAME),
    }
}

/// The value of a header. Repeated values are joined, so that they match no value in a message.
fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<Cow<'a, str>> {
    let mut values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let first = values.next()?;
    Some(values.fold(first, |all, value| all + ", " + value))
}

pub(super) fn reply(response: ServerResponse) -> Reply {
    let ServerResponse { status, body } = response;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match body {
        None => empty(status),
        Some(body) => with_body(status, full(body))
            .with(header::CONTENT_TYPE, JSON)
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_headers_are_joined_and_invalid_utf8_is_replaced() {
        let mut headers = HeaderMap::new();
        assert_eq!(message_headers(&headers), MessageHeaders::default());
        headers.append(PROTOCOL_VERSION, HeaderValue::from_static("2025-11-25"));
        headers.append(PROTOCOL_VERSION, HeaderValue::from_static("2025-11-25"));
        headers.insert(METHOD, HeaderValue::from_static("tools/list"));
        headers.insert(NAME, HeaderValue::from_bytes("größe\u{ff}".as_bytes()).unwrap());
        let read = message_headers(&headers);
        assert_eq!(read.protocol_version.as_deref(), Some("2025-11-25, 2025-11-25"));
        assert_eq!(read.method.as_deref(), Some("tools/list"));
        assert_eq!(read.name.as_deref(), Some("größe\u{ff}"));
        headers.insert(NAME, HeaderValue::from_bytes(b"\xff").unwrap());
        assert_eq!(message_headers(&headers).name.as_deref(), Some("\u{fffd}"));
    }
}
