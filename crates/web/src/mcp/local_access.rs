use http::{HeaderMap, header, request::Parts};

use crate::BaseUrl;

/// Whether a request may come in as far as its `Host` and `Origin` tell.
///
/// A service that only its own machine can reach is safe from pages of the web only when it also refuses names that
/// such a page made to point at it (DNS rebinding). A public service checks neither: there the token decides.
pub(super) fn is_allowed(base_url: &BaseUrl, parts: &Parts) -> bool {
    if !base_url.is_loopback() {
        return true;
    }
    let authority = parts.uri.authority().map(http::uri::Authority::as_str);
    let mut hosts = header_values(&parts.headers, header::HOST).chain(authority.map(Some)).peekable();
    let mut origins = header_values(&parts.headers, header::ORIGIN);
    hosts.peek().is_some()
        && hosts.all(|host| host.is_some_and(|host| is_loopback_host(base_url, host)))
        && origins.all(|origin| origin.is_some_and(is_loopback))
}

/// Each value of a header; `None` for one that is not text.
fn header_values(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = Option<&str>> {
    headers.get_all(name).into_iter().map(|value| value.to_str().ok())
}

/// Nearly every request names the service as it names itself, which needs no parsing.
fn is_loopback_host(base_url: &BaseUrl, host: &str) -> bool {
    base_url.authority() == host || is_loopback(&format!("http://{host}"))
}

fn is_loopback(origin: &str) -> bool {
    BaseUrl::parse(origin).is_ok_and(|origin| origin.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn check(base_url: &str, uri: &str, headers: &[(&str, &str)], expect: bool) {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let base_url = BaseUrl::parse(base_url).unwrap();
        assert_eq!(is_allowed(&base_url, &parts), expect, "{uri} {headers:?}");
    }

    #[test]
    fn a_local_service_answers_only_to_loopback_names() {
        let local = "http://127.0.0.1:8080";
        for (host, expect) in [
            ("127.0.0.1:8080", true),
            ("127.0.0.1:80800", false),
            ("127.0.0.1", true),
            ("localhost:9", true),
            ("LOCALHOST", true),
            ("photos.localhost", true),
            ("[::1]:8080", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("user@127.0.0.1", false),
            ("192.168.0.7:8080", false),
            ("", false),
        ] {
            check(local, "/api/mcp/v1", &[("host", host)], expect);
        }
        check(local, "/api/mcp/v1", &[], false);
        check(local, "/api/mcp/v1", &[("host", "localhost"), ("host", "evil.example")], false);
        check(local, "http://localhost:8080/api/mcp/v1", &[], true);
        check(local, "http://evil.example/api/mcp/v1", &[("host", "localhost")], false);
    }

    #[test]
    fn an_origin_is_loopback_when_sent() {
        for (origin, expect) in [
            ("http://localhost:3000", true),
            ("https://127.0.0.1", true),
            ("http://[::1]", true),
            ("https://evil.example", false),
            ("null", false),
            ("vscode-webview://x", false),
        ] {
            check("http://localhost", "/api/mcp/v1", &[("host", "localhost"), ("origin", origin)], expect);
        }
    }

    #[test]
    fn a_public_service_checks_neither() {
        check("https://photos.example.org", "/api/mcp/v1", &[], true);
        let foreign = [("host", "other.example"), ("origin", "https://evil.example")];
        check("https://photos.example.org", "/api/mcp/v1", &foreign, true);
    }
}
