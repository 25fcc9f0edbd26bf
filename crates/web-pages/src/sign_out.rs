//! The sign-out button and its form.

use std::net::IpAddr;

use http::{Method, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, method_not_allowed, see_other},
};
use keys::{FormSigner, session_hash};
use maud::{Markup, html};
use web_auth::security_log;

use crate::{
    Site,
    form_rejected::form_rejected,
    forms::{csrf_field, page_of, read_form},
    messages,
    return_to::ReturnTo,
    session::{session_token, without_session},
};

/// The path that the button is sent to.
pub(crate) const PATH: &str = "/sign-out";

/// The purpose that the token of the button is bound to, beside the session.
const PURPOSE: &[u8] = b"sign out";

/// A button that ends the session of this browser and leads back to `return_to`.
pub(crate) fn sign_out_button(
    forms: &FormSigner,
    session_token: &str,
    return_to: &str,
    label: &str,
) -> Markup {
    html! {
        form.aside method="post" action=(PATH) {
            (csrf_field(forms, &[PURPOSE, &session_hash(session_token)]))
            input type="hidden" name="return_to" value=(return_to);
            button.quiet type="submit" { (label) }
        }
    }
}

/// `POST /sign-out`: ends the session of this browser.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    if parts.method != Method::POST {
        return method_not_allowed("POST");
    }
    let form = match read_form(site, parts, body, address).await {
        Ok(form) => form,
        Err(reply) => return reply,
    };
    let token = session_token(&site.base_url, &parts.headers).unwrap_or_default();
    if !form.has_token(&site.forms, &[PURPOSE, &session_hash(&token)]) {
        security_log::form_refused(address, "sign-out without its token");
        return form_rejected(&site.base_url, &parts.headers, page_of(parts));
    }
    if let Err(error) = site.library.accounts.sign_out(&token).await {
        return messages::unavailable(&error);
    }
    security_log::signed_out(address);
    let return_to = ReturnTo::parse(form.get("return_to"));
    without_session(&site.base_url, see_other(return_to.as_str()))
}
