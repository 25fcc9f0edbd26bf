use domain::TRACE_TARGET;
use tracing::{Span, field::Empty};

/// The root span of a new trace for a job.
pub(crate) fn job_span(name: &'static str) -> Span {
    tracing::info_span!(target: TRACE_TARGET, parent: None, "job", otel.name = name, otel.status_code = Empty)
}

/// Marks the job of this task as failed in its trace.
pub(crate) fn mark_failed() {
    Span::current().record("otel.status_code", "ERROR");
}
