use std::{convert::Infallible, io, sync::Arc, time::Duration};

use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulConnection, GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time,
};
use tokio_io_timeout::TimeoutStream;

use crate::{App, Limits};

/// The longest head of a request, in bytes and in header lines; a longer one gets 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// How long to wait after the system refused a connection, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves HTTP/1.1 until `shutdown` is ready, then stops accepting and lets running requests finish for as long as the
/// limits allow.
///
/// # Errors
/// The listener's address cannot be read. Failures of single connections are logged and end only them.
pub async fn serve(
    app: App,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let limits = app.service.config.limits;
    tracing::info!(address = %listener.local_addr()?, "serving");
    let slots = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        // A connection is accepted only when there is room for it; until then it waits in the system's backlog.
        let accepted = async {
            let slot = slots.clone().acquire_owned().await;
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut shutdown => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let connection = connection(app.clone(), stream, peer, &limits);
                let watched = graceful.watch(connection);
                tokio::spawn(async move {
                    if let Err(error) = watched.await {
                        tracing::debug!(%peer, %error, "a connection ended early");
                    }
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if time::timeout(limits.drain_timeout, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests that were still running were cut off");
    }
    Ok(())
}

/// HTTP/1.1 only: there every limit on what a client may cost holds. HTTP/2 is for a reverse proxy to speak.
fn connection(
    app: App,
    stream: TcpStream,
    peer: std::net::SocketAddr,
    limits: &Limits,
) -> impl GracefulConnection<Error: std::fmt::Display> + Send + 'static {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "small packets will wait");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write_timeout));
    let service = service_fn(move |request: Request<Incoming>| {
        let app = app.clone();
        async move { Ok::<_, Infallible>(app.answer((peer, request)).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        // It also ends a connection that sends nothing, before its first request or after an answer.
        .header_read_timeout(limits.head_timeout)
        // The buffer alone may grow beyond its limit in one read.
        .max_header_size(MAX_HEAD_BYTES)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(Box::pin(stream)), service)
}
