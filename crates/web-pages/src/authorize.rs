//! `/api/oauth/authorize`: the sign-in form or the consent form for an app.

use std::net::IpAddr;

use http::{Method, StatusCode, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, found, method_not_allowed, retry_after},
};
use maud::{Markup, html};
use oauth_core::{AuthorizationRequest, AuthorizeError, ClientUrl, PageError};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use web_auth::security_log;

use crate::{
    Site,
    consent::{self, app_by_redirect, form_targets, name_entry},
    form_reader::read_form,
    form_rejected::form_rejected,
    messages::{self, message},
    return_to::ReturnTo,
    session::session,
    sign_in::SignInPage,
};

/// Checks the authorization request, then shows the sign-in form or the consent form, which post back to the same URL.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    if !matches!(parts.method, Method::GET | Method::HEAD | Method::POST) {
        return method_not_allowed("GET, HEAD, POST");
    }
    let query = parts.uri.query().unwrap_or_default();
    let server = &site.authorization.server;
    let client_url = server.client_url(query);
    if let Some(url) = &client_url
        && let Err(retry_after_s) = site.authorization.check_client_document(url, address)
    {
        return too_many_apps(address, retry_after_s);
    }
    // The forms post to the URL of the request, whatever name the browser uses for the service. Browsers percent-encode
    // characters beyond ASCII in the same way.
    let here = format!("{}?{}", parts.uri.path(), utf8_percent_encode(query, CONTROLS));
    let request = match server.authorize(query).await {
        Ok(request) => request,
        // No form is shown for such a request, so no form has a valid token for it.
        Err(error) if parts.method == Method::POST && is_permanent(&error) => {
            security_log::form_refused(address, "form for an invalid authorization request");
            return form_rejected(&site.base_url, &parts.headers, &here);
        }
        Err(error) => return error_reply(error, client_url.as_ref(), address),
    };
    let (purpose, targets) = (purpose(&request), form_targets(&request));
    let sign_in = SignInPage { action: &here, purpose: &purpose, form_targets: &targets };
    if parts.method == Method::POST {
        let form = match read_form(site, parts, body, address).await {
            Ok(form) => form,
            Err(reply) => return reply,
        };
        if form.get(consent::DECISION).is_some() {
            return consent::submit(site, &parts.headers, &form, address, &request, &here).await;
        }
        return sign_in.submit(site, &parts.headers, &form, address, &ReturnTo::here(&here)).await;
    }
    match session(site, &parts.headers).await {
        Ok(Some(session)) => consent::page(site, &parts.headers, &request, &session, &here),
        Ok(None) => sign_in.show(site, &parts.headers).await,
        Err(reply) => reply,
    }
}

/// Why the person has to sign in.
fn purpose(request: &AuthorizationRequest) -> Markup {
    html! {
        p { "Sign in to connect " strong { (app_by_redirect(request)) } " to your photo library." }
        dl.grant { (name_entry(request)) }
    }
}

fn too_many_apps(address: IpAddr, retry_after_s: u64) -> Reply {
    security_log::rate_limited(address, "client documents");
    let text = "Too many apps were connected in a short time. Wait a minute, then connect the app again.";
    retry_after(message(StatusCode::TOO_MANY_REQUESTS, "Try again in a minute", text), retry_after_s)
}

/// Whether the same request would fail again.
fn is_permanent(error: &AuthorizeError) -> bool {
    !matches!(error, AuthorizeError::Unavailable(_) | AuthorizeError::Page(PageError::Busy))
}

/// The reply to an invalid authorization request: by redirect if the client and its redirect URI are valid, else as a page.
fn error_reply(error: AuthorizeError, client_url: Option<&ClientUrl>, address: IpAddr) -> Reply {
    match error {
        AuthorizeError::Page(PageError::Busy) => {
            security_log::rate_limited(address, "client documents at once");
            let text = PageError::Busy.to_string();
            let page = message(StatusCode::SERVICE_UNAVAILABLE, "Temporarily unavailable", &text);
            retry_after(page, 5)
        }
        AuthorizeError::Page(error) => {
            let page = message(StatusCode::BAD_REQUEST, "This app cannot be connected", &error.to_string());
            match (error, client_url) {
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
        AuthorizeError::Unavailable(error) => messages::unavailable(&error),
    }
}
