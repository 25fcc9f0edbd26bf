//! The consent form, and what its buttons do.

use std::net::IpAddr;

use domain::SecurityEventKind;
use http::{HeaderMap, StatusCode};
use keys::{hash_parts, new_session_token, session_hash};
use library::SessionHolder;
use maud::{Markup, html};
use oauth_core::{AllowError, AuthorizationRequest, ClientUrl, visible_name};

use web_api::{McpResource, security_log};

use http_server::reply::{Reply, see_other};

use crate::{Site, layout::{self, Page}, sign_in::{Form, csrf_field, form_refused, session, session_token, sign_out_button}};

/// How long a consent form may be looked at, in seconds.
const FORM_LIFETIME_S: i64 = 3600;
/// How far the clocks of two machines that answer for the same service may differ, in seconds.
const CLOCK_SKEW_S: i64 = 60;
/// What the token of a consent form is bound to beside session, request and attempt.
const PURPOSE: &[u8] = b"consent";
/// The name of the field that tells one showing of the form from another.
const ATTEMPT: &str = "attempt";

/// One showing of the form: a random part and the second it was made in. The code that Allow gives is derived from it,
/// so that a double click gives one code, not two.
struct Attempt<'a> {
    text: &'a str,
    made_at_s: i64,
}

impl<'a> Attempt<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (_, made_at_s) = text.split_once('.')?;
        Some(Self { text, made_at_s: made_at_s.parse().ok()? })
    }
}

/// What a consent form is bound to: whoever changes one of these has another form, without a token.
fn bound_to<'a>(
    session: &'a [u8; 32],
    query_path: &'a str,
    shown: &'a [u8; 32],
    attempt: &'a str,
) -> [&'a [u8]; 5] {
    [PURPOSE, session, query_path.as_bytes(), shown, attempt.as_bytes()]
}

/// What the form tells of a request beside the query: the document of an app that describes itself may be another one
/// when the form is answered.
fn shown(request: &AuthorizationRequest) -> [u8; 32] {
    let told = [
        request.client.metadata.client_name.as_bytes(),
        request.resource.as_bytes(),
        request.redirect_uri.as_bytes(),
    ];
    let scopes = request.scopes.iter().map(String::as_bytes);
    hash_parts(&told.into_iter().chain(scopes).collect::<Vec<_>>())
}

/// The consent form.
pub(super) fn page(
    site: &Site,
    headers: &HeaderMap,
    request: &AuthorizationRequest,
    session: &SessionHolder,
    here: &str,
) -> Reply {
    let now_s = site.library.clock().now().millis().div_euclid(1000);
    let nonce = match new_session_token(site.library.random()) {
        Ok(nonce) => nonce,
        Err(error) => return pages::unavailable(&error),
    };
    let attempt = format!("{nonce}.{now_s}");
    let token = session_token(&site.base_url, headers).unwrap_or_default();
    let (forms, hash) = (&site.forms, session_hash(&token));
    let content = html! {
        p.asks {
            "Allow " strong { (asking(request)) } " to use the photo library of " strong { (session.account.email.as_str()) } "?"
        }
        dl.grant {
            @if let Some(url) = &request.client_url { dt { "It is an app of" } dd.host { (url.host()) } }
            (own_name(request))
            dt { "Your answer goes to" }
            dd.host {
                (request.redirect_host())
                @if request.redirect_stays_on_device() { " on this device" }
            }
            dt { "It connects to" } dd { code { (request.resource) } }
            dt { "It may" }
            @for scope in &request.scopes { dd { (scope_in_words(scope)) } }
        }
        @if request.redirect_stays_on_device() {
            p.notice.warn {
                "Your answer goes to an app on this device. Any program on it can take the answer and use any name. Allow \
                 this only if you have just started to connect the app yourself."
            }
        }
        @else if request.redirects_to_other_host() {
            p.notice.warn {
                "You will be sent to another place than the one that describes the app. Allow this only if you know that “"
                (request.redirect_host()) "” belongs to it."
            }
        }
        p { "It never gets your originals or your password. You can disconnect it at any time on your account page." }
        form method="post" action=(here) {
            (csrf_field(forms, &bound_to(&hash, here, &shown(request), &attempt)))
            input type="hidden" name=(ATTEMPT) value=(attempt);
            div.buttons {
                button type="submit" name="decision" value="allow" { "Allow" }
                button.quiet type="submit" name="decision" value="deny" { "Deny" }
            }
        }
        (sign_out_button(forms, &token, here, "Use another account"))
    };
    let targets = form_targets(request);
    Page { title: "Connect an app", status: StatusCode::OK, form_targets: &targets }.reply(&content)
}

/// The app in the one way that it cannot choose: by where the answer goes.
pub(super) fn asking(request: &AuthorizationRequest) -> String {
    if request.redirect_stays_on_device() {
        "an app on this device".to_owned()
    } else {
        request.redirect_host()
    }
}

/// The name that the app chose for itself, as entries of a list.
pub(super) fn own_name(request: &AuthorizationRequest) -> Markup {
    html! {
        dt { "It calls itself (not verified)" }
        dd { "“" (shown_name(&request.client.metadata.client_name)) "”" }
    }
}

/// Answers the consent form.
pub(super) async fn answered(
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
    let hash = session_hash(&token);
    let forms = &site.forms;
    let now_s = site.library.clock().now().millis().div_euclid(1000);
    let attempt = form.get(ATTEMPT).and_then(Attempt::parse);
    let shown = shown(request);
    let good = session.zip(attempt).filter(|(_, attempt)| {
        form.has_token(forms, &bound_to(&hash, here, &shown, attempt.text))
            && (-CLOCK_SKEW_S..=FORM_LIFETIME_S).contains(&(now_s - attempt.made_at_s))
    });
    let Some((session, attempt)) = good else {
        security_log::form_refused(address, "consent without its token");
        return form_refused(&site.base_url, headers, here);
    };
    let client_id = &request.client.id;
    match form.get("decision") {
        Some("allow") => {
            let code = forms.derive_code(&bound_to(&hash, here, &shown, attempt.text));
            let subject = session.account.id.0.to_string();
            match site.authorization.server.allow(request, &subject, &code).await {
                Ok(redirect) => {
                    security_log::consent_answered(address, session.account.id, client_id, true);
                    let (kind, name) = (
                        SecurityEventKind::AppConnected,
                        app_name(client_id, &request.client.metadata.client_name),
                    );
                    let library = &site.library;
                    library.record_security_event(session.account.id, kind, Some(address), Some(&name)).await;
                    see_other(&redirect.to)
                }
                Err(AllowError::AlreadyAnswered) => pages::problem(
                    StatusCode::CONFLICT,
                    "You have answered this already",
                    "The app has its answer. If it still waits, go back to it and connect again.",
                ),
                Err(AllowError::Unavailable(error)) => pages::unavailable(&error),
            }
        }
        Some("deny") => {
            security_log::consent_answered(address, session.account.id, client_id, false);
            see_other(&site.authorization.server.deny(request).to)
        }
        _ => pages::problem(StatusCode::BAD_REQUEST, "That is no answer", "Choose Allow or Deny."),
    }
}

/// Where the forms of this page may lead, as sources of a Content-Security-Policy. Browsers hold every redirect that
/// follows a form against them, and a callback on the web may lead on to another host.
pub(super) fn form_targets(request: &AuthorizationRequest) -> Vec<String> {
    let target = request.redirect_csp_source();
    let leads_on = target.starts_with("https://").then(|| "https:".to_owned());
    [Some(target), leads_on].into_iter().flatten().collect()
}

/// An app as lists name it: by its own name, and by the host of the document that it describes itself in if it does.
pub(crate) fn app_name(client_id: &str, name: &str) -> String {
    let name = shown_name(name);
    match ClientUrl::parse(client_id) {
        Ok(url) => format!("{name} ({})", url.host()),
        Err(_) => name,
    }
}

/// A name that an app chose for itself, fit to be shown.
pub(crate) fn shown_name(name: &str) -> String {
    let shown = visible_name(name);
    if shown.trim().is_empty() { "An app without a name".to_owned() } else { shown }
}

/// What a scope allows.
pub(crate) fn scope_in_words(scope: &str) -> Markup {
    let known = McpResource::ALL.into_iter().find(|resource| resource.scope() == scope);
    html! {
        @match known {
            Some(resource) => { (resource.scope_in_words()) }
            None => { code { (scope) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_name_is_told_as_such() {
        assert_eq!(shown_name("a\u{202e}b"), "ab");
        assert_eq!(shown_name("\u{200b} \u{feff}"), "An app without a name");
    }
}
