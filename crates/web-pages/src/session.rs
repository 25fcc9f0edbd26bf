//! The session of a browser, and the visitor before it.

use http::{HeaderMap, HeaderValue, header};
use http_server::{
    BaseUrl, cookies,
    reply::{Reply, WithHeader as _},
};
use keys::{Random, RandomError, new_session_token};
use library::{SessionHolder, SignedIn};
use web_auth::SESSION_COOKIE;

pub(crate) use web_auth::session_token;

use crate::{Site, messages};

/// Lifetime of the session cookie: the longest that browsers allow. The store decides when the session expires, and every
/// use extends it.
const SESSION_MAX_AGE_S: u32 = 400 * 24 * 3600;

const VISITOR: &str = "photos_visitor";

/// The session of a request; `None` if there is none or it has expired.
pub(crate) async fn session(site: &Site, headers: &HeaderMap) -> Result<Option<SessionHolder>, Reply> {
    let Some(token) = session_token(&site.base_url, headers) else { return Ok(None) };
    site.library.session(&token).await.map_err(|error| messages::unavailable(&error))
}

/// Sets the session cookie, if there is a new session.
pub(crate) fn with_session(base_url: &BaseUrl, reply: Reply, session: Option<&SignedIn>) -> Reply {
    match session.and_then(|session| session_cookie(base_url, &session.token)) {
        Some(cookie) => reply.with(header::SET_COOKIE, cookie),
        None => reply,
    }
}

fn session_cookie(base_url: &BaseUrl, token: &str) -> Option<HeaderValue> {
    cookies::set(base_url, SESSION_COOKIE, token, Some(SESSION_MAX_AGE_S))
}

/// Deletes the session cookie.
pub(crate) fn without_session(base_url: &BaseUrl, reply: Reply) -> Reply {
    match cookies::set(base_url, SESSION_COOKIE, "", Some(0)) {
        Some(cookie) => reply.with(header::SET_COOKIE, cookie),
        None => reply,
    }
}

/// A browser without a session, identified by a cookie so that the sign-in form can be bound to it.
#[derive(Debug)]
pub(crate) struct Visitor {
    /// The value of the cookie.
    pub(crate) id: String,
    is_new: bool,
}

impl Visitor {
    /// The visitor that the cookie names, if any.
    pub(crate) fn of(base_url: &BaseUrl, headers: &HeaderMap) -> Option<Self> {
        Some(Self { id: cookies::value(base_url, headers, VISITOR)?, is_new: false })
    }

    /// The visitor that the cookie names, or a new one.
    pub(crate) fn of_or_new(
        base_url: &BaseUrl,
        headers: &HeaderMap,
        random: &dyn Random,
    ) -> Result<Self, RandomError> {
        match Self::of(base_url, headers) {
            Some(visitor) => Ok(visitor),
            None => Ok(Self { id: new_session_token(random)?, is_new: true }),
        }
    }

    /// Sets the cookie of a new visitor. It expires when the browser is closed.
    pub(crate) fn with_cookie(&self, base_url: &BaseUrl, reply: Reply) -> Reply {
        let cookie = if self.is_new { cookies::set(base_url, VISITOR, &self.id, None) } else { None };
        match cookie {
            Some(cookie) => reply.with(header::SET_COOKIE, cookie),
            None => reply,
        }
    }
}
