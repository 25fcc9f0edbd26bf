//! Redirects from http to the base URL, on a listener of its own.

use std::io;

use http::Request;
use http_server::{HttpLimits, ServeOptions, reply::permanent_redirect};
use library::{network_prefix, subscriber_prefix};
use tokio::net::TcpListener;

use crate::App;

/// Upper bound on connections.
const CONNECTIONS: usize = 256;

/// Redirects every request to the same path below the base URL of an app, until `shutdown` is ready.
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
    let handler = move |_, request| {
        let location = location(app.base_url(), &request);
        async move { permanent_redirect(&location) }
    };
    http_server::serve(handler, options, listener, shutdown).await
}

/// The base URL with the path and query of a request. The host that the request names is left out, so that nobody is sent to
/// another one.
fn location<B>(base_url: &str, request: &Request<B>) -> String {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    // `OPTIONS *` has no path.
    let target = if target.starts_with('/') { target } else { "/" };
    format!("{base_url}{target}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_and_the_query_are_kept() {
        for (target, expect) in [
            ("/", "https://photos.test/"),
            ("/albums/a?page=2&b=%2F", "https://photos.test/albums/a?page=2&b=%2F"),
            ("http://other.test/photos?a", "https://photos.test/photos?a"),
            ("//other.test/photos", "https://photos.test//other.test/photos"),
            ("*", "https://photos.test/"),
        ] {
            let request = Request::builder().uri(target).body(()).unwrap();
            assert_eq!(location("https://photos.test", &request), expect, "{target}");
        }
    }
}
