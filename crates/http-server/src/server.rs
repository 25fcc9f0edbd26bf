//! Accepts connections and serves requests until shutdown.

mod client_stream;
mod connections;
mod tls;

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
use rustls::ServerConfig;
use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpStream},
    time,
};
use tokio_rustls::TlsAcceptor;

pub(crate) use self::client_stream::Activity;
use self::{
    client_stream::{ClientStream, SEND_BUFFER_BYTES, TrackedBody},
    connections::Connections,
    tls::MaybeTls,
};
use crate::{HttpLimits, reply::Reply};

/// Upper bounds on the head of a request, in bytes and in header lines; a larger one gets 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// Pause after `accept` failed, most likely for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The reply to a connection from a client whose share of connections is busy.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n\
    Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 81\r\n\r\n\
    {\"error\":\"too many requests of this address are in progress; retry after a wait\"}";

/// How a server treats its clients.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Limits on each connection and on all of them.
    pub limits: HttpLimits,
    /// Networks of reverse proxies, whose connections carry many clients.
    pub trusted_proxies: Vec<IpNet>,
    /// Maps an address to the client that it belongs to, such as an IPv6 address to its /64 network.
    pub client_of: fn(IpAddr) -> IpAddr,
    /// Serves https with this configuration; `None` serves http.
    pub tls: Option<Arc<ServerConfig>>,
}

/// Serves HTTP/1.1 until `shutdown` is ready, then stops accepting and lets running requests finish for as long as the
/// limits allow. `handler` gets each request with the address of its peer.
///
/// # Errors
/// The listener's address cannot be read. The failure of a single connection is logged and ends only that connection.
pub async fn serve<H, F>(
    handler: H,
    options: ServeOptions,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()>
where
    H: Fn(SocketAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    let limits = options.limits;
    let acceptor = options.tls.clone().map(TlsAcceptor::from);
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
        // Further connections wait in the system's backlog until this one is admitted.
        let slot = tokio::select! {
            slot = connections.admit(client(peer, &options)) => slot,
            () = &mut shutdown => break,
        };
        let Some(slot) = slot else {
            match acceptor {
                None => reject(stream, peer),
                Some(_) => tracing::debug!(%peer, "a connection was closed: its client's share is busy"),
            }
            continue;
        };
        let activity = Activity::new(slot);
        let stream = client_stream(stream, peer, &limits, activity.clone());
        let stream = MaybeTls::new(stream, acceptor.as_ref());
        let connection = graceful.watch(connection(handler.clone(), stream, peer, &limits, activity.clone()));
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%peer, %error, "a connection ended early");
                },
                () = activity.slot.evicted() => tracing::debug!(%peer, "an idle connection was closed for a new one"),
            }
        });
    }
    drop(listener);
    if time::timeout(limits.drain_timeout, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests still running at the end of the drain time were cut off");
    }
    Ok(())
}

/// The client whose share of connections a peer uses; `None` for a trusted proxy.
fn client(peer: SocketAddr, options: &ServeOptions) -> Option<IpAddr> {
    let address = peer.ip().to_canonical();
    let is_proxy = options.trusted_proxies.iter().any(|network| network.contains(&address));
    (!is_proxy).then(|| (options.client_of)(address))
}

/// Replies to a connection that is not admitted. The write does not block, because the buffer of a new connection is
/// empty.
fn reject(stream: TcpStream, peer: SocketAddr) {
    tracing::debug!(%peer, "a connection was rejected: its client's share is busy");
    if let Err(error) = stream.into_std().and_then(|mut stream| stream.write_all(BUSY)) {
        tracing::debug!(%peer, %error, "the rejection of a connection could not be sent");
    }
}

/// The connection was evicted while its next request arrived.
#[derive(Debug)]
struct Evicted;

impl fmt::Display for Evicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection was closed for a new one")
    }
}

impl std::error::Error for Evicted {}

/// A TCP stream within the limits.
fn client_stream(
    stream: TcpStream,
    peer: SocketAddr,
    limits: &HttpLimits,
    activity: Arc<Activity>,
) -> ClientStream<TcpStream> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "TCP_NODELAY could not be set");
    }
    if let Err(error) = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER_BYTES) {
        tracing::debug!(%peer, %error, "the size of the send buffer could not be set");
    }
    ClientStream::new(stream, activity, limits)
}

/// Serves HTTP/1.1 only, because the limits are implemented for it. A reverse proxy can speak HTTP/2 to clients.
fn connection<H, F>(
    handler: H,
    stream: MaybeTls<ClientStream<TcpStream>>,
    peer: SocketAddr,
    limits: &HttpLimits,
    activity: Arc<Activity>,
) -> impl GracefulConnection<Error: fmt::Display> + Send + 'static + use<H, F>
where
    H: Fn(SocketAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        let (handler, activity) = (handler.clone(), activity.clone());
        async move {
            if !activity.slot.begin_request(!request.body().is_end_stream()) {
                return Err(Evicted);
            }
            request.extensions_mut().insert(activity.clone());
            let reply = handler(peer, request).await;
            Ok(reply.map(|body| TrackedBody::new(body, activity)))
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        // It also closes a connection that is idle, before its first request or after a response.
        .header_read_timeout(limits.head_timeout)
        // Both limits are needed: one read may grow the buffer beyond its own.
        .max_header_size(MAX_HEAD_BYTES)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rejection_declares_its_length() {
        let reply = std::str::from_utf8(BUSY).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{}", body.len());
        assert!(body.starts_with("{\"error\":"));
    }

    #[test]
    fn connections_of_trusted_proxies_belong_to_no_client() {
        let options = ServeOptions {
            limits: HttpLimits::default(),
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
            client_of: |address| address,
            tls: None,
        };
        let of = |peer: &str| client(peer.parse().unwrap(), &options);
        assert_eq!(of("10.0.0.1:1"), None);
        assert_eq!(of("[::ffff:10.0.0.1]:1"), None);
        assert_eq!(of("[::ffff:192.0.2.1]:1"), of("192.0.2.1:2"));
        assert_ne!(of("192.0.2.1:1"), of("192.0.2.2:1"));
    }
}
