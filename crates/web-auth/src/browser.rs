//! The session of a browser, and whether a request comes from a page of this service.

use http::{HeaderMap, HeaderName, header};
use http_server::{BaseUrl, cookies};

/// The cookie with the session token.
pub const SESSION_COOKIE: &str = "photos_session";

/// The session token that a browser sent.
pub fn session_token(base_url: &BaseUrl, headers: &HeaderMap) -> Option<String> {
    cookies::value(base_url, headers, SESSION_COOKIE)
}

/// Whether a request comes from a page of this service, as far as the browser says. Browsers that do not send the origin of
/// a POST are only checked by the token of the form. The host that the browser used also counts as this service: it may be
/// `localhost` where the base URL says `127.0.0.1`.
pub fn is_same_origin(base_url: &BaseUrl, headers: &HeaderMap) -> bool {
    let texts = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    if texts(HeaderName::from_static("sec-fetch-site")).any(|site| site == "cross-site") {
        return false;
    }
    let host = texts(header::HOST).next().unwrap_or_default();
    let is_here = |origin: &str| {
        origin.split_once("://").is_some_and(|(scheme, authority)| {
            matches!(scheme, "http" | "https") && !host.is_empty() && authority.eq_ignore_ascii_case(host)
        })
    };
    texts(header::ORIGIN).all(|origin| origin.eq_ignore_ascii_case(base_url.as_str()) || is_here(origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn only_the_own_origin_is_accepted() {
        let base_url = BaseUrl::parse("https://photos.example.org").unwrap();
        let check = |headers: &[(&'static str, &'static str)], expect| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, HeaderValue::from_static(value));
            }
            let headers = map;
            assert_eq!(is_same_origin(&base_url, &headers), expect, "{headers:?}");
        };
        check(&[], true);
        check(&[("origin", "https://photos.example.org")], true);
        check(&[("origin", "https://PHOTOS.example.org")], true);
        check(&[("origin", "http://localhost:8080"), ("host", "localhost:8080")], true);
        check(&[("origin", "https://evil.example")], false);
        check(&[("origin", "https://evil.example"), ("host", "photos.example.org")], false);
        check(&[("origin", "https://photos.example.org.evil.example")], false);
        check(&[("origin", "null"), ("host", "null")], false);
        check(&[("origin", "")], false);
        check(&[("origin", "https://photos.example.org"), ("origin", "https://evil.example")], false);
        check(&[("sec-fetch-site", "cross-site")], false);
        check(&[("sec-fetch-site", "same-origin")], true);
    }
}
