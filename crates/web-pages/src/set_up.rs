//! `/setup?token=…`: the page that creates the first account.

use std::net::IpAddr;

use domain::{Email, MIN_PASSWORD_CHARS, check_new_password};
use http::{HeaderMap, Method, StatusCode, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, method_not_allowed, see_other},
};
use library::{AccountError, SetUpError};
use maud::html;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use web_auth::security_log;

use crate::{
    Site,
    form_reader::read_form,
    form_rejected::form_rejected,
    forms::{Form, csrf_field},
    layout::{Link, Page},
    messages::{self, message_with_link},
    session::{Visitor, sign_in_source, with_session},
};

/// The purpose that the token of the form is bound to, beside the visitor.
const PURPOSE: &[u8] = b"set up";

/// `/setup?token=…`
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let query = Query::parse(parts.uri.query());
    let secret = query.get("token").unwrap_or_default();
    match parts.method {
        Method::GET | Method::HEAD => match site.library.accounts.is_setup_link_valid(secret).await {
            Ok(true) => show(site, &parts.headers, secret, StatusCode::OK, "", None),
            Ok(false) => invalid_link(),
            Err(error) => messages::unavailable(&error),
        },
        Method::POST => match read_form(site, parts, body, address).await {
            Ok(form) => submit(site, &parts.headers, secret, &form, address).await,
            Err(reply) => reply,
        },
        _ => method_not_allowed("GET, HEAD, POST"),
    }
}

/// The path of the page with this token.
fn path(secret: &str) -> String {
    format!("/setup?token={}", utf8_percent_encode(secret, NON_ALPHANUMERIC))
}

fn show(
    site: &Site,
    headers: &HeaderMap,
    secret: &str,
    status: StatusCode,
    email: &str,
    problem: Option<&str>,
) -> Reply {
    let base_url = &site.base_url;
    let visitor = match Visitor::of_or_new(base_url, headers, site.library.random()) {
        Ok(visitor) => visitor,
        Err(error) => return messages::unavailable(&error),
    };
    // The first field to correct gets the focus.
    let is_email_valid = Email::parse(email).is_ok();
    let content = html! {
        p { "Create the first account. You use it to sign in and to connect apps to your photos." }
        @if let Some(problem) = problem { p.notice.warn role="alert" { (problem) } }
        form method="post" action=(path(secret)) {
            (csrf_field(&site.forms, &[PURPOSE, visitor.id.as_bytes()]))
            label for="email" { "Email" }
            input #email type="email" name="email" value=(email) autocomplete="username" required
                autofocus[!is_email_valid] aria-describedby="email-hint";
            p #email-hint .hint { "You sign in with this address. The library never sends email." }
            label for="password" { "Password" }
            input #password type="password" name="password" autocomplete="new-password" required
                autofocus[is_email_valid] minlength=(MIN_PASSWORD_CHARS) aria-describedby="password-hint";
            p #password-hint .hint { "At least " (MIN_PASSWORD_CHARS) " characters. Several words are easy to remember." }
            button type="submit" { "Create account" }
        }
    };
    let page = Page { title: "Set up your photo library", status, form_targets: &[] };
    visitor.with_cookie(base_url, page.reply(&content))
}

async fn submit(site: &Site, headers: &HeaderMap, secret: &str, form: &Form, address: IpAddr) -> Reply {
    let base_url = &site.base_url;
    let has_token = Visitor::of(base_url, headers)
        .is_some_and(|visitor| form.has_token(&site.forms, &[PURPOSE, visitor.id.as_bytes()]));
    if !has_token {
        security_log::form_refused(address, "set-up without its token");
        return form_rejected(base_url, headers, &path(secret));
    }
    let typed = form.get("email").unwrap_or_default();
    let password = form.get("password").unwrap_or_default();
    let again = |problem: &str| show(site, headers, secret, StatusCode::BAD_REQUEST, typed, Some(problem));
    let Ok(email) = Email::parse(typed) else {
        return again("Enter a valid email address, such as ann@example.org.");
    };
    if let Err(error) = check_new_password(password) {
        return again(&error.to_string());
    }
    let source = || sign_in_source(headers, address);
    match site.library.accounts.create_first_account(secret, email, password.to_owned(), source()).await {
        Ok(session) => {
            security_log::set_up(address);
            with_session(base_url, see_other("/"), session.as_ref())
        }
        // The form was sent twice, and the first one created the account.
        Err(SetUpError::InvalidLink) => {
            match site.library.accounts.sign_in(typed, password, source()).await {
                Ok(session) => {
                    security_log::signed_in(address, session.account.id);
                    with_session(base_url, see_other("/"), Some(&session))
                }
                Err(_) => {
                    security_log::sign_in_failed(address, "invalid or expired set-up link");
                    invalid_link()
                }
            }
        }
        Err(SetUpError::Account(AccountError::Unavailable(error))) => messages::unavailable(&error),
        Err(SetUpError::Account(error)) => again(&error.to_string()),
    }
}

/// How to get the link that creates the first account, without the link itself.
pub(crate) const NO_ACCOUNT: &str = "There is no account yet. The server printed a link that creates the first one, as the last \
                                     line when it started.";

/// The start page while no account exists; `None` once there is one.
pub(crate) async fn pending(site: &Site) -> Option<Reply> {
    match site.library.accounts.has_account().await {
        Ok(true) => None,
        Ok(false) => Some(not_set_up()),
        Err(error) => Some(messages::unavailable(&error)),
    }
}

fn not_set_up() -> Reply {
    let content = html! {
        p { (NO_ACCOUNT) }
        p { "Find it where you started the server: in the terminal, or in its log:" }
        ul {
            li { "systemd: " code { "journalctl -u photo-library" } }
            li { "Docker Compose: " code { "docker compose logs" } }
            li { "Kubernetes: " code { "kubectl logs" } " of the pod" }
        }
        p { "A restart prints a new link." }
    };
    Page { title: "Set up your photo library", status: StatusCode::OK, form_targets: &[] }.reply(&content)
}

fn invalid_link() -> Reply {
    let text = "A set-up link works only once, and only until the first account exists. If there is no account yet, restart \
                the server and open the link that it prints.";
    let link = Link { href: "/sign-in?return_to=/account", label: "Sign in" };
    message_with_link(StatusCode::NOT_FOUND, "This set-up link is invalid or has expired", text, link)
}
