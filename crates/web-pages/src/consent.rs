//! The consent form.

use std::net::IpAddr;

use domain::SecurityEventKind;
use http::{HeaderMap, StatusCode};
use http_server::reply::{Reply, see_other};
use keys::{hash_parts, session_hash};
use library::SessionHolder;
use maud::{Markup, html};
use oauth_core::{AllowError, AuthorizationRequest};
use web_auth::{McpResource, ServiceLinks, app_name, display_name, security_log};

use crate::{
    Site,
    form_rejected::form_rejected,
    forms::{CSRF, Form},
    layout::Page,
    messages::{self, message},
    session::{session, session_token},
    sign_out_button::sign_out_button,
};

/// The name of the buttons.
pub(crate) const DECISION: &str = "decision";
/// The name of the field with the part of the token that identifies this display of the form. The signature is in the
/// field that every form has for its token.
const ATTEMPT: &str = "attempt";
/// The name of the checkbox that lets the app edit the details of photos.
const EDITS: &str = "edit_details";

/// What the form is bound to, beside what it shows: the session, and the URL that it posts to.
fn form_binding(session_token: &str, here: &str) -> [u8; 32] {
    hash_parts(&[&session_hash(session_token), here.as_bytes()])
}

/// The consent form.
pub(crate) fn page(
    site: &Site,
    headers: &HeaderMap,
    request: &AuthorizationRequest,
    session: &SessionHolder,
    here: &str,
) -> Reply {
    let session_token = session_token(&site.base_url, headers).unwrap_or_default();
    let token = match site.authorization.server.consent_token(&form_binding(&session_token, here), request) {
        Ok(token) => token,
        Err(error) => return messages::unavailable(&error),
    };
    let (attempt, signature) = token.rsplit_once('.').unwrap_or_default();
    let content = html! {
        p.asks {
            "Allow " strong { (app_by_redirect(request)) } " to use the photo library of " strong { (session.account.email.as_str()) } "?"
        }
        dl.grant {
            @if let Some(url) = &request.client_url { dt { "App of" } dd.host { (url.host()) } }
            (name_entry(request))
            dt { "Sends you to" }
            dd.host {
                (request.redirect_host())
                @if request.redirect_stays_on_device() { " on this device" }
            }
            dt { "Connects to" } dd { code { (request.resource) } }
            dt { "Can" }
            @for scope in &request.scopes { dd { (scope_description(scope)) } }
        }
        @if request.redirect_stays_on_device() {
            p.notice.warn {
                "This app runs on this device, where any program can use its name and receive your answer. Allow this \
                 only if you have just started to connect the app yourself."
            }
        }
        @else if request.redirects_to_other_host() {
            p.notice.warn {
                "You will be sent to a different site than the one that describes the app. Allow this only if you know \
                 that “" (request.redirect_host()) "” belongs to the app."
            }
        }
        @if McpResource::scopes_have_edits(&request.scopes) {
            label.check {
                input type="checkbox" name=(EDITS) value="yes" form="consent";
                span {
                    "Also let it edit details of your photos: descriptions, dates, places, favourites, ratings, keywords, archive. "
                    "Every change is listed under your account and can be undone."
                }
            }
        }
        p { "The app never gets your password or your original files. You can disconnect it at any time on your account page." }
        form #consent method="post" action=(here) {
            input type="hidden" name=(CSRF) value=(signature);
            input type="hidden" name=(ATTEMPT) value=(attempt);
            div.buttons {
                button type="submit" name=(DECISION) value="allow" { "Allow" }
                button.quiet type="submit" name=(DECISION) value="deny" { "Deny" }
            }
        }
        (sign_out_button(&site.forms, &session_token, here, "Use another account"))
        (links(site.authorization.server.config().links()))
    };
    let targets = form_targets(request);
    Page { title: "Connect an app", status: StatusCode::OK, form_targets: &targets }.reply(&content)
}

/// Links to pages about the service. They open beside the form, which would be lost otherwise.
fn links(links: &ServiceLinks) -> Markup {
    let mut links = links.iter().peekable();
    html! {
        @if links.peek().is_some() {
            p.hint.links {
                @for (text, url) in links { a href=(url) target="_blank" rel="noopener noreferrer" { (text) } }
            }
        }
    }
}

/// The app, identified by the destination of the redirect, the only property that it cannot choose freely.
pub(crate) fn app_by_redirect(request: &AuthorizationRequest) -> String {
    if request.redirect_stays_on_device() {
        "an app on this device".to_owned()
    } else {
        request.redirect_host()
    }
}

/// The list entry with the name that the app chose for itself.
pub(crate) fn name_entry(request: &AuthorizationRequest) -> Markup {
    html! {
        dt { "Name (not verified)" }
        dd { "“" (display_name(&request.client.metadata.client_name)) "”" }
    }
}

/// Handles the submitted form.
pub(crate) async fn submit(
    site: &Site,
    headers: &HeaderMap,
    form: &Form,
    address: IpAddr,
    request: &AuthorizationRequest,
    here: &str,
) -> Reply {
    let session = match session(site, headers).await {
        Ok(session) => session,
        Err(reply) => return reply,
    };
    let token = session_token(&site.base_url, headers).unwrap_or_default();
    let server = &site.authorization.server;
    let token_parts = form.get(ATTEMPT).zip(form.get(CSRF));
    let form_token = token_parts.map(|(attempt, signature)| format!("{attempt}.{signature}"));
    let attempt = form_token
        .and_then(|form_token| server.check_consent_token(&form_binding(&token, here), request, &form_token));
    let Some((session, attempt)) = session.zip(attempt) else {
        security_log::form_refused(address, "consent without its token");
        return form_rejected(&site.base_url, headers, here);
    };
    let client_id = &request.client.id;
    match form.get(DECISION) {
        Some("allow") => {
            let subject = session.account.id.0.to_string();
            match server.allow(request, &subject, &attempt).await {
                Ok(redirect) => {
                    let allowed =
                        form.get(EDITS).is_some() && McpResource::scopes_have_edits(&request.scopes);
                    let (accounts, account) = (&site.library.accounts, session.account.id);
                    // The same answer gives the same grant, so the person can send the form again.
                    if let Err(error) = accounts.set_grant_edits(account, &redirect.grant_id, allowed).await {
                        return messages::unavailable(&error);
                    }
                    security_log::consent_answered(address, session.account.id, client_id, true);
                    let (kind, name) = (
                        SecurityEventKind::AppConnected,
                        app_name(client_id, &request.client.metadata.client_name),
                    );
                    let library = &site.library;
                    library
                        .accounts
                        .record_security_event(session.account.id, kind, Some(address), Some(&name))
                        .await;
                    see_other(&redirect.to)
                }
                Err(AllowError::Unavailable(error)) => messages::unavailable(&error),
                Err(AllowError::AlreadyAnswered) => message(
                    StatusCode::CONFLICT,
                    "You have already answered",
                    "The app has received your answer. If it is still waiting, go back to it and connect it again.",
                ),
            }
        }
        Some("deny") => {
            security_log::consent_answered(address, session.account.id, client_id, false);
            see_other(&server.deny(request).to)
        }
        _ => message(StatusCode::BAD_REQUEST, "No answer was sent", "Go back and choose Allow or Deny."),
    }
}

/// Where the forms of this page may lead, as sources for the Content-Security-Policy. Browsers check every redirect after a
/// form against them, and a callback on the web may redirect to another host.
pub(crate) fn form_targets(request: &AuthorizationRequest) -> Vec<String> {
    let target = request.redirect_csp_source();
    let web = target.starts_with("https://").then(|| "https:".to_owned());
    [Some(target), web].into_iter().flatten().collect()
}

/// What a scope allows.
pub(crate) fn scope_description(scope: &str) -> Markup {
    let known = McpResource::ALL.into_iter().find(|resource| resource.scope() == scope);
    html! {
        @match known {
            Some(resource) => { (resource.scope_description()) }
            None => { code { (scope) } }
        }
    }
}
