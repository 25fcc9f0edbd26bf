//! The page that explains why a form was rejected.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use http_server::{BaseUrl, reply::Reply};

use web_auth::is_same_origin;

use crate::{
    layout::Link,
    messages::message_with_link,
    other_address::BEHIND_PROXY,
    session::{Visitor, session_token},
};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a form was rejected, as far as the request shows.
#[derive(Debug, PartialEq, Eq)]
enum Cause {
    /// A page of another site sent it.
    OtherSite,
    /// The page was opened at this other address, so the browser has no cookie for the base URL.
    OtherAddress(BaseUrl),
    /// The page was opened over http, so the browser dropped the cookie, which is for https.
    OverHttp,
    /// The browser blocks cookies or has deleted this one.
    NoCookie,
    /// The form belongs to an earlier session or was open for too long.
    Expired,
}

/// The reply to a form without a valid token. `page` is the path of the page that shows the form.
pub(crate) fn form_rejected(base_url: &BaseUrl, headers: &HeaderMap, page: &str) -> Reply {
    let base = base_url.as_str();
    let (title, text) = match cause(base_url, headers) {
        Cause::OtherSite => (
            "This form came from another site",
            "A page on another site sent this form, so nothing was changed. Open the page in this library and try again.".to_owned(),
        ),
        Cause::OtherAddress(opened) => {
            let text = format!(
                "This library is set up for {base}. You opened it at {}, where its forms do not work. {BEHIND_PROXY} Otherwise, use this link:",
                opened.as_str()
            );
            return reply("Open the library at its own address", &text, &format!("{base}{page}"), base);
        }
        Cause::OverHttp => {
            let text = format!(
                "This library is set up for {base}. You opened it over http, where its forms do not work. Use this link:"
            );
            return reply("Open the library over https", &text, &format!("{base}{page}"), base);
        }
        Cause::NoCookie => (
            "Your browser sent no cookie",
            format!(
                "Your browser did not send the cookie that belongs to this form. Reload the page and try again. If it fails again, allow cookies for {}.",
                base_url.authority()
            ),
        ),
        Cause::Expired => {
            ("This form has expired", "This form has expired. Reload the page and try again.".to_owned())
        }
    };
    reply(title, &text, page, "Reload the page")
}

fn reply(title: &str, text: &str, href: &str, label: &str) -> Reply {
    message_with_link(StatusCode::FORBIDDEN, title, text, Link { href, label })
}

fn cause(base_url: &BaseUrl, headers: &HeaderMap) -> Cause {
    let value =
        |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    // The origin is what the address bar shows. The host may be the name that a proxy uses for the service.
    let opened = match headers.get(header::ORIGIN) {
        Some(origin) => BaseUrl::parse(origin.to_str().unwrap_or_default()),
        None => {
            let scheme = if base_url.is_https() { "https" } else { "http" };
            BaseUrl::parse(&format!("{scheme}://{}", value(header::HOST)))
        }
    };
    let is_elsewhere = opened.as_ref().is_ok_and(|opened| opened != base_url);
    if !is_same_origin(base_url, headers) {
        return match opened {
            Ok(opened) if is_elsewhere && value(SEC_FETCH_SITE) != "cross-site" => {
                Cause::OtherAddress(opened)
            }
            _ => Cause::OtherSite,
        };
    }
    if Visitor::of(base_url, headers).is_some() || session_token(base_url, headers).is_some() {
        return Cause::Expired;
    }
    match opened {
        Ok(opened) if is_elsewhere => {
            let is_over_http = base_url.is_https() && opened.authority() == base_url.authority();
            if is_over_http { Cause::OverHttp } else { Cause::OtherAddress(opened) }
        }
        _ => Cause::NoCookie,
    }
}
