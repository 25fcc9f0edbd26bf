//! `/setup?token=…`: the page that makes the first account.

use std::net::IpAddr;

use domain::{Email, MIN_PASSWORD_CHARS, check_new_password};
use http::{HeaderMap, Method, StatusCode, request::Parts};
use library::{AccountError, SetUpError};
use maud::html;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Form, Visitor, csrf_field, form_refused, read_form, sign_in_from, with_session};
use http_server::{Query, body::RequestBody, reply::{Reply, method_not_allowed, see_other}};
use web_api::security_log;
use crate::{Site, layout::{self, Link, Page, problem_with_link}};

/// What the form's token is bound to beside the visitor.
const PURPOSE: &[u8] = b"set up";

/// Answers `/setup`.
pub(crate) async fn set_up(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let query = Query::parse(parts.uri.query());
    let secret = query.get("token").unwrap_or_default();
    match parts.method {
        Method::GET | Method::HEAD => match site.library.is_setup_link_valid(secret).await {
            Ok(true) => shown(site, &parts.headers, secret, StatusCode::OK, "", None),
            Ok(false) => not_offered(),
            Err(error) => pages::unavailable(&error),
        },
        Method::POST => match read_form(site, parts, body, address).await {
            Ok(form) => sent(site, &parts.headers, secret, &form, address).await,
            Err(reply) => reply,
        },
        _ => method_not_allowed("GET, HEAD, POST"),
    }
}

/// The path of the page that this link leads to.
fn path(secret: &str) -> String {
    format!("/setup?token={}", utf8_percent_encode(secret, NON_ALPHANUMERIC))
}

fn shown(
    site: &Site,
    headers: &HeaderMap,
    secret: &str,
    status: StatusCode,
    email: &str,
    problem: Option<&str>,
) -> Reply {
    let base_url = &site.base_url;
    let visitor = match Visitor::known_or_new(base_url, headers, site.library.random()) {
        Ok(visitor) => visitor,
        Err(error) => return pages::unavailable(&error),
    };
    // Typing begins at what has to be mended.
    let at_password = Email::parse(email).is_ok();
    let content = html! {
        p { "Create the first account. You sign in with it, and the apps that you connect see its photos." }
        @if let Some(problem) = problem { p.notice.warn role="alert" { (problem) } }
        form method="post" action=(path(secret)) {
            (csrf_field(&site.forms, &[PURPOSE, visitor.id.as_bytes()]))
            label for="email" { "Email" }
            input #email type="email" name="email" value=(email) autocomplete="username" required
                autofocus[!at_password] aria-describedby="email-hint";
            p #email-hint .hint { "It is the name of the account. The library sends no email." }
            label for="password" { "Password" }
            input #password type="password" name="password" autocomplete="new-password" required
                autofocus[at_password] minlength=(MIN_PASSWORD_CHARS) aria-describedby="password-hint";
            p #password-hint .hint { "At least " (MIN_PASSWORD_CHARS) " characters. A few words are easy to remember." }
            button type="submit" { "Create account" }
        }
    };
    let page = Page { title: "Set up your photo library", status, form_targets: &[] };
    visitor.known_by(base_url, page.reply(&content))
}

async fn sent(site: &Site, headers: &HeaderMap, secret: &str, form: &Form, address: IpAddr) -> Reply {
    let base_url = &site.base_url;
    let is_ours = Visitor::of(base_url, headers).is_some_and(|visitor| {
        form.has_token(&site.forms, &[PURPOSE, visitor.id.as_bytes()])
    });
    if !is_ours {
        security_log::form_refused(address, "set-up without its token");
        return form_refused(base_url, headers, &path(secret));
    }
    let typed = form.get("email").unwrap_or_default();
    let password = form.get("password").unwrap_or_default();
    let again = |words: &str| shown(site, headers, secret, StatusCode::BAD_REQUEST, typed, Some(words));
    let Ok(email) = Email::parse(typed) else {
        return again("This is not an email address. An example is ann@example.org.");
    };
    if let Err(error) = check_new_password(password) {
        return again(&error.to_string());
    }
    let from = || sign_in_from(headers, address);
    match site.library.create_first_account(secret, email, password.to_owned(), from()).await {
        Ok(session) => {
            security_log::set_up(address);
            with_session(base_url, see_other("/account"), session.as_ref())
        }
        // The form was sent twice, and the first one made the account.
        Err(SetUpError::InvalidLink) => match site.library.sign_in(typed, password, from()).await {
            Ok(session) => {
                security_log::signed_in(address, session.account.id);
                with_session(base_url, see_other("/account"), Some(&session))
            }
            Err(_) => {
                security_log::sign_in_failed(address, "a set-up link that does not hold");
                not_offered()
            }
        },
        Err(SetUpError::Account(AccountError::Unavailable(error))) => pages::unavailable(&error),
        Err(SetUpError::Account(error)) => again(&error.to_string()),
    }
}

fn not_offered() -> Reply {
    let words = "The link works once, and only while there is no account. If there is none, restart the server and open the \
                 link that it prints.";
    let link = Link { href: "/sign-in?return_to=/account", label: "Sign in to your account" };
    problem_with_link(StatusCode::NOT_FOUND, "This set-up link is invalid or has expired", words, link)
}
