//! The form of the menu that changes the theme.

use std::net::IpAddr;

use http::{Method, header, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, WithHeader as _, found, method_not_allowed, see_other},
};

use crate::{
    Site,
    form_reader::read_signed_form,
    paths::THEME,
    return_to::ReturnTo,
    theme::{NAME, Theme},
};

/// `POST /theme`: stores the choice in a cookie of the browser.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    match parts.method {
        Method::POST => change(site, parts, body, address).await.unwrap_or_else(|reply| reply),
        // After the form was rejected, the address bar shows this path, so a browser may request it by GET.
        Method::GET | Method::HEAD => found("/"),
        _ => method_not_allowed("GET, HEAD, POST"),
    }
}

async fn change(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Result<Reply, Reply> {
    let (_, form) = read_signed_form(site, parts, body, address, THEME, "/").await?;
    let cookie = Theme::parse(form.get(NAME)).cookie(&site.base_url);
    let reply = see_other(ReturnTo::parse(form.get("return_to")).as_str());
    Ok(match cookie {
        Some(cookie) => reply.with(header::SET_COOKIE, cookie),
        None => reply,
    })
}
