//! Spans of operations in traces.

use std::any::type_name;

use domain::TRACE_TARGET;
use tracing::{Level, Span};

use crate::dialect::SYSTEM;

/// The span of the operation `F`, named after the function that contains the closure. None outside of a trace: background tasks
/// look for work every second.
pub(crate) fn operation_span<F>() -> Span {
    if !tracing::enabled!(target: TRACE_TARGET, Level::INFO) || Span::current().is_none() {
        return Span::none();
    }
    tracing::info_span!(
        target: TRACE_TARGET,
        "operation",
        otel.name = function_name(type_name::<F>()),
        otel.kind = "client",
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
