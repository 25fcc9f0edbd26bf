//! The interface to systemd: sockets that it opened (`sd_listen_fds(3)`) and messages to it (`sd_notify(3)`). Without
//! systemd there are no sockets, and messages do nothing.

use std::io;

use listenfd::ListenFd;
use sd_notify::NotifyState;
use tokio::net::TcpListener;

/// The TCP sockets that were opened for this process.
///
/// # Errors
/// One of them is not a listening TCP socket.
pub(crate) fn listeners() -> io::Result<Vec<TcpListener>> {
    let mut sockets = ListenFd::from_env();
    let mut listeners = Vec::with_capacity(sockets.len());
    for index in 0..sockets.len() {
        if let Some(listener) = sockets.take_tcp_listener(index)? {
            listener.set_nonblocking(true)?;
            listeners.push(TcpListener::from_std(listener)?);
        }
    }
    Ok(listeners)
}

/// Reports that requests are answered, or jobs worked on, from now on.
pub(crate) fn ready() {
    notify(NotifyState::Ready);
}

/// Reports that the process is shutting down.
pub(crate) fn stopping() {
    notify(NotifyState::Stopping);
}

fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager cannot be notified");
    }
}
