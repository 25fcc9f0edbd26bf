//! Signing out.

use std::net::IpAddr;

use http::{Method, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, method_not_allowed, see_other},
};
use keys::session_hash;
use web_auth::security_log;

use crate::{
    Site,
    form_reader::{page_of, read_form},
    form_rejected::form_rejected,
    messages,
    return_to::ReturnTo,
    session::{session_token, without_session},
    sign_out_button::PURPOSE,
};

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
