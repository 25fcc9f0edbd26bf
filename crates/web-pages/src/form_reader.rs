//! Reads the form of a request, or replies why it was rejected.

use std::net::IpAddr;

use http::request::Parts;
use http_server::{body::RequestBody, reply::Reply};
use web_auth::{is_same_origin, security_log};

use crate::{Site, form_rejected::form_rejected, forms::Form, paths, session::Person};

/// Reads the form of a POST, and rejects one from another origin. A form that cannot be read is rejected like one without
/// its token.
pub(crate) async fn read_form(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
) -> Result<Form, Reply> {
    let reject = |reason| {
        security_log::form_refused(address, reason);
        form_rejected(&site.base_url, &parts.headers, page_of(parts))
    };
    if !is_same_origin(&site.base_url, &parts.headers) {
        return Err(reject("another origin"));
    }
    Form::read(parts, body).await.map_err(|error| reject(error.reason()))
}

/// Reads the form of a signed-in person, whose token is bound to this purpose. `page` is the path of the page that shows it.
pub(crate) async fn read_signed_form(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    purpose: &str,
    page: &str,
) -> Result<(Person, Form), Reply> {
    let form = read_form(site, parts, body, address).await?;
    let person = Person::of(site, &parts.headers).await?;
    // Without a session no token is valid.
    match person.filter(|person| form.has_token(&site.forms, &person.token_parts(purpose))) {
        Some(person) => Ok((person, form)),
        None => {
            security_log::form_refused(address, "form of the library without its token");
            Err(form_rejected(&site.base_url, &parts.headers, page))
        }
    }
}

/// The path of the page that shows the form of a POST. A GET of the form's own path leads there too.
pub(crate) fn page_of(parts: &Parts) -> &str {
    match parts.uri.path_and_query() {
        Some(path) if path.path() != paths::SIGN_OUT => path.as_str(),
        _ => "/account",
    }
}
