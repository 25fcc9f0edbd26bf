//! Serves the metrics on a listener of their own.

use std::io;

use http::{HeaderValue, Method, Request, StatusCode, header};
use http_server::{
    HttpLimits, ServeOptions,
    reply::{Reply, WithHeader as _, internal_error, method_not_allowed, not_found, with_body},
    response_body::full,
};
use hyper::body::Incoming;
use library::{network_prefix, subscriber_prefix};
use prometheus::TEXT_FORMAT;
use tokio::net::TcpListener;

use crate::App;

const PATH: &str = "/metrics";
/// Upper bound on connections. A client may hold half of them.
const CONNECTIONS: usize = 16;

/// Serves the metrics of an app at `/metrics`, until `shutdown` is ready. Requests need no sign-in.
///
/// # Errors
/// The listener's address cannot be read.
pub async fn serve_metrics(
    app: App,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let options = ServeOptions {
        limits: HttpLimits { connections: CONNECTIONS, ..app.limits() },
        trusted_proxies: Vec::new(),
        client_of: subscriber_prefix,
        network_of: network_prefix,
        tls: None,
    };
    let handler = move |_, request| {
        let app = app.clone();
        async move { respond(&app, &request).await }
    };
    http_server::serve(handler, options, listener, shutdown).await
}

async fn respond(app: &App, request: &Request<Incoming>) -> Reply {
    if request.uri().path() != PATH {
        return not_found();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return method_not_allowed("GET, HEAD");
    }
    match app.metrics().text(app.library()).await {
        Ok(text) => with_body(StatusCode::OK, full(text))
            .with(header::CONTENT_TYPE, HeaderValue::from_static(TEXT_FORMAT))
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        Err(error) => {
            tracing::error!(%error, "the metrics cannot be written");
            internal_error()
        }
    }
}
