//! Metrics for Prometheus.
//!
//! The values of all labels are known in advance, so the number of time series is bounded, and no metric names a person, a
//! photo or an address.

mod figures;
mod routes;

use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use library::Library;
use prometheus::{
    Error, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry, TextEncoder, core::Collector,
};
use web_auth::BuildError;

use self::routes::Routes;

/// Upper bounds of the histogram, in seconds. Most requests take less than a millisecond, and uploads take minutes.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Counts requests.
pub(crate) struct Metrics {
    registry: Registry,
    routes: Routes,
    requests: IntCounterVec,
    durations: HistogramVec,
    in_progress: IntGauge,
    /// Registered once the expiry of the certificate is known.
    certificate_end: IntGauge,
}

impl Metrics {
    pub(crate) fn new() -> Result<Self, BuildError> {
        Self::registered(Routes::new()?).map_err(|error| BuildError(format!("the metrics: {error}")))
    }

    fn registered(routes: Routes) -> Result<Self, Error> {
        let requests = Opts::new("photos_http_requests_total", "Answered requests.");
        let durations = HistogramOpts::new(
            "photos_http_request_duration_seconds",
            "Time from the head of a request to the head of its response.",
        );
        let metrics = Self {
            registry: Registry::new(),
            routes,
            requests: IntCounterVec::new(requests, &["route", "method", "status"])?,
            durations: HistogramVec::new(durations.buckets(SECONDS.to_vec()), &["route"])?,
            in_progress: IntGauge::new(
                "photos_http_requests_in_progress",
                "Requests without a response yet.",
            )?,
            certificate_end: IntGauge::new(
                "photos_certificate_expiry_timestamp_seconds",
                "When the TLS certificate of this server expires, in seconds since 1970.",
            )?,
        };
        let collectors: [Box<dyn Collector>; 3] = [
            Box::new(metrics.requests.clone()),
            Box::new(metrics.durations.clone()),
            Box::new(metrics.in_progress.clone()),
        ];
        #[cfg(target_os = "linux")]
        metrics.registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))?;
        collectors.into_iter().try_for_each(|collector| metrics.registry.register(collector))?;
        Ok(metrics)
    }

    /// Counts a request as in progress until the returned value is dropped.
    pub(crate) fn begin(&self) -> InProgress<'_> {
        self.in_progress.inc();
        InProgress { metrics: self, started: Instant::now() }
    }

    /// The name of the route of a path.
    pub(crate) fn route(&self, path: &str) -> &'static str {
        self.routes.name(path)
    }

    pub(crate) fn certificate_ends(&self, unix_s: i64) {
        self.certificate_end.set(unix_s);
        // A second registration fails and changes nothing.
        let _ = self.registry.register(Box::new(self.certificate_end.clone()));
    }

    /// The metrics in Prometheus' text format.
    pub(crate) async fn text(&self, library: &Library) -> Result<String, Error> {
        let mut families = self.registry.gather();
        families.extend(figures::gather(library).await?);
        TextEncoder::new().encode_to_string(&families)
    }
}

/// A request without a response yet.
pub(crate) struct InProgress<'a> {
    metrics: &'a Metrics,
    started: Instant,
}

impl InProgress<'_> {
    /// The time since the request began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Counts the response. Route and method are names of this module.
    pub(crate) fn answered(&self, route: &str, method: &str, status: StatusCode) {
        let labels = [route, method, status.as_str()];
        self.metrics.requests.with_label_values(&labels).inc();
        self.metrics.durations.with_label_values(&[route]).observe(self.elapsed().as_secs_f64());
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.metrics.in_progress.dec();
    }
}

/// The name of a method that the service knows.
pub(crate) fn method_name(method: &Method) -> &str {
    const OF_WEBDAV: [&str; 8] =
        ["PROPFIND", "PROPPATCH", "MKCOL", "MOVE", "COPY", "LOCK", "UNLOCK", "REPORT"];
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::OPTIONS => method.as_str(),
        _ => OF_WEBDAV.into_iter().find(|name| *name == method.as_str()).unwrap_or("other"),
    }
}
