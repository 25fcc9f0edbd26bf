//! Accepts connections and serves requests until shutdown.

mod activity;
mod client_stream;
mod connections;
mod http2;

use std::{
    fmt,
    future::poll_fn,
    io,
    io::Write as _,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use http::{Method, Request, Response, StatusCode, Version};
use http_body::Body as _;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2 as h2},
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulConnection,
};
use ipnet::IpNet;
use rustls::ServerConfig;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{self, error::Elapsed},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::either::Either;

pub(crate) use self::activity::RequestActivity;
use self::{
    activity::{Activity, InProgress, TrackedBody},
    client_stream::{ClientStream, limit_buffer},
    connections::{Client, Connections, NoSlot},
    http2::{Delivery, Streams},
};
use crate::{
    HttpLimits,
    reply::{Reply, error, retry_after},
};

/// Upper bounds on the head of a request, in bytes and with HTTP/1.1 in header lines; a larger one gets 431.
const MAX_HEAD_BYTES: u32 = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// Pause after `accept` failed, most likely for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The reply to a connection from a client whose share of connections is busy.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n\
    Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 81\r\n\r\n\
    {\"error\":\"too many requests of this address are in progress; retry after a wait\"}";
/// `Retry-After` of the reply to a request for which there is no slot, in seconds. [`BUSY`] contains the same number.
const BUSY_RETRY_S: u64 = 5;
/// The name of HTTP/2 in a TLS handshake (RFC 9113, section 3.2).
const HTTP2: &[u8] = b"h2";
/// How long an HTTP/2 connection that was asked to end may stay idle before it is closed.
const MAX_FAREWELL: Duration = Duration::from_secs(2);

/// How a server treats its clients.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Limits on each connection and on all of them.
    pub limits: HttpLimits,
    /// Networks of reverse proxies, whose connections carry many clients.
    pub trusted_proxies: Vec<IpNet>,
    /// Maps an address to the client that it belongs to, such as an IPv6 address to its /64 network.
    pub client_of: fn(IpAddr) -> IpAddr,
    /// Maps an address to the network of its organisation, such as an IPv4 address to its /24 network.
    pub network_of: fn(IpAddr) -> IpAddr,
    /// Serves https with this configuration; `None` serves http.
    pub tls: Option<Arc<ServerConfig>>,
}

/// Serves HTTP/1.1, and over TLS also HTTP/2, until `shutdown` is ready. Then it stops accepting and lets running requests finish
/// for as long as the limits allow. `handler` gets each request, in the form of HTTP/1.1, with the address of its peer.
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
    tracing::debug!(address = %listener.local_addr()?, "serving");
    let connections = Connections::new(limits.connections);
    // Each connection holds a receiver until it has ended.
    let (stop, _) = watch::channel(());
    let mut shutdown = pin!(shutdown);
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
        let connection = Connection { peer, limits, activity: activity.clone(), stopping: stop.subscribe() };
        let served = connection.serve(handler.clone(), stream, acceptor.clone());
        tokio::spawn(async move {
            tokio::select! {
                // Polls the connection first, so that the HTTP library writes what it has before the connection is closed.
                biased;
                ended = served => if let Err(error) = ended {
                    tracing::debug!(%peer, %error, "a connection ended early");
                },
                () = activity.slot.evicted() => tracing::debug!(%peer, "a connection was closed for a new one"),
            }
        });
    }
    drop(listener);
    stop.send_replace(());
    if time::timeout(limits.drain_timeout, stop.closed()).await.is_err() {
        tracing::warn!("requests still running at the end of the drain time were cut off");
    }
    Ok(())
}

/// The client whose share of connections a peer uses; `None` for a trusted proxy.
fn client(peer: SocketAddr, options: &ServeOptions) -> Option<Client> {
    let address = peer.ip().to_canonical();
    let is_proxy = options.trusted_proxies.iter().any(|network| network.contains(&address));
    let client = || Client { address: (options.client_of)(address), network: (options.network_of)(address) };
    (!is_proxy).then(client)
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
    if let Err(error) = limit_buffer(&stream) {
        tracing::debug!(%peer, %error, "the size of the send buffer could not be set");
    }
    ClientStream::new(stream, activity, limits)
}

/// Why a connection ended early.
#[derive(Debug, thiserror::Error)]
enum ConnectionError {
    #[error("the TLS handshake took too long")]
    SlowHandshake(#[from] Elapsed),
    #[error("the TLS handshake failed: {0}")]
    Handshake(#[from] io::Error),
    #[error(transparent)]
    Http(#[from] hyper::Error),
}

/// The stream of a connection with or without TLS.
type Stream = Either<ClientStream<TcpStream>, Box<TlsStream<ClientStream<TcpStream>>>>;

/// A connection without its stream.
struct Connection {
    peer: SocketAddr,
    limits: HttpLimits,
    activity: Arc<Activity>,
    /// Changes once, when the server shuts down.
    stopping: watch::Receiver<()>,
}

impl Connection {
    /// Serves the requests of the connection until it ends.
    async fn serve<H, F>(
        mut self,
        handler: H,
        stream: ClientStream<TcpStream>,
        acceptor: Option<TlsAcceptor>,
    ) -> Result<(), ConnectionError>
    where
        H: Fn(SocketAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Reply> + Send + 'static,
    {
        let limits = self.limits;
        let stream = match acceptor {
            None => Stream::Left(stream),
            Some(acceptor) => tokio::select! {
                accepted = time::timeout(limits.head_timeout, acceptor.accept(stream)) => {
                    Stream::Right(Box::new(accepted??))
                }
                _ = self.stopping.changed() => return Ok(()),
            },
        };
        let is_http2 =
            matches!(&stream, Stream::Right(tls) if tls.get_ref().1.alpn_protocol() == Some(HTTP2));
        let service = service(handler, self.peer, self.activity.clone());
        if is_http2 {
            let connection = h2::Builder::new(Streams { limits })
                .timer(TokioTimer::new())
                .max_concurrent_streams(http2::MAX_STREAMS)
                .max_header_list_size(MAX_HEAD_BYTES)
                .max_send_buf_size(http2::MAX_BUFFERED_BYTES)
                .serve_connection(TokioIo::new(stream), service);
            self.run(connection, is_http2).await
        } else {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                // This time-out also closes an idle connection, before its first request or after a response.
                .header_read_timeout(limits.head_timeout)
                // Both limits are needed, because a single read may grow the buffer beyond `max_buf_size`.
                .max_header_size(MAX_HEAD_BYTES as usize)
                .max_buf_size(MAX_HEAD_BYTES as usize)
                .max_headers(MAX_HEADERS)
                .serve_connection(TokioIo::new(stream), service);
            self.run(connection, is_http2).await
        }
    }

    /// Runs a connection until it ends. At shutdown, clients are asked to end the connection, idle HTTP/2 clients too.
    /// If an HTTP/2 client does not react, the connection is closed after at least [`MAX_FAREWELL`], as soon as it has
    /// been idle for that long.
    async fn run(
        mut self,
        connection: impl GracefulConnection<Error = hyper::Error>,
        is_http2: bool,
    ) -> Result<(), ConnectionError> {
        let max_idle = self.limits.head_timeout;
        let mut connection = pin!(connection);
        let mut is_ending = false;
        loop {
            let idle = async {
                if is_ending {
                    time::sleep(MAX_FAREWELL).await;
                }
                self.activity.idle_for(if is_ending { MAX_FAREWELL } else { max_idle }).await;
            };
            tokio::select! {
                ended = poll_fn(|cx| self.activity.poll(connection.as_mut(), is_http2, cx)) => return Ok(ended?),
                () = self.activity.completed(), if is_http2 => continue,
                () = idle, if is_http2 => if is_ending { return Ok(()) },
                _ = self.stopping.changed(), if !is_ending => {}
            }
            is_ending = true;
            connection.as_mut().graceful_shutdown();
        }
    }
}

/// Passes the requests of a connection to the handler, as long as there are slots for them.
fn service<H, F>(
    handler: H,
    peer: SocketAddr,
    activity: Arc<Activity>,
) -> impl Service<
    Request<Incoming>,
    Response = Response<TrackedBody>,
    Error = Evicted,
    Future: Future<Output = Result<Response<TrackedBody>, Evicted>> + Send + 'static,
>
where
    H: Fn(SocketAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    service_fn(move |mut request: Request<Incoming>| {
        let (handler, activity) = (handler.clone(), activity.clone());
        async move {
            let is_http2 = request.version() == Version::HTTP_2;
            if is_http2 {
                http2::as_http1(&mut request);
            }
            let is_head = request.method() == Method::HEAD;
            let has_body = !request.body().is_end_stream();
            let stream = Delivery::of_this_stream();
            let (reply, in_progress) = match InProgress::begin(&activity, has_body, stream.as_ref()) {
                Ok(in_progress) => {
                    request.extensions_mut().insert(in_progress.request());
                    (handler(peer, request).await, Some(in_progress))
                }
                Err(NoSlot::Evicted) => return Err(Evicted),
                Err(NoSlot::ForClient | NoSlot::ForAnyone) => (busy(), None),
            };
            let reply = if is_http2 { http2::as_http2(reply, is_head) } else { reply };
            Ok(reply.map(|body| TrackedBody::new(body, stream, in_progress)))
        }
    })
}

/// The reply to a further request on a connection with requests in progress, if there is no slot for it.
fn busy() -> Reply {
    let message = "too many requests are in progress; retry after a wait";
    retry_after(error(StatusCode::SERVICE_UNAVAILABLE, message), BUSY_RETRY_S)
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
            network_of: |address| address,
            tls: None,
        };
        let of = |peer: &str| client(peer.parse().unwrap(), &options);
        assert_eq!(of("10.0.0.1:1"), None);
        assert_eq!(of("[::ffff:10.0.0.1]:1"), None);
        assert_eq!(of("[::ffff:192.0.2.1]:1"), of("192.0.2.1:2"));
        assert_ne!(of("192.0.2.1:1"), of("192.0.2.2:1"));
    }
}
