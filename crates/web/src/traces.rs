//! The span of a request, for the log and for traces.

use domain::are_traces_exported;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use opentelemetry::global;
use opentelemetry_http::HeaderExtractor;
use tracing::{Span, field::Empty};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::metrics::{Metrics, method_name};

/// The target of the spans of requests. They are part of the log, whatever its level, and of traces.
pub const REQUEST_TARGET: &str = "web::request";

/// The span of a request. In the log it has the ID of the request; in traces also what OpenTelemetry's semantic conventions for HTTP
/// servers ask for. `caller` is the headers of a trusted proxy, which may name the trace that the request belongs to (W3C Trace
/// Context).
pub(crate) fn request_span<B>(
    request: &Request<B>,
    metrics: &Metrics,
    id: &HeaderValue,
    caller: Option<&HeaderMap>,
) -> Span {
    let id = id.to_str().unwrap_or_default();
    if !are_traces_exported() {
        return tracing::error_span!(target: REQUEST_TARGET, "request", id);
    }
    let route = metrics.route(request.uri().path());
    let method = match method_name(request.method()) {
        "other" => "_OTHER",
        method => method,
    };
    let span = tracing::error_span!(
        target: REQUEST_TARGET,
        "request",
        id,
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
    );
    if let Some(headers) = caller {
        let context = global::get_text_map_propagator(|it| it.extract(&HeaderExtractor(headers)));
        // Fails only for a span that has started.
        let _ = span.set_parent(context);
    }
    span
}

/// Records the response of a request.
pub(crate) fn record_response(span: &Span, status: StatusCode) {
    // Other types of integers become strings.
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}
