//! Traces for an OpenTelemetry collector: OTLP over HTTP, as protobuf.
//!
//! Spans have the target [`TRACE_TARGET`], or [`REQUEST_TARGET`] if they are also part of the log. They name operations and routes,
//! and no person, photo or address.

use std::{
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use domain::{TRACE_TARGET, export_traces};
use http::{Request, Response};
use https_client::{BuildError, Error, HttpsClient, Limits, Roots};
use opentelemetry::{KeyValue, global, trace::TracerProvider as _};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    resource::EnvResourceDetector,
    trace::{BatchSpanProcessor, SdkTracerProvider},
};
use serde::Deserialize;
use tokio::{runtime::Handle, time::timeout};
use tracing::{Level, Subscriber};
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};
use url::Url;
use web::REQUEST_TARGET;

use crate::url_request::{self, RequestError};

/// The path that is added to the URL of a collector.
const PATH: &str = "v1/traces";
/// The name of this service, unless the environment gives another.
const SERVICE: &str = "photo-library";
/// How long a collector may take to accept spans.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last spans may delay the exit.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
const STEP_TIMEOUT: Duration = Duration::from_secs(5);
const LIMITS: Limits = Limits { max_head_bytes: 16 * 1024, max_headers: 100, step_timeout: STEP_TIMEOUT };
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Collector(Url);

impl Collector {
    /// The URL to which traces are sent.
    pub(crate) fn traces(mut self) -> Self {
        let path = format!("{}/{PATH}", self.0.path().trim_end_matches('/'));
        self.0.set_path(&path);
        self
    }
}

impl FromStr for Collector {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const INVALID: &str = "must be a URL such as http://127.0.0.1:4318";
        let url = Url::parse(text).map_err(|_| INVALID)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(INVALID);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must have no user name; OTEL_EXPORTER_OTLP_HEADERS gives credentials");
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for Collector {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Why no traces can be exported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TracesError {
    #[error("traces cannot be exported: {0}")]
    Client(#[from] BuildError),
    #[error("traces cannot be exported: {0}")]
    Exporter(#[from] ExporterBuildError),
}

/// Exports spans in batches from a thread of its own. When the collector does not keep up, spans are lost, and no request waits.
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// Starts the export to this URL.
    pub(crate) fn start(
        collector: &Collector,
        service: Option<&str>,
        runtime: Handle,
    ) -> Result<Self, TracesError> {
        let user_agent = format!("{SERVICE}/{}", env!("CARGO_PKG_VERSION"));
        let client = HttpsClient::new(&Roots::WebPkiAndSystem, &user_agent, LIMITS)?;
        let sender = Sender { client, url: collector.0.clone(), runtime, is_failing: AtomicBool::new(false) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(collector.0.as_str())
            .with_http_client(sender)
            .build()?;
        let resource = Resource::builder_empty()
            .with_attributes([
                KeyValue::new("service.name", SERVICE),
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            ])
            .with_detector(Box::new(EnvResourceDetector::new()));
        let resource = match service {
            Some(name) => resource.with_service_name(name.to_owned()),
            None => resource,
        };
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_span_processor(BatchSpanProcessor::builder(exporter).build())
            .build();
        // Reads the trace context that a proxy sends.
        global::set_text_map_propagator(TraceContextPropagator::new());
        export_traces();
        Ok(Self(provider))
    }

    /// The layer that takes spans for the export.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer(SERVICE))
            .with_context_activation(false)
            .with_tracked_inactivity(false)
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_filter(
                Targets::new()
                    .with_target(TRACE_TARGET, Level::INFO)
                    .with_target(REQUEST_TARGET, Level::ERROR),
            )
    }

    /// Exports the spans that still wait, for at most [`STOP_TIMEOUT`].
    pub(crate) fn stop(self) {
        // The exporter has logged the failure.
        let _ = self.0.shutdown_with_timeout(STOP_TIMEOUT);
    }
}

/// Sends requests on the runtime of the server, because the thread of the export has no runtime.
#[derive(Debug)]
struct Sender {
    client: HttpsClient,
    url: Url,
    runtime: Handle,
    /// Whether the last request failed, so that a failure is logged once.
    is_failing: AtomicBool,
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, url) = (self.client.clone(), self.url.clone());
        let sending = async move { timeout(TIMEOUT, send(&client, &url, request)).await };
        let outcome = match self.runtime.spawn(sending).await {
            Ok(outcome) => outcome.unwrap_or(Err(SendError::Timeout)),
            // The runtime is shut down, because the program ends.
            Err(error) => return Err(error.into()),
        };
        let failure = match &outcome {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("status {}", response.status())),
            Err(error) => Some(error.to_string()),
        };
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            None if was_failing => tracing::info!("the collector accepts traces again"),
            Some(reason) if !was_failing => {
                tracing::warn!(reason, "the collector does not accept traces; they are lost until it does");
            }
            _ => {}
        }
        Ok(outcome?)
    }
}

async fn send(
    client: &HttpsClient,
    url: &Url,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, SendError> {
    let response = url_request::send(client, url, request, STEP_TIMEOUT).await?;
    let mut reply = Response::new(Bytes::new());
    *reply.status_mut() = response.status();
    *reply.headers_mut() = response.headers().clone();
    *reply.body_mut() = response.bytes(MAX_RESPONSE_BYTES).await?.into();
    Ok(reply)
}

/// Why spans were not sent.
#[derive(Debug, thiserror::Error)]
enum SendError {
    #[error("its name cannot be resolved")]
    Name,
    #[error("no connection{}", .0.as_ref().map(|error| format!(": {error}")).unwrap_or_default())]
    Connection(Option<std::io::Error>),
    #[error("no answer within {} s", TIMEOUT.as_secs())]
    Timeout,
    #[error(transparent)]
    Response(#[from] Error),
}

impl From<RequestError> for SendError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Address | RequestError::Name(_) => Self::Name,
            RequestError::Connection(error) => Self::Connection(error),
            RequestError::Encryption(error) | RequestError::Response(error) => Self::Response(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_go_to_their_path_below_the_url() {
        for (text, traces) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://otel.example.org/collect/", "https://otel.example.org/collect/v1/traces"),
        ] {
            assert_eq!(text.parse::<Collector>().unwrap().traces().0.as_str(), traces);
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for text in ["", "127.0.0.1:4318", "grpc://127.0.0.1:4317", "http://", "/v1/traces", "unix:/run/otel"]
        {
            assert!(text.parse::<Collector>().unwrap_err().contains("URL such as"), "{text}");
        }
        let error = "https://user:password@otel.example.org".parse::<Collector>().unwrap_err();
        assert!(error.contains("OTEL_EXPORTER_OTLP_HEADERS"), "{error}");
    }
}
