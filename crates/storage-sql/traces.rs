//! Spans of operations in traces.

use domain::{TRACE_TARGET, are_traces_exported};
use storage::StorageError;
use tracing::{Instrument as _, Span, field::Empty};

use crate::dialect::SYSTEM;

/// Runs an operation in a span of its own, named after the function that contains the closure with this type name.
/// Outside of a trace there is no span, because background tasks look for work every second.
pub(crate) async fn traced<T>(
    closure: &'static str,
    work: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    let span = operation_span(closure);
    let outcome = work.instrument(span.clone()).await;
    if outcome.is_err() {
        span.record("otel.status_code", "ERROR");
    }
    outcome
}

/// As [`traced`], for an operation on this thread.
pub(crate) fn traced_here<T>(closure: &'static str, work: impl FnOnce() -> T) -> T {
    operation_span(closure).in_scope(work)
}

fn operation_span(closure: &'static str) -> Span {
    if !are_traces_exported() || Span::current().is_none() {
        return Span::none();
    }
    tracing::info_span!(
        target: TRACE_TARGET,
        "operation",
        otel.name = function_name(closure),
        otel.kind = "client",
        otel.status_code = Empty,
        db.system.name = SYSTEM,
    )
}

/// The name of the function in the type name of a closure, such as `list` in `store::<impl Images>::list::{{closure}}`.
fn function_name(closure: &str) -> &str {
    let name = closure.rsplit("::").find(|part| *part != "{{closure}}").unwrap_or(closure);
    name.split('<').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::any::type_name;

    use super::*;

    async fn in_this_function<F>(_: F) -> &'static str {
        function_name(type_name::<F>())
    }

    #[tokio::test]
    async fn an_operation_is_named_after_its_function() {
        assert_eq!(in_this_function(|| ()).await, "an_operation_is_named_after_its_function");
        assert_eq!(function_name("a::b::list::{{closure}}::{{closure}}"), "list");
        assert_eq!(function_name("a::<impl b::C for d::E>::list::{{closure}}"), "list");
        assert_eq!(function_name("a::list<u8>"), "list");
        assert_eq!(function_name("list"), "list");
    }
}
