use std::net::IpAddr;

use http::{HeaderMap, StatusCode, header};
use library::{SignInError, SignInSource};
use maud::{Markup, html};

use super::{Form, ReturnTo, Visitor, csrf_field, form_refused, session_token, with_session};
use http_server::reply::{Reply, see_other};
use web_api::security_log;
use crate::{Site, layout::{self, Page}};

/// What a sign-in form's token is bound to beside the visitor.
const PURPOSE: &[u8] = b"sign in";

/// What the form says above its fields.
struct Notice {
    status: StatusCode,
    words: &'static str,
}

/// The page with the sign-in form, whose answer goes to `action`. `why` says what the sign-in is for.
pub(crate) fn sign_in_form(
    site: &Site,
    headers: &HeaderMap,
    action: &str,
    why: &Markup,
    form_targets: &[String],
) -> Reply {
    shown(site, headers, action, why, form_targets, "", None)
}

fn shown(
    site: &Site,
    headers: &HeaderMap,
    action: &str,
    why: &Markup,
    form_targets: &[String],
    email: &str,
    notice: Option<Notice>,
) -> Reply {
    let base_url = &site.base_url;
    let visitor = match Visitor::known_or_new(base_url, headers, site.library.random()) {
        Ok(visitor) => visitor,
        Err(error) => return pages::unavailable(&error),
    };
    let content = html! {
        (why)
        @if let Some(notice) = &notice {
            p.notice.warn role="alert" { (notice.words) }
        }
        form method="post" action=(action) {
            (csrf_field(&site.forms, &[PURPOSE, visitor.id.as_bytes()]))
            label for="email" { "Email" }
            input #email type="email" name="email" value=(email) autocomplete="username" required
                autofocus[email.is_empty()];
            label for="password" { "Password" }
            input #password type="password" name="password" autocomplete="current-password" required
                autofocus[!email.is_empty()];
            button type="submit" { "Sign in" }
        }
    };
    let status = notice.map_or(StatusCode::OK, |notice| notice.status);
    let page = Page { title: "Sign in", status, form_targets };
    visitor.known_by(base_url, page.reply(&content))
}

/// Where somebody signs in from.
pub(crate) fn sign_in_from(headers: &HeaderMap, address: IpAddr) -> SignInSource {
    let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    SignInSource { address, user_agent: user_agent.map(str::to_owned) }
}

/// Answers the sign-in form: leads to `on` with a new session, or shows the form again.
pub(crate) async fn sign_in(
    site: &Site,
    headers: &HeaderMap,
    form: &Form,
    address: IpAddr,
    on: &ReturnTo,
    again: (&str, &Markup, &[String]),
) -> Reply {
    let base_url = &site.base_url;
    let visitor = Visitor::of(base_url, headers);
    let is_ours = visitor.is_some_and(|visitor| {
        form.has_token(&site.forms, &[PURPOSE, visitor.id.as_bytes()])
    });
    if !is_ours {
        security_log::form_refused(address, "sign-in without its token");
        return form_refused(base_url, headers, again.0);
    }
    let email = form.get("email").unwrap_or_default();
    let password = form.get("password").unwrap_or_default();
    let from = sign_in_from(headers, address);
    let refused = |status, words| {
        let (action, why, targets) = again;
        shown(site, headers, action, why, targets, email, Some(Notice { status, words }))
    };
    match site.library.sign_in(email, password, from).await {
        Ok(signed_in) => {
            security_log::signed_in(address, signed_in.account.id);
            end_former_session(site, headers).await;
            with_session(base_url, see_other(on.as_str()), Some(&signed_in))
        }
        Err(SignInError::Wrong) => {
            security_log::sign_in_failed(address, "wrong email or password");
            refused(StatusCode::UNAUTHORIZED, "The email or the password is wrong.")
        }
        Err(SignInError::LockedOut { retry_after_s }) => {
            security_log::sign_in_failed(address, "locked out");
            let words = "Too many sign-ins have failed. Wait 15 minutes, then try again.";
            pages::retry_after(refused(StatusCode::TOO_MANY_REQUESTS, words), retry_after_s)
        }
        Err(SignInError::Busy { retry_after_s }) => {
            let words = "Too many people are signing in right now. Try again in a minute.";
            pages::retry_after(refused(StatusCode::SERVICE_UNAVAILABLE, words), retry_after_s)
        }
        Err(SignInError::Unavailable(error)) => pages::unavailable(&error),
    }
}

/// Ends the session that a browser had, whose cookie the new one replaces.
async fn end_former_session(site: &Site, headers: &HeaderMap) {
    if let Some(former) = session_token(&site.base_url, headers)
        && let Err(error) = site.library.sign_out(&former).await
    {
        tracing::warn!(%error, "a session that was replaced goes on until it expires");
    }
}
