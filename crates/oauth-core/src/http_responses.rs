//! Complete HTTP responses of results and errors, with status, body and headers. The extensions of an error response
//! contain the error.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

use crate::{
    AccessError, AllowError, AssertionError, AuthorizeError, CodeRedirect, ErrorBody, JwkSet,
    MalformedRevocation, PageError, Redirect, RegisterError, Registration, Revoked, TokenError,
    TokenResponse, Unavailable,
};

/// `Retry-After` of a temporary failure.
const RETRY_AFTER_S: u64 = 5;
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Shorter than the cache time of the metadata, because other services must know a new key before it signs.
const CACHE_KEYS: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// A response with this status and these headers.
pub(crate) fn response(
    status: u16,
    body: impl Into<Bytes>,
    headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().extend(headers);
    response
}

/// A JSON response that no cache may keep.
pub(crate) fn json(status: u16, value: &impl Serialize) -> Response<Bytes> {
    let content_type = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    match serde_json::to_vec(value) {
        Ok(body) => response(status, body, [content_type, (header::CACHE_CONTROL, NO_STORE)]),
        Err(_) => response(500, "", []),
    }
}

fn error(status: u16, body: &ErrorBody, challenge: Option<&str>) -> Response<Bytes> {
    let mut response = no_cache(body.response(status));
    if status == 503 {
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER_S.into());
    }
    // A challenge consists of URLs, scopes and constants, which are ASCII.
    if let Some(challenge) = challenge.and_then(|text| HeaderValue::try_from(text).ok()) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn no_cache(mut response: Response<Bytes>) -> Response<Bytes> {
    response.headers_mut().insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// A page with a plain text for the user.
fn page(status: u16, text: &str) -> Response<Bytes> {
    let content_type = (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    let retry = (status == 503).then(|| (header::RETRY_AFTER, RETRY_AFTER_S.into()));
    let headers = [content_type, (header::CACHE_CONTROL, NO_STORE)].into_iter().chain(retry);
    response(status, text.to_owned(), headers)
}

fn unavailable_page(error: &Unavailable) -> Response<Bytes> {
    caused_by(page(error.status(), "The service is temporarily unavailable. Try again in a minute."), error)
}

/// Adds an error to the extensions of its response, so that the service can log it.
fn caused_by<E: Clone + Send + Sync + 'static>(mut response: Response<Bytes>, cause: &E) -> Response<Bytes> {
    response.extensions_mut().insert(cause.clone());
    response
}

fn see_other(to: &str) -> Response<Bytes> {
    // The URL of a redirect is percent-encoded.
    let Ok(to) = HeaderValue::try_from(to) else { return response(500, "", []) };
    let no_referrer = (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response(303, "", [(header::LOCATION, to), (header::CACHE_CONTROL, NO_STORE), no_referrer])
}

impl ErrorBody {
    /// The response with this body.
    pub fn response(&self, status: u16) -> Response<Bytes> {
        no_cache(json(status, self))
    }

    /// 429: a rate limit of the service was reached. The client waits for at least a second.
    pub fn too_many_requests(retry_after_s: u64) -> Response<Bytes> {
        let text = "too many requests; retry after the seconds in Retry-After";
        let mut response = Self::new(Unavailable::CODE, text).response(429);
        response.headers_mut().insert(header::RETRY_AFTER, retry_after_s.max(1).into());
        response
    }
}

impl Registration {
    /// The response: 201.
    pub fn response(&self) -> Response<Bytes> {
        json(201, self)
    }
}

impl TokenResponse {
    /// The response: 200.
    pub fn response(&self) -> Response<Bytes> {
        no_cache(json(200, self))
    }
}

impl Revoked {
    /// The response: 200, also for an unknown token.
    pub fn response(&self) -> Response<Bytes> {
        json(200, &serde_json::Map::new())
    }
}

impl JwkSet {
    /// The response: 200, to be cached for five minutes.
    pub fn response(&self) -> Response<Bytes> {
        let mut response = json(200, self);
        response.headers_mut().insert(header::CACHE_CONTROL, CACHE_KEYS);
        response
    }
}

impl Unavailable {
    /// The response: 503 with `Retry-After`.
    pub fn response(&self) -> Response<Bytes> {
        caused_by(error(self.status(), &self.body(), None), self)
    }
}

impl RegisterError {
    /// The response.
    pub fn response(&self) -> Response<Bytes> {
        match self {
            Self::Unavailable(error) => error.response(),
            _ => caused_by(error(self.status(), &self.body(), None), self),
        }
    }
}

impl TokenError {
    /// The response.
    pub fn response(&self) -> Response<Bytes> {
        match self {
            Self::Unavailable(error) => error.response(),
            _ => caused_by(error(self.status(), &self.body(), self.www_authenticate()), self),
        }
    }
}

impl AssertionError {
    /// The response.
    pub fn response(&self) -> Response<Bytes> {
        match self {
            Self::Unavailable(error) => error.response(),
            Self::Refused(_) => caused_by(error(self.status(), &self.body(), self.www_authenticate()), self),
        }
    }
}

impl MalformedRevocation {
    /// The response.
    pub fn response(&self) -> Response<Bytes> {
        caused_by(error(self.status(), &self.body(), None), self)
    }
}

impl AccessError {
    /// The response.
    pub fn response(&self) -> Response<Bytes> {
        match self {
            Self::Unavailable(error) => error.response(),
            Self::Refused { .. } => {
                caused_by(error(self.status(), &self.body(), self.www_authenticate()), self)
            }
        }
    }
}

impl Redirect {
    /// The response: 303.
    pub fn response(&self) -> Response<Bytes> {
        see_other(&self.to)
    }
}

impl CodeRedirect {
    /// The response: 303.
    pub fn response(&self) -> Response<Bytes> {
        see_other(&self.to)
    }
}

impl PageError {
    /// A page of plain text. A service with a layout shows the message in it instead.
    pub fn response(&self) -> Response<Bytes> {
        caused_by(page(self.status(), &self.to_string()), self)
    }
}

impl AuthorizeError {
    /// The response: a redirect, or a page of plain text.
    pub fn response(&self) -> Response<Bytes> {
        match self {
            Self::Page(error) => error.response(),
            Self::Redirect(redirect) => redirect.response(),
            Self::Unavailable(error) => unavailable_page(error),
        }
    }
}

impl AllowError {
    /// A page of plain text. A service with a layout shows a message in it instead.
    pub fn response(&self) -> Response<Bytes> {
        match self {
            Self::AlreadyAnswered => caused_by(page(self.status(), &self.to_string()), self),
            Self::Unavailable(error) => unavailable_page(error),
        }
    }
}
