//! The spans of requests in traces.

use domain::TRACE_TARGET;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use opentelemetry::global;
use opentelemetry_http::HeaderExtractor;
use tracing::{Span, field::Empty};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::metrics::{Metrics, method_name};

/// The span of a request (OpenTelemetry's semantic conventions for HTTP servers). `caller` is the headers of a trusted proxy, which
/// may name the trace that the request belongs to (W3C Trace Context).
pub(crate) fn request_span<B>(
    request: &Request<B>,
    metrics: &Metrics,
    id: &HeaderValue,
    caller: Option<&HeaderMap>,
) -> Span {
    if !tracing::enabled!(target: TRACE_TARGET, tracing::Level::INFO) {
        return Span::none();
    }
    let (route, method) = (metrics.route(request.uri().path()), method_name(request.method()));
    let span = tracing::info_span!(
        target: TRACE_TARGET,
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        request.id = id.to_str().unwrap_or_default(),
    );
    if let Some(headers) = caller {
        let context =
            global::get_text_map_propagator(|propagator| propagator.extract(&HeaderExtractor(headers)));
        // Fails for a span that is not sampled.
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
