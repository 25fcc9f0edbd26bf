//! The log, on stderr, and the export of traces.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::{
    EnvFilter, Layer as _, Registry, filter::ParseError, layer::SubscriberExt as _, registry,
    util::SubscriberInitExt as _,
};

use crate::{config::LogFormat, traces::Traces};

/// `RUST_LOG` is not a valid filter.
#[derive(Debug, thiserror::Error)]
#[error("RUST_LOG: {0}")]
pub(crate) struct InvalidLogFilter(#[from] ParseError);

/// Starts logging with a filter in the syntax of `RUST_LOG`, and passes spans to the export of traces.
pub(crate) fn start(
    format: LogFormat,
    filter: &str,
    traces: Option<&Traces>,
) -> Result<(), InvalidLogFilter> {
    // The HTTP/2 library warns of frames that any client can send as often as it likes.
    let filter = format!("h2=error,{filter},{}=off", domain::TRACE_TARGET);
    let filter = EnvFilter::builder().parse(filter)?;
    let lines = tracing_subscriber::fmt::layer::<Registry>().with_writer(stderr);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    match traces {
        // A filter of the whole subscriber costs less than a filter of one layer.
        None => registry().with(lines).with(filter).init(),
        Some(traces) => registry().with(lines.with_filter(filter)).with(traces.layer()).init(),
    }
    Ok(())
}
