//! When to end, and how long that may take.

use std::{io, time::Duration};

/// How long what runs may go on after the program was asked to end.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// Takes over the signals that ask the program to end, and gives what waits for the first of them: SIGTERM or
/// SIGINT.
///
/// # Errors
/// What the system says when it does not hand them over.
#[cfg(unix)]
pub(crate) fn requested() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// As on Unix, with Ctrl-C as the only signal there is.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(crate) fn requested() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
