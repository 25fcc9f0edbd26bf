//! Protection of a loopback service from DNS rebinding.

use http::{HeaderMap, StatusCode, Uri, header};

use crate::{
    BaseUrl,
    reply::{Reply, error},
};

/// The values of `Origin` that a path of a loopback service accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// Loopback names.
    Loopback,
    /// Also `null`, which a sandboxed frame sends. Only for a path that is protected by a signature.
    LoopbackAndNull,
    /// Every origin. Only for documents that hold no data.
    Any,
}

/// Whether `Host` and `Origin` allow a request.
///
/// A loopback base URL means that only this machine reaches the service. A web page can resolve its own name to 127.0.0.1
/// and then read the service's replies (DNS rebinding), so foreign names are rejected. A public service checks neither
/// header: there the credential decides.
///
/// `origins` widens which values of `Origin` are accepted.
pub fn is_allowed(base_url: &BaseUrl, uri: &Uri, headers: &HeaderMap, origins: AllowedOrigins) -> bool {
    if !base_url.is_loopback() {
        return true;
    }
    let authority = uri.authority().map(http::uri::Authority::as_str);
    let mut hosts = header_values(headers, header::HOST).chain(authority.map(Some)).peekable();
    let mut sent_origins = header_values(headers, header::ORIGIN);
    hosts.peek().is_some()
        && hosts.all(|host| host.is_some_and(|host| is_loopback_host(base_url, host)))
        && (origins == AllowedOrigins::Any
            || sent_origins.all(|origin| {
                let is_null_allowed = origins == AllowedOrigins::LoopbackAndNull;
                origin.is_some_and(|origin| is_loopback(origin) || (is_null_allowed && origin == "null"))
            }))
}

/// The reply to a request that is not allowed.
pub fn forbidden(base_url: &BaseUrl) -> Reply {
    let message = format!(
        "this service only accepts requests from this machine, at {}: Host, and Origin if sent, must be loopback names",
        base_url.as_str()
    );
    error(StatusCode::FORBIDDEN, &message)
}

/// Each value of a header; `None` for one that is not text.
fn header_values(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = Option<&str>> {
    headers.get_all(name).into_iter().map(|value| value.to_str().ok())
}

/// Compares with the base URL first: nearly every request names it, and parsing is slower.
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
        let origins = match parts.uri.path() {
            path if path.starts_with("/i/") => AllowedOrigins::LoopbackAndNull,
            path if path.starts_with("/.well-known/") => AllowedOrigins::Any,
            _ => AllowedOrigins::Loopback,
        };
        assert_eq!(is_allowed(&base_url, &parts.uri, &parts.headers, origins), expect, "{uri} {headers:?}");
    }

    #[test]
    fn a_loopback_service_accepts_only_loopback_hosts() {
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
    fn a_loopback_service_accepts_only_loopback_origins() {
        for (origin, expect) in [
            ("http://localhost:3000", true),
            ("https://127.0.0.1", true),
            ("http://[::1]", true),
            ("https://evil.example", false),
            ("null", false),
            ("vscode-webview://x", false),
        ] {
            check("http://localhost", "/api/mcp/v1", &[("host", "localhost"), ("origin", origin)], expect);
            let is_image = expect || origin == "null";
            check(
                "http://localhost",
                "/i/x/webp-thumb.webp",
                &[("host", "localhost"), ("origin", origin)],
                is_image,
            );
            check("http://localhost", "/.well-known/x", &[("host", "localhost"), ("origin", origin)], true);
        }
        let foreign = [("host", "evil.example"), ("origin", "https://evil.example")];
        check("http://localhost", "/.well-known/x", &foreign, false);
    }

    #[test]
    fn a_public_service_checks_neither_host_nor_origin() {
        check("https://photos.example.org", "/api/mcp/v1", &[], true);
        let foreign = [("host", "other.example"), ("origin", "https://evil.example")];
        check("https://photos.example.org", "/api/mcp/v1", &foreign, true);
    }
}
