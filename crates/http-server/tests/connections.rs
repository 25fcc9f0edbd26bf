//! Connections when all slots are taken.
#![expect(
    clippy::unwrap_used,
    reason = "clippy allows it in test functions; the helper functions of the tests need it, too"
)]

use std::{
    future::pending,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use http::{Request, StatusCode};
use http_server::{
    HttpLimits, ServeOptions,
    reply::{Reply, with_body},
    response_body::full,
};
use hyper::body::Incoming;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    time::timeout,
};

const SHORT: Duration = Duration::from_millis(300);
/// Longer than any time limit that a test sets.
const LONG: Duration = Duration::from_secs(20);
/// More than the system buffers for a client that does not read.
const LARGE_BYTES: usize = 16 << 20;
const SMALL: &str = "GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

async fn respond(request: Request<Incoming>) -> Reply {
    let body = match request.uri().path() {
        "/large" => full(vec![b' '; LARGE_BYTES]),
        "/document" => full(vec![b' '; 58_000]),
        "/never" => pending().await,
        _ => full("small"),
    };
    with_body(StatusCode::OK, body)
}

fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => (address & Ipv4Addr::new(255, 255, 255, 0)).into(),
        IpAddr::V6(_) => address,
    }
}

/// Starts a server. If `trusts` is set, the server trusts this machine as a proxy, so no share of connections limits it.
async fn start(limits: HttpLimits, trusts: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let trusted_proxies = if trusts { vec!["127.0.0.1/32".parse().unwrap()] } else { Vec::new() };
    let options =
        ServeOptions { limits, trusted_proxies, client_of: |address| address, network_of, tls: None };
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

/// A connection with a request that the handler never answers. When this function returns, the handler has the request.
async fn unanswered(address: SocketAddr) -> TcpStream {
    let mut client = TcpStream::connect(address).await.unwrap();
    let requests =
        b"GET /small HTTP/1.1\r\nHost: localhost\r\n\r\nGET /never HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.write_all(requests).await.unwrap();
    client.peek(&mut [0; 1]).await.unwrap();
    client
}

/// Opens a connection from the loopback address with this last byte, and sends requests.
async fn requests_from(last: u8, address: SocketAddr, requests: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).unwrap();
    let mut client = socket.connect(address).await.unwrap();
    // The server may refuse the connection, or respond before it has read the requests.
    let _ = client.write_all(requests.as_bytes()).await;
    client
}

/// Everything that arrives until the server closes the connection.
async fn read_until_closed(mut stream: TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    // A connection that is cut off may end with an error.
    let _ = timeout(LONG, stream.read_to_end(&mut received)).await.unwrap();
    received
}

async fn answer_to_small(address: SocketAddr) -> String {
    answer_to_small_from(1, address).await
}

async fn answer_to_small_from(last: u8, address: SocketAddr) -> String {
    let stream = requests_from(last, address, SMALL).await;
    String::from_utf8(read_until_closed(stream).await).unwrap()
}

fn connections(connections: usize) -> HttpLimits {
    HttpLimits { connections, ..HttpLimits::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn new_connections_wait_while_all_are_busy() {
    let address = start(connections(2), true).await;
    let (first, second) = (unanswered(address).await, unanswered(address).await);
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
    let clients = (unanswered(address).await, unanswered(address).await);
    let answer = answer_to_small(address).await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("Retry-After: "), "{answer}");
    drop(clients);
    // The server soon notices that the clients have closed their connections.
    let freed = async { while !answer_to_small(address).await.starts_with("HTTP/1.1 200 ") {} };
    timeout(LONG, freed).await.expect("the slots of closed connections are freed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stops_reading_is_cut_off() {
    let limits =
        HttpLimits { write_timeout: SHORT, min_response_bytes_per_s: u32::MAX, ..HttpLimits::default() };
    let address = start(limits, true).await;
    let mut reader = busy_reader(address).await;
    // A write fails only after the server has closed the connection: the system then answers with a reset.
    let closed = async { while reader.write_all(b" ").await.is_ok() && reader.readable().await.is_ok() {} };
    timeout(LONG, closed).await.expect("it is cut off");
    let received = read_until_closed(reader).await;
    assert!((1..LARGE_BYTES).contains(&received.len()), "{}", received.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_read_nothing_do_not_block_others() {
    let pipelined = "GET /document HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(17);
    for trusts in [false, true] {
        let address = start(connections(16), trusts).await;
        let mut silent = Vec::new();
        for n in 0..64 {
            silent.push(requests_from(1 + n % 3, address, &pipelined).await);
        }
        for _ in 0..32 {
            let answer = timeout(LONG, answer_to_small_from(4, address)).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        }
    }
}
