mod client_stream;
mod connections;

use std::{
    fmt, io,
    io::Write as _,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use http::Request;
use http_body::Body as _;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulConnection, GracefulShutdown},
};
use ipnet::IpNet;
use library::subscriber_prefix;
use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpStream},
    time,
};

pub use self::client_stream::Activity;
use self::{
    client_stream::{AnsweredBody, ClientStream, SEND_BUFFER_BYTES},
    connections::Connections,
};
use crate::{App, HttpLimits};

/// The longest head of a request, in bytes and in header lines; a longer one gets 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// How long to wait after the system refused a connection, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The answer to a connection of an address whose share of all connections is busy.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n\
    Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 81\r\n\r\n\
    {\"error\":\"too many requests of this address are in progress; retry after a wait\"}";

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
    let connections = Connections::new(limits.connections);
    let graceful = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Further connections wait in the system's backlog until this one has a place.
        let place = tokio::select! {
            place = connections.admit(client(peer, &app.service.config.trusted_proxies)) => place,
            () = &mut shutdown => break,
        };
        let Some(place) = place else {
            refuse(stream, peer);
            continue;
        };
        let activity = Activity::new(place);
        let connection = graceful.watch(connection(app.clone(), stream, peer, &limits, activity.clone()));
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%peer, %error, "a connection ended early");
                },
                () = activity.place.evicted() => tracing::debug!(%peer, "an idle connection made room for another"),
            }
        });
    }
    drop(listener);
    if time::timeout(limits.drain_timeout, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests that were still running were cut off");
    }
    Ok(())
}

/// The client whose share of connections a peer uses; `None` for a trusted proxy, behind which there are many.
fn client(peer: SocketAddr, trusted_proxies: &[IpNet]) -> Option<IpAddr> {
    let address = peer.ip().to_canonical();
    let is_proxy = trusted_proxies.iter().any(|network| network.contains(&address));
    (!is_proxy).then(|| subscriber_prefix(address))
}

/// Answers a connection that gets no place. A new connection has an empty buffer, so that nothing waits.
fn refuse(stream: TcpStream, peer: SocketAddr) {
    tracing::debug!(%peer, "a connection was refused: the share of its address is busy");
    if let Err(error) = stream.into_std().and_then(|mut stream| stream.write_all(BUSY)) {
        tracing::debug!(%peer, %error, "a refused connection was not told why");
    }
}

/// The connection was evicted while its next request arrived.
#[derive(Debug)]
struct Evicted;

impl fmt::Display for Evicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection had been closed to make room for another")
    }
}

impl std::error::Error for Evicted {}

/// HTTP/1.1 only: there every limit on what a client may cost holds. HTTP/2 is for a reverse proxy to speak.
fn connection(
    app: App,
    stream: TcpStream,
    peer: SocketAddr,
    limits: &HttpLimits,
    activity: Arc<Activity>,
) -> impl GracefulConnection<Error: fmt::Display> + Send + 'static {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "small packets will wait");
    }
    if let Err(error) = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER_BYTES) {
        tracing::debug!(%peer, %error, "the system's send buffer has another size");
    }
    let stream = ClientStream::new(stream, activity.clone(), limits);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let (app, activity) = (app.clone(), activity.clone());
        async move {
            if !activity.place.begin_request(!request.body().is_end_stream()) {
                return Err(Evicted);
            }
            request.extensions_mut().insert(activity.clone());
            let reply = app.answer((peer, request)).await;
            Ok(reply.map(|body| AnsweredBody::new(body, activity)))
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        // It also ends a connection that sends nothing, before its first request or after an answer.
        .header_read_timeout(limits.head_timeout)
        // The buffer alone may grow beyond its limit in one read.
        .max_header_size(MAX_HEAD_BYTES)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_of_a_connection_announces_its_length() {
        let refusal = std::str::from_utf8(BUSY).unwrap();
        let (head, body) = refusal.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{}", body.len());
        assert!(body.starts_with("{\"error\":"));
    }

    #[test]
    fn connections_count_by_subscriber_and_those_of_trusted_proxies_do_not() {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let of = |peer: &str| client(peer.parse().unwrap(), &trusted);
        assert_eq!(of("10.0.0.1:1"), None);
        assert_eq!(of("[::ffff:10.0.0.1]:1"), None);
        assert_eq!(of("[::ffff:192.0.2.1]:1"), of("192.0.2.1:2"));
        assert_eq!(of("[2001:db8::1]:1"), of("[2001:db8::2]:1"));
        assert_ne!(of("[2001:db8::1]:1"), of("[2001:db8:0:1::1]:1"));
    }
}
