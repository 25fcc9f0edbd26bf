//! The session of a browser, and the visitor before it.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts, uri::PathAndQuery};
use http_server::{
    BaseUrl, cookies,
    reply::{Reply, WithHeader as _, found},
};
use keys::{Random, RandomError, new_session_token, session_hash};
use library::{Caller, SessionHolder, SignInSource, SignedIn};
use web_auth::SESSION_COOKIE;

pub(crate) use web_auth::session_token;

use crate::{
    Site,
    layout::{PageHeader, SignedInHeader, UploadButton},
    messages, paths,
    return_to::ReturnTo,
};

/// Lifetime of the session cookie: the longest that browsers allow. The store decides when the session expires, and every
/// use extends it, except when an open page looks for changes.
const SESSION_MAX_AGE_S: u32 = 400 * 24 * 3600;

const VISITOR: &str = "photos_visitor";

/// The session of a request; `None` if there is none or it has expired.
pub(crate) async fn session(site: &Site, headers: &HeaderMap) -> Result<Option<SessionHolder>, Reply> {
    let Some(token) = session_token(&site.base_url, headers) else { return Ok(None) };
    site.library.accounts.session(&token).await.map_err(|error| messages::unavailable(&error))
}

/// A signed-in person and their session.
pub(crate) struct Person {
    pub(crate) holder: SessionHolder,
    pub(crate) token: String,
    /// The hash of the session token.
    pub(crate) session: [u8; 32],
}

impl Person {
    /// The sender of a request; `None` without a session.
    pub(crate) async fn of(site: &Site, headers: &HeaderMap) -> Result<Option<Self>, Reply> {
        let token = session_token(&site.base_url, headers).unwrap_or_default();
        let holder = session(site, headers).await?;
        Ok(holder.map(|holder| Self::with(holder, token)))
    }

    /// The sender of a request that an open page sends by itself, which does not extend the session; `None` without a session.
    pub(crate) async fn of_open_page(site: &Site, headers: &HeaderMap) -> Result<Option<Self>, Reply> {
        let Some(token) = session_token(&site.base_url, headers) else { return Ok(None) };
        let holder = site.library.accounts.session_without_use(&token).await;
        let holder = holder.map_err(|error| messages::unavailable(&error))?;
        Ok(holder.map(|holder| Self::with(holder, token)))
    }

    fn with(holder: SessionHolder, token: String) -> Self {
        Self { holder, session: session_hash(&token), token }
    }

    /// The sender of a request to a page; leads to sign-in, and back, without a session.
    pub(crate) async fn required(site: &Site, parts: &Parts) -> Result<Self, Reply> {
        let here = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        Self::of(site, &parts.headers).await?.ok_or_else(|| found(&ReturnTo::here(here).via_sign_in()))
    }

    /// The person as a caller of the library.
    pub(crate) fn caller(&self) -> Caller {
        Caller::signed_in(self.holder.account.clone(), &self.token)
    }

    /// The header of a page that this person sees. Signing out leads back to the path `here`.
    pub(crate) fn header<'a>(&'a self, site: &'a Site, here: &'a str) -> PageHeader<'a> {
        PageHeader::SignedIn(SignedInHeader {
            forms: &site.forms,
            session_token: &self.token,
            email: self.holder.account.email.as_str(),
            here,
            upload: UploadButton {
                href: paths::UPLOAD,
                account: self.holder.account.sync_handle.as_str(),
                max_bytes: site.library.settings().limits.max_upload_bytes,
            },
        })
    }

    /// The parts that the token of a form with this purpose is bound to.
    pub(crate) fn token_parts<'a>(&'a self, purpose: &'a str) -> [&'a [u8]; 2] {
        [purpose.as_bytes(), &self.session]
    }
}

/// The client and browser of a sign-in.
pub(crate) fn sign_in_source(headers: &HeaderMap, address: IpAddr) -> SignInSource {
    let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    SignInSource { address, user_agent: user_agent.map(str::to_owned) }
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

/// Deletes the session cookie, and the photos that the browser has cached.
pub(crate) fn without_session(base_url: &BaseUrl, reply: Reply) -> Reply {
    let reply = reply.with(HeaderName::from_static("clear-site-data"), HeaderValue::from_static("\"cache\""));
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
