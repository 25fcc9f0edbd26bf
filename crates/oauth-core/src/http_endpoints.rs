//! The endpoints that programs call, as functions from HTTP requests to HTTP responses.

use std::{collections::HashMap, fmt, iter, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, header, request::Parts};
use serde::Serialize;
use url::Url;

use crate::{
    AccessError, AuthorizationServer, ErrorBody, Grant, MalformedRevocation, ProtectedResource,
    RevokeRequest, TokenError, TokenRequest,
    http_responses::{json, response},
};

/// The longest body that `HttpEndpoints::router` reads; it refuses longer ones with 413. A service that calls
/// [`HttpEndpoints::respond`] limits bodies itself. Valid requests are far shorter: even a registration with the most and
/// longest redirect URIs has about 10,000 bytes.
pub const MAX_BODY_BYTES: usize = 512_000;

/// An endpoint that clients post to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Dynamic client registration. It accepts JSON.
    Registration,
    /// The token endpoint. It accepts forms and JSON.
    Token,
    /// Token revocation. It accepts forms and JSON.
    Revocation,
}

/// Why a body cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableBody {
    /// It is longer than this many bytes: 413.
    TooLarge(usize),
    /// It did not arrive in time: 408.
    TooSlow,
    /// It was cut off: 400.
    Broken,
    /// It has a content encoding: 415.
    Encoded,
}

/// The type of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyType {
    Form,
    Json,
}

impl BodyType {
    fn of(headers: &HeaderMap) -> Option<Self> {
        let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let essence = value.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            Some(Self::Form)
        } else if essence.eq_ignore_ascii_case("application/json") {
            Some(Self::Json)
        } else {
            None
        }
    }
}

const FORM_OR_JSON: &str = "the body must be a form or JSON, with the matching Content-Type";

impl Endpoint {
    /// Checks method, content encoding and content type. The caller need not read the body of a request that fails this check.
    ///
    /// # Errors
    /// The response.
    pub fn check(self, parts: &Parts) -> Result<(), Box<Response<Bytes>>> {
        if parts.method != Method::POST {
            return Err(Box::new(method_not_allowed("POST")));
        }
        let mut encodings = parts.headers.get_all(header::CONTENT_ENCODING).iter();
        let is_plain = encodings.all(|value| {
            let mut names = value.to_str().unwrap_or("unreadable").split(',').map(str::trim);
            names.all(|name| name.is_empty() || name.eq_ignore_ascii_case("identity"))
        });
        if !is_plain {
            return Err(Box::new(self.unreadable_body(UnreadableBody::Encoded)));
        }
        let fault = match (self, BodyType::of(&parts.headers)) {
            (_, Some(BodyType::Json)) | (Self::Token | Self::Revocation, Some(BodyType::Form)) => {
                return Ok(());
            }
            (Self::Registration, _) => "the body must be JSON, sent with `Content-Type: application/json`",
            (Self::Token | Self::Revocation, None) => FORM_OR_JSON,
        };
        Err(Box::new(self.malformed(400, fault)))
    }

    /// The response to a request whose body cannot be read. It closes the connection.
    pub fn unreadable_body(self, cause: UnreadableBody) -> Response<Bytes> {
        let mut response = match cause {
            UnreadableBody::TooLarge(bytes) => {
                self.malformed(413, &format!("the body is longer than {bytes} bytes"))
            }
            UnreadableBody::TooSlow => self.malformed(408, "the body did not arrive in time"),
            UnreadableBody::Broken => self.malformed(400, "the body was cut off"),
            UnreadableBody::Encoded => self.malformed(415, "the body must be sent without Content-Encoding"),
        };
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    }

    fn malformed(self, status: u16, description: &str) -> Response<Bytes> {
        let code = match self {
            Self::Registration => "invalid_client_metadata",
            Self::Token | Self::Revocation => "invalid_request",
        };
        ErrorBody::new(code, description).response(status)
    }
}

fn method_not_allowed(allow: &'static str) -> Response<Bytes> {
    #[derive(Serialize)]
    struct Body {
        error: String,
    }
    let mut response = json(405, &Body { error: format!("method not allowed; use {allow}") });
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}

/// The `Authorization` header; a value that is not text counts as empty. `Err` if there are several.
fn authorization(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    match (values.next(), values.next()) {
        (Some(_), Some(_)) => Err("the request has more than one Authorization header"),
        (value, _) => Ok(value.map(|value| value.to_str().unwrap_or_default())),
    }
}

impl TokenRequest {
    /// Reads a request whose head [`Endpoint::check`] accepted.
    ///
    /// # Errors
    /// As [`TokenRequest::from_form`]; also for several `Authorization` headers.
    pub fn from_http(parts: &Parts, body: &[u8]) -> Result<Self, TokenError> {
        let invalid = |fault: &str| TokenError::InvalidRequest(fault.to_owned());
        let authorization = authorization(&parts.headers).map_err(invalid)?;
        match BodyType::of(&parts.headers) {
            Some(BodyType::Form) => Self::from_form(body, authorization),
            Some(BodyType::Json) => Self::from_json(body, authorization),
            None => Err(invalid(FORM_OR_JSON)),
        }
    }
}

impl RevokeRequest {
    /// Reads a request whose head [`Endpoint::check`] accepted.
    ///
    /// # Errors
    /// [`MalformedRevocation`].
    pub fn from_http(parts: &Parts, body: &[u8]) -> Result<Self, MalformedRevocation> {
        match BodyType::of(&parts.headers) {
            Some(BodyType::Json) => Self::from_json(body),
            // `Endpoint::check` refuses a body of another type.
            Some(BodyType::Form) | None => Self::from_form(body),
        }
    }
}

impl ProtectedResource {
    /// The grant that gives a request with these headers access. A request with several `Authorization` headers counts as
    /// one without a token.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn grant_for(&self, headers: &HeaderMap) -> Result<Grant, AccessError> {
        self.grant(authorization(headers).unwrap_or_default()).await
    }
}

/// The metadata documents (RFC 8414, RFC 9728) by path, serialised once.
#[derive(Debug)]
pub struct MetadataDocuments(HashMap<String, Bytes>);

impl MetadataDocuments {
    /// The documents of a server and of its resources. Clients look for them with and without the path of the issuer or
    /// resource, and some append the well-known part to the issuer. The document of the default resource is also at the
    /// well-known path without a resource path. Each path is also known with a trailing slash.
    pub fn new(server: &AuthorizationServer) -> Self {
        let mut documents = HashMap::new();
        let mut add = |paths: &[String], document: Vec<u8>| {
            let document = Bytes::from(document);
            // Some clients remove the final slash of a path, or add one.
            for path in paths.iter().map(|path| path.trim_end_matches('/')) {
                for path in [path.to_owned(), format!("{path}/")] {
                    documents.entry(path).or_insert_with(|| document.clone());
                }
            }
        };
        let well_known = "/.well-known/oauth-authorization-server";
        let issuer = path_of(server.config().issuer());
        let issuer = issuer.trim_end_matches('/');
        let paths = [well_known.to_owned(), format!("{well_known}{issuer}"), format!("{issuer}{well_known}")];
        add(&paths, serde_json::to_vec(&server.server_metadata()).unwrap_or_default());
        for (index, resource) in server.config().resources().iter().enumerate() {
            let document = serde_json::to_vec(&server.resource_metadata(&resource.url)).unwrap_or_default();
            let default = (index == 0).then(|| "/.well-known/oauth-protected-resource".to_owned());
            let paths: Vec<String> = iter::once(path_of(&resource.metadata_url)).chain(default).collect();
            add(&paths, document);
        }
        Self(documents)
    }

    /// The response to a request for a document; `None` if there is none at its path.
    pub fn respond(&self, parts: &Parts) -> Option<Response<Bytes>> {
        self.respond_at(parts.uri.path(), &parts.method)
    }

    fn respond_at(&self, path: &str, method: &Method) -> Option<Response<Bytes>> {
        let document = self.0.get(path)?;
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some(method_not_allowed("GET, HEAD"));
        }
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
        ];
        Some(response(200, document.clone(), headers))
    }
}

/// The path of a URL in a checked configuration.
fn path_of(url: &str) -> String {
    Url::parse(url).map(|url| url.path().to_owned()).unwrap_or_default()
}

/// All endpoints that programs call: metadata, registration, tokens and revocation, and the public keys of access
/// tokens if the tokens have public keys. The endpoints are at the paths of the configuration. Pages of any origin may
/// call them. The authorization endpoint is not one of them: it is a page of the service. Clones share everything.
///
/// # Rate limits and logs
///
/// [`with_limit`](Self::with_limit) limits the rate of requests. The extensions of each error response contain its
/// cause: [`Unavailable`](crate::Unavailable) at 503, otherwise the error of the operation, such as [`TokenError`]. A
/// layer around the router can log the causes. It also receives the errors of protected resources and of the
/// authorization page if it wraps their routes, too:
///
/// ```
/// # use std::sync::Arc;
/// use axum::{Router, middleware::map_response, response::Response};
/// use oauth_core::{AuthorizationServer, Endpoint, HttpEndpoints, InvalidGrantReason, TokenError, Unavailable};
///
/// async fn log(response: Response) -> Response {
///     if let Some(error) = response.extensions().get::<Unavailable>() {
///         eprintln!("a request failed: {error}");
///     }
///     if let Some(TokenError::InvalidGrant(reason)) = response.extensions().get::<TokenError>() {
///         match reason {
///             InvalidGrantReason::TokenReplayed { grant_id, ended } => {
///                 eprintln!("security: a refresh token of grant {grant_id} was replayed, ended: {ended}");
///             }
///             InvalidGrantReason::CodeReplayed { grant_id } => {
///                 eprintln!("security: the code of grant {grant_id} was replayed");
///             }
///             _ => {}
///         }
///     }
///     response
/// }
///
/// /// Your rate limiter: the seconds to wait if there were too many requests with this key.
/// fn count(key: &str) -> Result<(), u64> {
/// #   let _ = key;
///     Ok(())
/// }
///
/// fn endpoints(server: AuthorizationServer) -> Router {
///     let endpoints = HttpEndpoints::new(server).with_limit(|endpoint, _head, request| match (endpoint, request) {
///         (Endpoint::Token, Some(request)) => count(request.claimed_client_id()),
///         // The head has the client's address if `ConnectInfo` of axum is in its extensions.
///         _ => count("registrations and revocations"),
///     });
///     endpoints.router().layer(map_response(log))
/// }
/// ```
///
/// A service whose limits or logs are asynchronous calls [`Endpoint::check`], [`TokenRequest::from_http`] and the
/// `response` methods of results and errors itself.
#[derive(Debug, Clone)]
pub struct HttpEndpoints {
    server: AuthorizationServer,
    documents: Arc<MetadataDocuments>,
    endpoints: Arc<HashMap<String, Endpoint>>,
    /// The path of the public keys.
    keys: Option<Arc<str>>,
    limit: Option<Limit>,
}

/// Returns the seconds to wait if there were too many requests.
type CheckLimit = dyn Fn(Endpoint, &Parts, Option<&TokenRequest>) -> Result<(), u64> + Send + Sync;

#[derive(Clone)]
struct Limit(Arc<CheckLimit>);

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Limit")
    }
}

impl HttpEndpoints {
    /// The endpoints of a server.
    pub fn new(server: AuthorizationServer) -> Self {
        let urls = server.config().endpoints();
        let endpoints = HashMap::from([
            (path_of(&urls.registration), Endpoint::Registration),
            (path_of(&urls.token), Endpoint::Token),
            (path_of(&urls.revocation), Endpoint::Revocation),
        ]);
        let documents = Arc::new(MetadataDocuments::new(&server));
        let keys = server.server_metadata().jwks_uri.map(|url| path_of(&url).into());
        Self { server, documents, endpoints: Arc::new(endpoints), keys, limit: None }
    }

    /// Limits the rate of requests. `check` gets each request with a valid head before it has an effect: its endpoint, its
    /// head, and, at the token endpoint, the well-formed request. Its error is the number of seconds to wait: the response
    /// is 429 with `Retry-After`.
    #[must_use]
    pub fn with_limit(
        mut self,
        check: impl Fn(Endpoint, &Parts, Option<&TokenRequest>) -> Result<(), u64> + Send + Sync + 'static,
    ) -> Self {
        self.limit = Some(Limit(Arc::new(check)));
        self
    }

    /// The paths of all endpoints, each once.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let documents = self.documents.0.keys().map(String::as_str);
        let other = documents.chain(self.keys.as_deref()).filter(|path| !self.endpoints.contains_key(*path));
        other.chain(self.endpoints.keys().map(String::as_str))
    }

    /// The response to a request; `None` if no endpoint is at its path. Limit the length of bodies before the call, for
    /// instance to [`MAX_BODY_BYTES`].
    pub async fn respond(&self, parts: &Parts, body: &[u8]) -> Option<Response<Bytes>> {
        self.respond_at(parts.uri.path(), parts, body).await
    }

    pub(crate) async fn respond_at(&self, path: &str, parts: &Parts, body: &[u8]) -> Option<Response<Bytes>> {
        let endpoint = self.endpoints.get(path);
        let is_keys = self.keys.as_deref() == Some(path);
        if is_preflight(parts) && (endpoint.is_some() || is_keys || self.documents.0.contains_key(path)) {
            return Some(preflight(&parts.headers));
        }
        let response = match endpoint {
            Some(endpoint) => self.post(*endpoint, parts, body).await,
            None if is_keys => self.public_keys(&parts.method).await?,
            None => self.documents.respond_at(path, &parts.method)?,
        };
        Some(with_cors(response))
    }

    async fn public_keys(&self, method: &Method) -> Option<Response<Bytes>> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some(method_not_allowed("GET, HEAD"));
        }
        match self.server.jwk_set().await {
            Ok(keys) => Some(keys?.response()),
            Err(error) => Some(error.response()),
        }
    }

    async fn post(&self, endpoint: Endpoint, parts: &Parts, body: &[u8]) -> Response<Bytes> {
        if let Err(response) = endpoint.check(parts) {
            return *response;
        }
        self.limited(endpoint, parts, body).await.unwrap_or_else(ErrorBody::too_many_requests)
    }

    /// The response to a request with a valid head; the error is the number of seconds to wait.
    async fn limited(&self, endpoint: Endpoint, parts: &Parts, body: &[u8]) -> Result<Response<Bytes>, u64> {
        let check = |request: Option<&TokenRequest>| match &self.limit {
            Some(Limit(check)) => check(endpoint, parts, request),
            None => Ok(()),
        };
        Ok(match endpoint {
            Endpoint::Registration => {
                check(None)?;
                match self.server.register(body).await {
                    Ok(registration) => registration.response(),
                    Err(error) => error.response(),
                }
            }
            Endpoint::Token => match TokenRequest::from_http(parts, body) {
                Ok(request) => {
                    check(Some(&request))?;
                    match self.server.token(request).await {
                        Ok(tokens) => tokens.response(),
                        Err(error) => error.response(),
                    }
                }
                Err(error) => error.response(),
            },
            Endpoint::Revocation => {
                check(None)?;
                match RevokeRequest::from_http(parts, body) {
                    Ok(request) => match self.server.revoke(&request).await {
                        Ok(revoked) => revoked.response(),
                        Err(error) => error.response(),
                    },
                    Err(error) => error.response(),
                }
            }
        })
    }

    /// The response to a request whose body is too long; `None` if no endpoint that reads bodies is at its path.
    #[cfg(feature = "axum")]
    pub(crate) fn body_too_long(&self, path: &str) -> Option<Response<Bytes>> {
        let endpoint = self.endpoints.get(path)?;
        Some(with_cors(endpoint.unreadable_body(UnreadableBody::TooLarge(MAX_BODY_BYTES))))
    }
}

/// Whether a request is a CORS preflight (Fetch standard).
fn is_preflight(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS
        && parts.headers.contains_key(header::ORIGIN)
        && parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

const ANY_ORIGIN: (HeaderName, HeaderValue) =
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));

fn preflight(headers: &HeaderMap) -> Response<Bytes> {
    let methods = HeaderValue::from_static("GET, HEAD, POST");
    // Repeats the requested headers, because the wildcard does not cover `Authorization`.
    let requested = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let allowed = requested.map(|names| (header::ACCESS_CONTROL_ALLOW_HEADERS, names));
    let max_age = (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
    let headers = [ANY_ORIGIN, (header::ACCESS_CONTROL_ALLOW_METHODS, methods), max_age];
    response(204, "", headers.into_iter().chain(allowed))
}

fn with_cors(mut response: Response<Bytes>) -> Response<Bytes> {
    let exposed = HeaderValue::from_static("www-authenticate, retry-after, allow");
    response.headers_mut().extend([ANY_ORIGIN, (header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed)]);
    response
}

#[cfg(test)]
mod tests;
