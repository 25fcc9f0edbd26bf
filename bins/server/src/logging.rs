//! Log lines on stderr.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::{EnvFilter, filter::ParseError};

use crate::config::LogFormat;

/// `RUST_LOG` does not say which log lines are wanted.
#[derive(Debug, thiserror::Error)]
#[error("RUST_LOG: {0}")]
pub(crate) struct InvalidLevels(#[from] ParseError);

/// Starts writing log lines of these levels (in the language of `RUST_LOG`).
///
/// # Errors
/// [`InvalidLevels`].
pub(crate) fn start(format: LogFormat, levels: &str) -> Result<(), InvalidLevels> {
    let filter = EnvFilter::builder().parse(levels)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    match format {
        LogFormat::Text => lines.with_ansi(stderr().is_terminal()).init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
