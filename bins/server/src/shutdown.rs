//! Shutdown signals and the time that a shutdown may take.

use std::{io, time::Duration};

/// How long running requests and jobs may take to finish after a shutdown signal.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// Installs handlers for SIGTERM and SIGINT. The future completes at the first signal.
///
/// # Errors
/// The handlers cannot be installed.
#[cfg(unix)]
pub(crate) fn signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{self, SignalKind};
    let mut terminate = unix::signal(SignalKind::terminate())?;
    let mut interrupt = unix::signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// As on Unix, but for Ctrl-C only.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(crate) fn signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
