//! Forms of choices that a cookie of the browser keeps: the theme, and whether the timeline has *On this day*.

use std::net::IpAddr;

use http::{HeaderValue, Method, header, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, WithHeader as _, found, method_not_allowed, see_other},
};

use crate::{Site, form_reader::read_signed_form, forms::Form, return_to::ReturnTo};

/// `POST` to the path, which is also the purpose of the form's token: stores the choice in the cookie that it makes.
pub(crate) async fn handle(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    path: &str,
    cookie: impl Fn(&Form) -> Option<HeaderValue> + Send,
) -> Reply {
    match parts.method {
        Method::POST => {
            let form = match read_signed_form(site, parts, body, address, path, "/").await {
                Ok((_, form)) => form,
                Err(reply) => return reply,
            };
            let reply = see_other(ReturnTo::parse(form.get("return_to")).as_str());
            match cookie(&form) {
                Some(cookie) => reply.with(header::SET_COOKIE, cookie),
                None => reply,
            }
        }
        // After the form was rejected, the address bar shows this path, so a browser may request it by GET.
        Method::GET | Method::HEAD => found("/"),
        _ => method_not_allowed("GET, HEAD, POST"),
    }
}
