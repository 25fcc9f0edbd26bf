//! The sign-in form, on its own page and before consent.

use std::net::IpAddr;

use http::{HeaderMap, Method, StatusCode, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, method_not_allowed, retry_after, see_other},
};
use library::SignInError;
use maud::{Markup, html};
use web_auth::security_log;

use crate::{
    Site,
    form_reader::read_form,
    form_rejected::form_rejected,
    forms::{Form, csrf_field},
    layout::Page,
    messages::{self, minutes},
    return_to::ReturnTo,
    session::{Visitor, session_token, sign_in_source, with_session},
    set_up,
};

/// The purpose that the token of the form is bound to, beside the visitor.
const PURPOSE: &[u8] = b"sign in";

/// A page with the sign-in form.
#[derive(Clone, Copy)]
pub(crate) struct SignInPage<'a> {
    /// The path that the form is sent to.
    pub(crate) action: &'a str,
    pub(crate) purpose: &'a Markup,
    /// See [`Page::form_targets`].
    pub(crate) form_targets: &'a [String],
}

/// `/sign-in?return_to=PATH`
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let query = Query::parse(parts.uri.query());
    let return_to = ReturnTo::parse(query.get("return_to"));
    let action = return_to.via_sign_in();
    let purpose = html! { p { "Sign in to your photo library." } };
    let page = SignInPage { action: &action, purpose: &purpose, form_targets: &[] };
    match parts.method {
        Method::GET | Method::HEAD => page.show(site, &parts.headers).await,
        Method::POST => match read_form(site, parts, body, address).await {
            Ok(form) => page.submit(site, &parts.headers, &form, address, &return_to).await,
            Err(reply) => reply,
        },
        _ => method_not_allowed("GET, HEAD, POST"),
    }
}

impl SignInPage<'_> {
    /// Shows the empty form. While there is no account, it says where the set-up link is.
    pub(crate) async fn show(self, site: &Site, headers: &HeaderMap) -> Reply {
        match site.library.accounts.has_account().await {
            Ok(true) => self.page(site, headers, StatusCode::OK, "", None),
            Ok(false) => self.page(site, headers, StatusCode::OK, "", Some(set_up::NO_ACCOUNT)),
            Err(error) => messages::unavailable(&error),
        }
    }

    /// Signs in: redirects to `return_to` with a new session, or shows the form again.
    pub(crate) async fn submit(
        self,
        site: &Site,
        headers: &HeaderMap,
        form: &Form,
        address: IpAddr,
        return_to: &ReturnTo,
    ) -> Reply {
        let base_url = &site.base_url;
        let has_token = Visitor::of(base_url, headers)
            .is_some_and(|visitor| form.has_token(&site.forms, &[PURPOSE, visitor.id.as_bytes()]));
        if !has_token {
            security_log::form_refused(address, "sign-in without its token");
            return form_rejected(base_url, headers, self.action);
        }
        let email = form.get("email").unwrap_or_default();
        let password = form.get("password").unwrap_or_default();
        let again = |status, problem: &str| self.page(site, headers, status, email, Some(problem));
        match site.library.accounts.sign_in(email, password, sign_in_source(headers, address)).await {
            Ok(signed_in) => {
                security_log::signed_in(address, signed_in.account.id);
                end_previous_session(site, headers).await;
                with_session(base_url, see_other(return_to.as_str()), Some(&signed_in))
            }
            Err(SignInError::Wrong) => {
                security_log::sign_in_failed(address, "wrong email or password");
                again(StatusCode::UNAUTHORIZED, "The email or password is incorrect. Try again.")
            }
            Err(SignInError::LockedOut { retry_after_s }) => {
                security_log::sign_in_failed(address, "locked out");
                let problem = format!(
                    "Too many sign-ins have failed. Wait {}, then try again.",
                    minutes(retry_after_s)
                );
                retry_after(again(StatusCode::TOO_MANY_REQUESTS, &problem), retry_after_s)
            }
            Err(SignInError::Busy { retry_after_s }) => {
                let problem = "Too many people are signing in. Try again in a minute.";
                retry_after(again(StatusCode::SERVICE_UNAVAILABLE, problem), retry_after_s)
            }
            Err(SignInError::Unavailable(error)) => messages::unavailable(&error),
        }
    }

    fn page(
        self,
        site: &Site,
        headers: &HeaderMap,
        status: StatusCode,
        email: &str,
        problem: Option<&str>,
    ) -> Reply {
        let base_url = &site.base_url;
        let visitor = match Visitor::of_or_new(base_url, headers, site.library.random()) {
            Ok(visitor) => visitor,
            Err(error) => return messages::unavailable(&error),
        };
        let content = html! {
            (self.purpose)
            @if let Some(problem) = problem { p.notice.warn role="alert" { (problem) } }
            form method="post" action=(self.action) {
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
        let page = Page { title: "Sign in", status, form_targets: self.form_targets };
        visitor.with_cookie(base_url, page.reply(&content))
    }
}

/// Ends the session whose cookie the new one replaces.
async fn end_previous_session(site: &Site, headers: &HeaderMap) {
    if let Some(previous) = session_token(&site.base_url, headers)
        && let Err(error) = site.library.accounts.sign_out(&previous).await
    {
        tracing::warn!(%error, "a replaced session could not be ended; it expires later");
    }
}
