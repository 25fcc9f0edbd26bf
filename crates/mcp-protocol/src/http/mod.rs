//! Servers over HTTP, with the types of the crate `http`: [`Endpoint`] gives complete responses. With the
//! feature `axum` it is also a route.
//!
//! A service that has its own rules for origins and bodies uses the parts: [`respond_without_message`],
//! [`Server::respond`].

#[cfg(feature = "axum")]
mod axum;
mod origin;

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use self::origin::Origins;
use crate::Server;
use crate::headers::essence;
use crate::jsonrpc::{self, ErrorObject, SERVER_ERROR};
use crate::server::ServerResponse;

/// The methods that an endpoint allows.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How long browsers may cache a preflight response, in seconds.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("7200");
const DEFAULT_MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// A server at an URL. It checks method, `Origin`, `Content-Type`, `Accept` and the length of the body, and answers the
/// preflight requests of web pages.
///
/// Web pages of loopback origins may call it; [`allow_origin`](Self::allow_origin) adds others. Requests of programs have
/// no `Origin` and are allowed.
///
/// ```
/// use bytes::Bytes;
/// use http::{Request, StatusCode};
/// use mcp_wire::http::Endpoint;
/// use mcp_wire::lifecycle::Implementation;
/// use mcp_wire::server::Server;
///
/// let server = Server::builder(Implementation::new("empty", "1.0")).build()?;
/// let endpoint = Endpoint::new(server).allow_origin("https://app.example.org");
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let body = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
/// let request = Request::post("/mcp").header("content-type", "application/json").body(body).unwrap();
/// let (parts, body) = request.into_parts();
/// // Authenticate the request here. The result is the context of the tools.
/// let response = endpoint.handle((), &parts, &body).await;
/// assert_eq!(response.status(), StatusCode::OK);
/// assert_eq!(response.body(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
/// # });
/// # Ok::<(), mcp_wire::RegistryError>(())
/// ```
pub struct Endpoint<C> {
    server: Server<C>,
    origins: Origins,
    max_body_bytes: usize,
}

impl<C: Send + 'static> Endpoint<C> {
    /// An endpoint for programs and for web pages of loopback origins, with bodies of at most 4 MiB.
    pub fn new(server: Server<C>) -> Self {
        Self { server, origins: Origins::default(), max_body_bytes: DEFAULT_MAX_BODY_BYTES }
    }

    /// Allows web pages of an origin, such as `https://app.example.org`.
    #[must_use]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        self.origins.add(origin);
        self
    }

    /// Allows web pages of any origin. Only for a server that authenticates every request: any page that its user visits
    /// can call the server, even one that only the user's machine can reach.
    #[must_use]
    pub fn allow_any_origin(mut self) -> Self {
        self.origins = Origins::Any;
        self
    }

    /// Sets the greatest length of a body.
    #[must_use]
    pub fn with_max_body_bytes(mut self, max_body_bytes: usize) -> Self {
        self.max_body_bytes = max_body_bytes;
        self
    }

    /// The greatest length of a body.
    pub fn max_body_bytes(&self) -> usize {
        self.max_body_bytes
    }

    /// The response to a request that needs neither authentication nor its body: a foreign origin (403), a preflight, or
    /// another method than POST. [`handle`](Self::handle) includes it. Call it before authentication, because preflight
    /// requests have no token.
    pub fn early_response(&self, parts: &Parts) -> Option<Response<Bytes>> {
        let headers = &parts.headers;
        if !self.origins.allow(headers) {
            return Some(error(StatusCode::FORBIDDEN, "requests from this origin are not allowed"));
        }
        let is_preflight = parts.method == Method::OPTIONS
            && headers.contains_key(ORIGIN)
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let response =
            if is_preflight { preflight(headers) } else { respond_without_message(&parts.method)? };
        Some(self.with_cors(headers, response))
    }

    /// Handles a request with its whole body.
    pub async fn handle(&self, context: C, parts: &Parts, body: &[u8]) -> Response<Bytes> {
        if let Some(response) = self.early_response(parts) {
            return response;
        }
        let headers = &parts.headers;
        let response = if body.len() > self.max_body_bytes {
            self.body_too_large()
        } else if !has_json(headers) {
            error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must have the type application/json")
        } else if !accepts_messages(headers) {
            error(StatusCode::NOT_ACCEPTABLE, "the response has the type application/json")
        } else {
            self.server.respond(context, headers, body).await
        };
        self.with_cors(headers, response)
    }

    /// Adds the headers that let a web page of an allowed origin read a response, such as one that requires
    /// authentication. `headers` are the headers of the request. Responses of this type have CORS headers already.
    pub fn with_cors<B>(&self, headers: &HeaderMap, mut response: Response<B>) -> Response<B> {
        if let Some(origin) = headers.get(ORIGIN) {
            let added = response.headers_mut();
            added.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            added.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("WWW-Authenticate"));
            added.append(VARY, HeaderValue::from_static("Origin"));
        }
        response
    }

    fn body_too_large(&self) -> Response<Bytes> {
        let message = format!("the body has more than {} bytes", self.max_body_bytes);
        error(StatusCode::PAYLOAD_TOO_LARGE, &message)
    }
}

impl<C: Send + 'static> Server<C> {
    /// Handles the message of a POST request whose origin, type and length have been checked.
    pub async fn respond(&self, context: C, headers: &HeaderMap, body: &[u8]) -> Response<Bytes> {
        let headers = self.headers(|name| joined(headers, name));
        let ServerResponse { status, body } = self.handle(context, &headers, body).await;
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        body.map_or_else(|| empty(status), |body| json(status, body))
    }
}

/// The response to a request without a message: to OPTIONS (RFC 9110, section 9.3.7), and to any other method than POST.
pub fn respond_without_message(method: &Method) -> Option<Response<Bytes>> {
    let mut response = match *method {
        Method::POST => return None,
        Method::OPTIONS => empty(StatusCode::NO_CONTENT),
        _ => error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; send each message by POST"),
    };
    response.headers_mut().insert(ALLOW, ALLOWED_METHODS);
    Some(response)
}

/// Allows all headers that a web page requests, because headers that repeat arguments may have any name.
fn preflight(headers: &HeaderMap) -> Response<Bytes> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let added = response.headers_mut();
    added.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
    added.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
    if let Some(requested) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        added.insert(ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
    }
    added.append(VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    response
}

fn has_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    essence(value).eq_ignore_ascii_case("application/json")
}

/// Whether the client accepts JSON or event streams. Clients must accept both; many name only one.
fn accepts_messages(headers: &HeaderMap) -> bool {
    const ACCEPTED: [&str; 5] = ["application/json", "text/event-stream", "application/*", "text/*", "*/*"];
    let mut ranges =
        headers.get_all(ACCEPT).iter().flat_map(|line| line.to_str().unwrap_or("*/*").split(','));
    !headers.contains_key(ACCEPT)
        || ranges.any(|range| ACCEPTED.iter().any(|known| essence(range).eq_ignore_ascii_case(known)))
}

/// The value of a header. Repeated values are joined, so that they match no value in a message.
fn joined<'a>(headers: &'a HeaderMap, name: &str) -> Option<Cow<'a, str>> {
    let mut values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let first = values.next()?;
    Some(values.fold(first, |all, value| all + ", " + value))
}

fn error(status: StatusCode, message: &str) -> Response<Bytes> {
    let response = jsonrpc::Response::failure(None, ErrorObject::new(SERVER_ERROR, message));
    // An error object can always be serialised.
    json(status, response.to_json().unwrap_or_default())
}

/// A response that no cache may store, because it belongs to one caller.
fn json(status: StatusCode, body: Vec<u8>) -> Response<Bytes> {
    let mut response = empty(status);
    *response.body_mut() = body.into();
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests;
