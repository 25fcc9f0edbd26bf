use std::net::IpAddr;

use http::{Method, StatusCode, request::Parts};
use maud::{Markup, html};
use oauth_core::{AuthorizationRequest, AuthorizeError, ClientDocuments as _, ClientUrl, PageError};
use percent_encoding::{CONTROLS, utf8_percent_encode};

use super::consent::{self, asking, form_targets, own_name};
use http_server::{body::RequestBody, reply::{Reply, found, method_not_allowed}};
use web_api::security_log;
use crate::{Site, layout, sign_in::{ReturnTo, form_refused, read_form, session, sign_in, sign_in_form}};

/// `/api/oauth/authorize`: checks what a client asks for, then shows the sign-in form or the consent form, which post
/// back to the same URL.
pub(super) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    if !matches!(parts.method, Method::GET | Method::HEAD | Method::POST) {
        return method_not_allowed("GET, HEAD, POST");
    }
    let query = parts.uri.query().unwrap_or_default();
    let described_at = site.authorization.server.client_url(query);
    if let Some(reply) = described_at.as_ref().and_then(|url| too_many_documents(site, url, address)) {
        return reply;
    }
    // The request URL itself: what the browser has, whatever name it knows the service by. It would send other
    // characters than those of ASCII so.
    let here = format!("{}?{}", parts.uri.path(), utf8_percent_encode(query, CONTROLS));
    let request = match site.authorization.server.authorize(query).await {
        Ok(request) => request,
        // No form was shown for such a request, so that none has a valid token.
        Err(refused) if parts.method == Method::POST && is_final(&refused) => {
            security_log::form_refused(address, "a request that cannot be granted");
            return form_refused(&site.base_url, &parts.headers, &here);
        }
        Err(refused) => return refusal(refused, described_at.as_ref(), address),
    };
    if parts.method == Method::POST {
        return answered(site, parts, body, address, &request, &here).await;
    }
    match session(site, &parts.headers).await {
        Ok(Some(session)) => consent::page(site, &parts.headers, &request, &session, &here),
        Ok(None) => {
            let targets = form_targets(&request);
            sign_in_form(site, &parts.headers, &here, &asks(&request), &targets)
        }
        Err(reply) => reply,
    }
}

/// Answers a form that this page showed: the consent form, or the sign-in form before it.
async fn answered(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    request: &AuthorizationRequest,
    here: &str,
) -> Reply {
    let form = match read_form(site, parts, body, address).await {
        Ok(form) => form,
        Err(reply) => return reply,
    };
    if form.get("decision").is_some() {
        return consent::answered(site, &parts.headers, &form, address, request, here).await;
    }
    let on = ReturnTo::here(here);
    let targets = form_targets(request);
    sign_in(site, &parts.headers, &form, address, &on, (here, &asks(request), &targets)).await
}

/// Why one should sign in.
fn asks(request: &AuthorizationRequest) -> Markup {
    html! {
        p { "Sign in to connect " strong { (asking(request)) } " to your photo library." }
        dl.grant { (own_name(request)) }
    }
}

/// The refusal of one more app whose document would have to be fetched.
fn too_many_documents(site: &Site, url: &ClientUrl, address: IpAddr) -> Option<Reply> {
    if site.authorization.client_documents.as_ref().is_none_or(|documents| documents.is_cached(url)) {
        return None;
    }
    let retry_after_s = site.authorization.limits.check_client_document(address).err()?;
    security_log::rate_limited(address, "client documents");
    let words = "You have come with many apps in a short time. Wait a minute, then connect the app again.";
    let page = pages::problem(StatusCode::TOO_MANY_REQUESTS, "Wait a little", words);
    Some(pages::retry_after(page, retry_after_s))
}

/// Whether a request stays refused when it is sent again.
fn is_final(refused: &AuthorizeError) -> bool {
    !matches!(refused, AuthorizeError::Unavailable(_) | AuthorizeError::Page(PageError::Busy))
}

/// A request that cannot be granted: told to the client when it is known where that is safe, else to the person.
fn refusal(refused: AuthorizeError, described_at: Option<&ClientUrl>, address: IpAddr) -> Reply {
    match refused {
        AuthorizeError::Page(PageError::Busy) => {
            security_log::rate_limited(address, "client documents at once");
            let words = PageError::Busy.to_string();
            pages::retry_after(pages::problem(StatusCode::SERVICE_UNAVAILABLE, "Try again soon", &words), 5)
        }
        AuthorizeError::Page(error) => {
            let page =
                pages::problem(StatusCode::BAD_REQUEST, "This app cannot be connected", &error.to_string());
            match (error, described_at) {
                (
                    PageError::UnreadableDocument { detail: reason, .. } | PageError::RefusedDocument(reason),
                    Some(url),
                ) => security_log::client_document_refused(address, url.as_str(), &reason),
                _ => security_log::authorization_refused(address, "bad client or redirect URI"),
            }
            page
        }
        AuthorizeError::Redirect(redirect) => {
            security_log::authorization_refused(address, redirect.code);
            found(&redirect.to)
        }
        AuthorizeError::Unavailable(error) => pages::unavailable(&error),
    }
}
