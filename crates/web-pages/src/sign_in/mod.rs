//! Who is looking at a page: sessions in cookies, forms that only this service's own pages can send, and the sign-in
//! form itself.
//!
//! A form carries a token bound to the cookie of the browser that it was shown to; without the right one a POST is
//! refused with 403. The session cookie is new at every sign-in, and the store has only its hash.

mod cookies;
mod form;
mod forms;
mod page;
mod refusal;
mod return_to;
mod set_up;

use std::net::IpAddr;

use http::{HeaderMap, request::Parts};
use library::SessionHolder;

use cookies::Visitor;
pub(crate) use cookies::{end_session_cookie, session_token, with_session};
pub(crate) use form::{sign_in, sign_in_form, sign_in_from};
use forms::origin_is_ours;
pub(crate) use forms::{Form, csrf_field};
use page::SIGN_OUT_PATH;
pub(crate) use page::{sign_in_page, sign_out, sign_out_button};
pub(crate) use refusal::form_refused;
pub(crate) use return_to::ReturnTo;
pub(crate) use set_up::set_up;

use http_server::reply::Reply;

use web_api::security_log;

use crate::{Site, layout::{self, PageHeader}};

/// The session of a request; `None` without one that holds.
pub(crate) async fn session(site: &Site, headers: &HeaderMap) -> Result<Option<SessionHolder>, Reply> {
    let Some(token) = session_token(&site.base_url, headers) else { return Ok(None) };
    site.library.session(&token).await.map_err(|error| pages::unavailable(&error))
}

/// The start page, as somebody sees it who is signed in or is not.
pub(crate) async fn start(site: &Site, headers: &HeaderMap) -> Reply {
    let base_url = &site.base_url;
    match session(site, headers).await {
        Ok(Some(_)) => {
            let session_token = session_token(base_url, headers).unwrap_or_default();
            let forms = &site.forms;
            pages::start(base_url, &PageHeader::SignedIn { forms, session_token: &session_token, here: "/" })
        }
        Ok(None) => pages::start(base_url, &PageHeader::SignedOut { here: "/account" }),
        Err(reply) => reply,
    }
}

/// Reads the form of a POST that a page of this service sent, by its origin. A form that cannot be read is refused like
/// one without its token.
pub(crate) async fn read_form(
    site: &Site,
    parts: &Parts,
    body: http_server::body::RequestBody,
    address: IpAddr,
) -> Result<Form, Reply> {
    if !origin_is_ours(&site.base_url, &parts.headers) {
        security_log::form_refused(address, "another origin");
        return Err(form_refused(&site.base_url, &parts.headers, page_of(parts)));
    }
    Form::read(parts, body).await.map_err(|error| {
        security_log::form_refused(address, error.reason());
        form_refused(&site.base_url, &parts.headers, page_of(parts))
    })
}

/// The page that shows the form of a POST: its path leads a GET there, too.
pub(crate) fn page_of(parts: &Parts) -> &str {
    match parts.uri.path_and_query() {
        Some(path) if path.path() != SIGN_OUT_PATH => path.as_str(),
        _ => "/account",
    }
}
