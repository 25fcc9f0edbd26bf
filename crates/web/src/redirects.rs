//! Redirects from http to the base URL, on a listener of its own.

use std::io;

use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_server::{
    HttpLimits, ServeOptions,
    body::RequestBody,
    cookies,
    reply::{Reply, WithHeader as _, error, permanent_redirect},
};
use hyper::body::{Body, Incoming};
use library::{network_prefix, subscriber_prefix};
use tokio::net::TcpListener;
use web_auth::SESSION_COOKIE;

use crate::App;

/// Upper bound on connections.
const CONNECTIONS: usize = 256;

/// Redirects requests of browsers to the same path below the base URL of an app, until `shutdown` is ready. A client that sends
/// credentials or a body without encryption is refused. If it were redirected, it would work, and would send them without
/// encryption each time.
///
/// # Errors
/// The listener's address cannot be read.
pub async fn serve_redirects(
    app: App,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let limits = app.limits();
    let options = ServeOptions {
        limits: HttpLimits { connections: limits.connections.min(CONNECTIONS), ..limits },
        trusted_proxies: Vec::new(),
        client_of: subscriber_prefix,
        network_of: network_prefix,
        tls: None,
    };
    let handler = move |_, request: Request<Incoming>| {
        let reply = respond(app.base_url(), &request);
        let (parts, body) = request.into_parts();
        // This discards the rest of the body. Without that, a client that is still sending would not receive the reply.
        drop(RequestBody::new(&parts, body, &limits));
        async move { reply }
    };
    http_server::serve(handler, options, listener, shutdown).await
}

fn respond<B: Body>(base_url: &str, request: &Request<B>) -> Reply {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && request.body().is_end_stream() && !has_credentials(request.headers()) {
        return permanent_redirect(&location(base_url, request));
    }
    let message = format!(
        "this address only redirects browsers to https; use {base_url}. Passwords, keys and photos in this request were sent \
         without encryption: replace passwords and keys that it contained"
    );
    let reply =
        error(StatusCode::FORBIDDEN, &message).with(header::CONNECTION, HeaderValue::from_static("close"));
    // A browser may still have the cookie of a session that began before the service used https. Its next request is redirected.
    match cookies::delete_plain(SESSION_COOKIE).filter(|_| cookies::has(request.headers(), SESSION_COOKIE)) {
        Some(deletion) => reply.with(header::SET_COOKIE, deletion),
        None => reply,
    }
}

/// Cookies of other services on the same host are no credentials of this one.
fn has_credentials(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION) || cookies::has(headers, SESSION_COOKIE)
}

/// The base URL with the path and query of a request. The host that the request names is not used, so that nobody is redirected
/// to another host.
fn location<B>(base_url: &str, request: &Request<B>) -> String {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    // `OPTIONS *` has no path.
    let target = if target.starts_with('/') { target } else { "/" };
    format!("{base_url}{target}")
}

#[cfg(test)]
mod tests {
    use http_body_util::{Empty, Full};
    use hyper::body::Bytes;

    use super::*;

    #[test]
    fn requests_with_credentials_or_a_body_are_refused() {
        let check = |method: &str, (name, value): (&str, &str), body: &'static str, expect: u16| {
            let request = Request::builder().method(method).uri("/albums").header(name, value);
            let request = request.body(Full::<Bytes>::from(body)).unwrap();
            let reply = respond("https://photos.test", &request);
            assert_eq!(reply.status(), expect, "{method} {name}: {value} {body}");
            assert_eq!(reply.headers().contains_key(header::LOCATION), expect == 308, "{method} {name}");
            let has_session = name == "cookie" && expect == 403;
            assert_eq!(reply.headers().contains_key(header::SET_COOKIE), has_session, "{method} {value}");
        };
        let plain = ("accept", "text/html");
        check("GET", plain, "", 308);
        check("HEAD", plain, "", 308);
        check("GET", ("cookie", "theme=dark; other_session=x"), "", 308);
        check("GET", plain, "x", 403);
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "MKCOL"] {
            check(method, plain, "", 403);
        }
        for credentials in [
            ("authorization", "Basic eDp5"),
            ("authorization", "photos_key"),
            ("authorization", ""),
            ("cookie", "photos_session=x"),
            ("cookie", "a=b; __Host-photos_session=x"),
        ] {
            check("GET", credentials, "", 403);
            check("HEAD", credentials, "", 403);
        }
    }

    #[test]
    fn only_the_path_and_the_query_are_kept() {
        for (target, expect) in [
            ("/", "https://photos.test/"),
            ("/albums/a?page=2&b=%2F", "https://photos.test/albums/a?page=2&b=%2F"),
            ("http://other.test/photos?a", "https://photos.test/photos?a"),
            ("//other.test/photos", "https://photos.test//other.test/photos"),
            ("*", "https://photos.test/"),
        ] {
            let request = Request::builder().uri(target).body(Empty::<Bytes>::new()).unwrap();
            assert_eq!(location("https://photos.test", &request), expect, "{target}");
        }
    }
}
