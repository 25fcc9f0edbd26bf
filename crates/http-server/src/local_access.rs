use std::net::SocketAddr;

use http::{HeaderMap, StatusCode, Uri, header};
use maud::html;

use crate::{BaseUrl, pages::{Page, prefers_html}, reply::{Reply, error}};

/// Whether `Host` and `Origin` allow a request, on any path.
///
/// A loopback base URL means that only this machine reaches the service. A page of the web can have its own name resolve
/// to 127.0.0.1 and then read what the service answers (DNS rebinding), so foreign names are refused. A public service
/// checks neither: there the credential decides.
///
/// The photo app runs in a sandboxed frame, from which browsers load images with `Origin: null`. A signed URL admits it.
pub fn is_allowed(base_url: &BaseUrl, uri: &Uri, headers: &HeaderMap) -> bool {
    if !base_url.is_loopback() {
        return true;
    }
    let authority = uri.authority().map(http::uri::Authority::as_str);
    let mut hosts = header_values(headers, header::HOST).chain(authority.map(Some)).peekable();
    let mut origins = header_values(headers, header::ORIGIN);
    hosts.peek().is_some()
        && hosts.all(|host| host.is_some_and(|host| is_loopback_host(base_url, host)))
        && origins.all(|origin| {
            origin.is_some_and(|origin| {
                is_loopback(origin) || (origin == "null" && uri.path().starts_with("/i/"))
            })
        })
}

/// The refusal of a request that is not allowed: a page for a browser, JSON for a program.
pub fn refusal(base_url: &BaseUrl, headers: &HeaderMap) -> Reply {
    if prefers_html(headers) {
        return page(base_url, headers);
    }
    let message = format!(
        "this service is set up for this machine only, as {}: Host, and Origin when sent, must be loopback names",
        base_url.as_str()
    );
    error(StatusCode::FORBIDDEN, &message)
}

/// What an operator does whose reverse proxy passes a public address on to the service.
pub const BEHIND_PROXY: &str = "Behind a reverse proxy, start it with --base-url and the address in your browser's address bar, such as https://photos.example.org.";

fn page(base_url: &BaseUrl, headers: &HeaderMap) -> Reply {
    // An address is the machine's own. A name may be an attacker's, so it is not repeated. A loopback address is the one
    // at which a proxy reaches the service.
    let host = header_values(headers, header::HOST).next().flatten();
    let address = host.and_then(|host| host.parse::<SocketAddr>().ok());
    let address = address.filter(|address| !address.ip().to_canonical().is_loopback());
    let (address, listen) = match address {
        Some(address) => (address.to_string(), format!("{}:{}", unspecified(address), address.port())),
        None => ("ADDRESS:PORT".to_owned(), "0.0.0.0:PORT".to_owned()),
    };
    let content = html! {
        p { "This library is set up to be reached at " a href=(base_url.as_str()) { (base_url.as_str()) } "." }
        p { "Open that link on the machine that the library runs on." }
        p {
            "To reach it from other devices, start it with "
            code { "--base-url http://" (address) " --listen " (listen) } "."
        }
        p { (BEHIND_PROXY) }
    };
    let title = "Open the library at its own address";
    Page { title, status: StatusCode::FORBIDDEN, form_targets: &[] }.reply(&content)
}

/// All addresses of the machine, of the same family.
fn unspecified(address: SocketAddr) -> &'static str {
    if address.is_ipv4() { "0.0.0.0" } else { "[::]" }
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
        assert_eq!(is_allowed(&base_url, &parts.uri, &parts.headers), expect, "{uri} {headers:?}");
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
            let is_image = expect || origin == "null";
            check(
                "http://localhost",
                "/i/x/webp-thumb.webp",
                &[("host", "localhost"), ("origin", origin)],
                is_image,
            );
        }
    }

    #[test]
    fn a_public_service_checks_neither() {
        check("https://photos.example.org", "/api/mcp/v1", &[], true);
        let foreign = [("host", "other.example"), ("origin", "https://evil.example")];
        check("https://photos.example.org", "/api/mcp/v1", &foreign, true);
    }
}
