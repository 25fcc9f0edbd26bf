//! Connections whose clients do not read their responses.
#![expect(
    clippy::unwrap_used,
    reason = "clippy allows it in test functions; the helper functions of the tests need it, too"
)]

use std::{future::pending, net::SocketAddr, time::Duration};

use http::{Request, StatusCode};
use http_server::{
    HttpLimits, ServeOptions,
    body::full,
    reply::{Reply, with_body},
};
use hyper::body::Incoming;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

const SHORT: Duration = Duration::from_millis(300);
/// Longer than any limit that a test sets.
const LONG: Duration = Duration::from_secs(20);
/// More than the system buffers for a client that does not read.
const LARGE_BYTES: usize = 16 << 20;
const SMALL: &str = "GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

async fn respond(request: Request<Incoming>) -> Reply {
    let body = if request.uri().path() == "/large" { full(vec![b' '; LARGE_BYTES]) } else { full("small") };
    with_body(StatusCode::OK, body)
}

/// Starts a server. If `trusts` is set, this machine is a proxy, so that it has no share of connections.
async fn start(limits: HttpLimits, trusts: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let trusted_proxies = if trusts { vec!["127.0.0.1/32".parse().unwrap()] } else { Vec::new() };
    let options = ServeOptions { limits, trusted_proxies, client_of: |address| address, tls: None };
    let handler = |_, request| respond(request);
    tokio::spawn(http_server::serve(handler, options, listener, pending::<()>()));
    address
}

/// A connection whose response has begun and cannot end, because its client reads nothing.
async fn busy_reader(address: SocketAddr) -> TcpStream {
    let mut reader = TcpStream::connect(address).await.unwrap();
    reader.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    reader.peek(&mut [0; 1]).await.unwrap();
    reader
}

/// Everything that arrives until the server closes the connection.
async fn read_until_closed(mut stream: TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    // A connection that is cut off may end with an error.
    let _ = timeout(LONG, stream.read_to_end(&mut received)).await.unwrap();
    received
}

async fn answer_to_small(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may answer before it has read the request.
    let _ = stream.write_all(SMALL.as_bytes()).await;
    String::from_utf8(read_until_closed(stream).await).unwrap()
}

fn connections(connections: usize) -> HttpLimits {
    HttpLimits { connections, ..HttpLimits::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn new_connections_wait_while_all_are_busy() {
    let address = start(connections(2), true).await;
    let (first, second) = (busy_reader(address).await, busy_reader(address).await);
    let mut waiting = TcpStream::connect(address).await.unwrap();
    waiting.write_all(SMALL.as_bytes()).await.unwrap();
    assert!(timeout(SHORT, waiting.peek(&mut [0; 1])).await.is_err(), "the connection must wait");
    drop(first);
    assert!(read_until_closed(waiting).await.starts_with(b"HTTP/1.1 200 "));
    // The other connection was not closed.
    let mut byte = [0; 1];
    second.peek(&mut byte).await.unwrap();
    assert_eq!(byte, *b"H");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_with_a_busy_share_gets_503() {
    let address = start(connections(2), false).await;
    let readers = (busy_reader(address).await, busy_reader(address).await);
    let answer = answer_to_small(address).await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("Retry-After: "), "{answer}");
    drop(readers);
    // The server soon detects that they are closed.
    let freed = async { while !answer_to_small(address).await.starts_with("HTTP/1.1 200 ") {} };
    timeout(LONG, freed).await.expect("the slots of closed connections are freed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stops_reading_is_cut_off() {
    let limits = HttpLimits { write_timeout: SHORT, min_response_bytes_per_s: u32::MAX, ..connections(1) };
    let address = start(limits, true).await;
    let reader = busy_reader(address).await;
    // This one is admitted only after the first is closed.
    let answer = answer_to_small(address).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let received = read_until_closed(reader).await;
    assert!((1..LARGE_BYTES).contains(&received.len()), "{}", received.len());
}
