//! Limits on what one client may use.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tests::TestApp;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread")]
async fn a_too_large_head_is_431() {
    let app = TestApp::start().await;
    let of_length = |bytes: usize| {
        let head = |filling: &str| {
            format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: {filling}\r\n\r\n")
        };
        head(&"x".repeat(bytes - head("").len()))
    };
    let answer = app.send_raw(of_length(64 * 1024 - 1)).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let long = of_length(64 * 1024 + 1);
    let many = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: x\r\n".repeat(101));
    for request in [long, many] {
        let answer = app.send_raw(request).await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_http_is_400() {
    let app = TestApp::start().await;
    for request in [
        "nonsense\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nbad header\r\n\r\n",
    ] {
        let answer = app.send_raw(request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request}: {answer}");
    }
    // A length together with chunks is ambiguous.
    let smuggled = "POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\
                    Connection: close\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = app.send_raw(smuggled).await;
    assert!(!answer.contains("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_head_closes_the_connection() {
    let app = TestApp::builder().limits(|limits| limits.head_timeout = SHORT).start().await;
    for head in
        ["", "G", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "PRI * HTTP/2.0\r\n"]
    {
        let answer = app.send_raw(head).await;
        assert!(!answer.contains("HTTP/1.1 200 "), "{head}: {answer}");
    }
    // A connection that stays idle after a response is closed too.
    let answer = app.send_raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_body_is_408() {
    let app = TestApp::builder().limits(|limits| limits.body_timeout = SHORT).start().await;
    let ann = app.account("ann").await;
    let answer = app.send_raw(post(&ann.key, "{\"title\":", 100)).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("{\"error\":"), "{answer}");
}

/// The start of a request that declares more bytes than it sends.
fn post(key: &str, body: &str, length: usize) -> String {
    format!(
        "POST /api/ext/v2/albums HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_body_changes_nothing() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let mut stream = app.connect().await;
    stream.write_all(post(&ann.key, r#"{"title": "t"}"#, 15).as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    TestApp::read_until_closed(stream).await;
    assert_eq!(app.get("/albums", &ann.key).await.json["pagination"]["total"], 0);
}

/// A simple request that asks the server to close the connection afterwards.
const LAST: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn half_open_connections_do_not_block_others() {
    let app = TestApp::builder().limits(|limits| limits.connections = 8).start().await;
    let mut half_open = Vec::new();
    for number in 0..24 {
        let mut stream = app.connect().await;
        // Half of them have sent a part of a head.
        if number % 2 == 0 {
            stream.write_all(b"GET /healthz HTTP/1.1\r\nHost").await.unwrap();
        }
        half_open.push(stream);
    }
    let answer = app.send_raw(LAST).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    // The oldest half-open connection was closed first.
    assert_eq!(TestApp::read_until_closed(half_open.remove(0)).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_of_a_trusted_proxy_have_no_share_and_the_oldest_idle_one_is_evicted() {
    let builder = TestApp::builder().limits(|limits| limits.connections = 8);
    let app = builder.trusted_proxy("127.0.0.1/32").start().await;
    let mut kept = Vec::new();
    for _ in 0..8 {
        let mut stream = app.connect().await;
        answer_of(&mut stream, HEALTH).await;
        kept.push(stream);
    }
    // A request makes this connection the most recently used one.
    answer_of(&mut kept[0], HEALTH).await;
    assert!(app.send_raw(LAST).await.starts_with("HTTP/1.1 200 "));
    assert_eq!(TestApp::read_until_closed(kept.remove(1)).await, "");
    for mut stream in kept {
        answer_of(&mut stream, HEALTH).await;
    }
}

/// Requests whose bodies do not arrive must not block others.
#[tokio::test(flavor = "multi_thread")]
async fn half_sent_bodies_do_not_block_others() {
    for proxy in [None, Some("127.0.0.1/32")] {
        let mut builder = TestApp::builder().limits(|limits| limits.connections = 8);
        if let Some(proxy) = proxy {
            builder = builder.trusted_proxy(proxy);
        }
        let app = builder.start().await;
        let ann = app.account("ann").await;
        let body = json!({"title": "t"}).to_string();
        let mut half_sent = Vec::new();
        for _ in 0..24 {
            half_sent.push(start_request(&app, &ann.key, body.len()).await);
        }
        let answer = app.send_raw(LAST).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{proxy:?}: {answer}");
        // The oldest connection was closed first. The newest one continues.
        assert_eq!(TestApp::read_until_closed(half_sent.remove(0)).await, "", "{proxy:?}");
        let mut youngest = half_sent.pop().unwrap();
        youngest.write_all(body.as_bytes()).await.unwrap();
        assert!(answer_of(&mut youngest, "").await.starts_with("HTTP/1.1 201 "), "{proxy:?}");
    }
}

/// A request in progress: the service waits for its body.
async fn start_request(app: &TestApp, key: &str, length: usize) -> TcpStream {
    let mut stream = app.connect().await;
    let head = post(key, "", length).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

/// Sends a request, reads the short response and keeps the connection.
async fn answer_of(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"}") {
        received.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(received).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_finishes_running_requests_and_accepts_no_others() {
    let mut app = TestApp::start().await;
    let ann = app.account("ann").await;
    let idle = app.connect().await;
    let body = json!({"title": "finished"}).to_string();
    let (first, second) = body.split_at(5);
    let mut running = start_request(&app, &ann.key, body.len()).await;
    running.write_all(first.as_bytes()).await.unwrap();

    let ended = app.shut_down();
    // The idle connection is closed at once, and no further connection is accepted.
    assert_eq!(TestApp::read_until_closed(idle).await, "");
    assert!(TcpStream::connect(app.address).await.is_err());
    running.write_all(second.as_bytes()).await.unwrap();
    let answer = TestApp::read_until_closed(running).await;
    assert!(answer.starts_with("HTTP/1.1 201 ") && answer.contains("finished"), "{answer}");
    ended.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_waits_at_most_the_drain_timeout() {
    let mut app = TestApp::builder().limits(|limits| limits.drain_timeout = SHORT).start().await;
    let ann = app.account("ann").await;
    let mut running = app.connect().await;
    running.write_all(post(&ann.key, "{", 100).as_bytes()).await.unwrap();
    // A response on another connection proves that the first connection was accepted.
    app.send(app.request(Method::GET, "/healthz")).await.expect(200);
    timeout(SHORT * 10, app.shut_down()).await.expect("it ends in time").unwrap().unwrap();
}
