//! The page that explains why a form was refused.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::{Visitor, origin_is_ours, session_token};
use http_server::{BaseUrl, local_access::BEHIND_PROXY, reply::Reply};
use crate::layout::{Link, problem_with_link};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a form was refused, as far as the request shows.
#[derive(Debug, PartialEq, Eq)]
enum Cause {
    /// A page of another site sent it.
    OtherSite,
    /// The browser opened the page at this address, and so holds no cookie for the base URL.
    OtherAddress(BaseUrl),
    /// The page was opened over http, so that the browser dropped the cookie, which is for https.
    OverHttp,
    /// The browser keeps no cookies, or has lost this one.
    NoCookie,
    /// The form belongs to an earlier session, or was open for too long.
    Expired,
}

/// The refusal of a form without the token that it was shown with. `page` is the path of the page that shows the form.
pub(crate) fn form_refused(base_url: &BaseUrl, headers: &HeaderMap, page: &str) -> Reply {
    let base = base_url.as_str();
    let (title, words) = match cause(base_url, headers) {
        Cause::OtherSite => (
            "This form came from another site",
            "A page of another site sent this form. Nothing was changed. Open the page in this library and try again.".to_owned(),
        ),
        Cause::OtherAddress(opened) => {
            let words = format!(
                "This library is set up for {base}. You opened it at {}, and its forms do not work there. {BEHIND_PROXY} Use this link:",
                opened.as_str()
            );
            return refused("Open the library at its own address", &words, &format!("{base}{page}"), base);
        }
        Cause::OverHttp => {
            let words = format!(
                "This library is set up for {base}. You opened it over http, and its forms only work over https. Use this link:"
            );
            return refused("Open the library over https", &words, &format!("{base}{page}"), base);
        }
        Cause::NoCookie => (
            "Your browser sent no cookie",
            format!(
                "Your browser did not send the cookie that belongs to this form. Reload the page and try again. If that does not help, allow cookies for {}.",
                base_url.authority()
            ),
        ),
        Cause::Expired => {
            ("This form was not accepted", "This form has expired. Reload the page and try again.".to_owned())
        }
    };
    refused(title, &words, page, "Reload the page")
}

fn refused(title: &str, words: &str, href: &str, label: &str) -> Reply {
    problem_with_link(StatusCode::FORBIDDEN, title, words, Link { href, label })
}

fn cause(base_url: &BaseUrl, headers: &HeaderMap) -> Cause {
    let text =
        |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    // The origin is what the browser shows. The host may be the name that a proxy knows the service by.
    let opened = match headers.get(header::ORIGIN) {
        Some(origin) => BaseUrl::parse(origin.to_str().unwrap_or_default()),
        None => {
            let scheme = if base_url.is_https() { "https" } else { "http" };
            BaseUrl::parse(&format!("{scheme}://{}", text(header::HOST)))
        }
    };
    let is_elsewhere = opened.as_ref().is_ok_and(|opened| opened != base_url);
    if !origin_is_ours(base_url, headers) {
        return match opened {
            Ok(opened) if is_elsewhere && text(SEC_FETCH_SITE) != "cross-site" => Cause::OtherAddress(opened),
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
