//! Logging to stderr.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::{EnvFilter, filter::ParseError};

use crate::config::LogFormat;

/// `RUST_LOG` is not a valid filter.
#[derive(Debug, thiserror::Error)]
#[error("RUST_LOG: {0}")]
pub(crate) struct InvalidLogFilter(#[from] ParseError);

/// Starts logging with a filter in the syntax of `RUST_LOG`.
///
/// # Errors
/// [`InvalidLogFilter`].
pub(crate) fn start(format: LogFormat, filter: &str) -> Result<(), InvalidLogFilter> {
    // The HTTP/2 library warns of frames that any client can send as often as it likes.
    let filter = EnvFilter::builder().parse(format!("h2=error,{filter}"))?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    match format {
        LogFormat::Text => lines.with_ansi(stderr().is_terminal()).init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
