use std::net::IpAddr;

use http::{Method, header, request::Parts};
use keys::{FormSigner, session_hash};
use maud::{Markup, html};

use super::{
    ReturnTo, csrf_field, end_session_cookie, form_refused, page_of, read_form, session_token, sign_in,
    sign_in_form,
};
use http_server::{Query, body::RequestBody, reply::{Reply, WithHeader as _, method_not_allowed, see_other}};
use web_api::security_log;
use crate::{Site, layout};

/// What the token of a sign-out button is bound to beside the session.
const SIGN_OUT: &[u8] = b"sign out";

/// Where the sign-out button is sent.
pub(super) const SIGN_OUT_PATH: &str = "/sign-out";

/// A button that ends the session of this browser and leads back.
pub(crate) fn sign_out_button(
    forms: &FormSigner,
    session_token: &str,
    return_to: &str,
    words: &str,
) -> Markup {
    html! {
        form.aside method="post" action=(SIGN_OUT_PATH) {
            (csrf_field(forms, &[SIGN_OUT, &session_hash(session_token)]))
            input type="hidden" name="return_to" value=(return_to);
            button.quiet type="submit" { (words) }
        }
    }
}

/// `/sign-in?return_to=PATH`: the sign-in form on its own.
pub(crate) async fn sign_in_page(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
) -> Reply {
    let query = Query::parse(parts.uri.query());
    let on = ReturnTo::parse(query.get("return_to"));
    let action = on.by_way_of_sign_in();
    let why = html! { p { "Sign in to your photo library." } };
    match parts.method {
        Method::GET | Method::HEAD => sign_in_form(site, &parts.headers, &action, &why, &[]),
        Method::POST => {
            let form = match read_form(site, parts, body, address).await {
                Ok(form) => form,
                Err(reply) => return reply,
            };
            sign_in(site, &parts.headers, &form, address, &on, (&action, &why, &[])).await
        }
        _ => method_not_allowed("GET, HEAD, POST"),
    }
}

/// `POST /sign-out`: ends the session of this browser.
pub(crate) async fn sign_out(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    if parts.method != Method::POST {
        return method_not_allowed("POST");
    }
    let form = match read_form(site, parts, body, address).await {
        Ok(form) => form,
        Err(reply) => return reply,
    };
    let base_url = &site.base_url;
    let token = session_token(base_url, &parts.headers).unwrap_or_default();
    if !form.has_token(&site.forms, &[SIGN_OUT, &session_hash(&token)]) {
        security_log::form_refused(address, "sign-out without its token");
        return form_refused(base_url, &parts.headers, page_of(parts));
    }
    if let Err(error) = site.library.sign_out(&token).await {
        return pages::unavailable(&error);
    }
    security_log::signed_out(address);
    let reply = see_other(ReturnTo::parse(form.get("return_to")).as_str());
    match end_session_cookie(base_url) {
        Some(cookie) => reply.with(header::SET_COOKIE, cookie),
        None => reply,
    }
}
