//! HTTP/2, which clients choose in the TLS handshake.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use futures_util::future::join_all;
use http_body_util::{BodyExt as _, Channel, Either, Full, channel::Sender};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    client::conn::http2::{Builder, SendRequest},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tests::{TestApp, within};
use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_rustls::TlsConnector;
use web::HttpLimits;

use super::{
    metrics,
    tls::{SHORT, connect, server_and_client_of},
};

/// Longer than any time limit that a test sets.
const LONG: Duration = Duration::from_secs(20);
const IDLE: Duration = Duration::from_secs(2);
const OPENAPI: &str = "https://localhost/api/ext/v2/openapi.json";

type RequestBody = Either<Full<Bytes>, Channel<Bytes>>;

async fn start(limits: impl FnOnce(&mut HttpLimits)) -> (TestApp, TlsConnector) {
    let (server, client) = server_and_client_of(&["h2", "http/1.1"]);
    (TestApp::builder().tls(server).limits(limits).start().await, client)
}

/// A connection, and the task that runs it until it is closed. Each response has a flow-control window of this many bytes.
async fn open(
    app: &TestApp,
    client: &TlsConnector,
    window: u32,
) -> (SendRequest<RequestBody>, JoinHandle<hyper::Result<()>>) {
    let stream = TokioIo::new(connect(app, client).await);
    let mut builder = Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window).timer(TokioTimer::new());
    // Pings alone do not keep a connection open.
    builder.keep_alive_interval(SHORT / 2).keep_alive_while_idle(true);
    let (sender, connection) = builder.handshake(stream).await.unwrap();
    (sender, tokio::spawn(connection))
}

fn get(url: &str) -> Request<RequestBody> {
    Request::get(url).body(Either::Left(Full::default())).unwrap()
}

fn head(url: &str) -> Request<RequestBody> {
    Request::head(url).body(Either::Left(Full::default())).unwrap()
}

/// A request to register an app, and the channel that sends its body.
fn registration() -> (Request<RequestBody>, Sender<Bytes>) {
    let (sender, body) = Channel::new(4);
    let request = Request::post("https://localhost/api/oauth/register")
        .header("content-type", "application/json")
        .body(Either::Right(body))
        .unwrap();
    (request, sender)
}

/// Waits until this many requests are in progress.
async fn until_in_progress(app: &TestApp, count: f64) {
    let url = app.serve_metrics().await;
    let reached = async { while metrics::read(&url).await["photos_http_requests_in_progress"] < count {} };
    within(reached).await;
}

async fn text(response: Response<Incoming>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_answers_many_requests_at_once() {
    let (app, client) = start(|_| ()).await;
    let (connection, _) = open(&app, &client, 1 << 20).await;
    let answers = join_all((0..200).map(|_| {
        let mut connection = connection.clone();
        async move {
            connection.ready().await.unwrap();
            let response = connection.send_request(get(OPENAPI)).await.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            assert!(response.headers().get("connection").is_none());
            text(response).await
        }
    }));
    let answers = answers.await;
    assert!(answers[0].len() > 20_000 && answers.iter().all(|answer| *answer == answers[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn request_bodies_arrive_and_the_authority_is_checked_as_the_host() {
    let (app, client) = start(|_| ()).await;
    let (mut connection, _) = open(&app, &client, 1 << 20).await;
    let (request, mut body) = registration();
    let answer = tokio::spawn(connection.send_request(request));
    for part in [r#"{"client_name":"a app","redir"#, r#"ect_uris":["http://127.0.0.1/cb"]}"#] {
        body.send_data(Bytes::from_static(part.as_bytes())).await.unwrap();
    }
    drop(body);
    let answer = answer.await.unwrap().unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert!(text(answer).await.contains("client_id"));

    let foreign = connection.send_request(get("https://evil.example/api/ext/v2/openapi.json")).await.unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let answer = connection.send_request(head(OPENAPI)).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let length: usize = answer.headers()["content-length"].to_str().unwrap().parse().unwrap();
    assert!(length > 20_000, "{length}");
    assert_eq!(text(answer).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unread_response_is_cancelled_and_its_connection_stays_open() {
    let (app, client) = start(|limits| {
        limits.write_timeout = SHORT;
        limits.min_response_bytes_per_s = u32::MAX;
    })
    .await;
    let (mut connection, _) = open(&app, &client, 1_000).await;
    let stalled = connection.send_request(get(OPENAPI)).await.unwrap();
    assert_eq!(stalled.status(), StatusCode::OK);
    let length: u32 = stalled.headers()["content-length"].to_str().unwrap().parse().unwrap();
    // The window is one byte smaller than the response.
    let (mut second, _) = open(&app, &client, length - 1).await;
    let stalled_at_the_end = second.send_request(get(OPENAPI)).await.unwrap();
    sleep(SHORT * 8).await;
    for stalled in [stalled, stalled_at_the_end] {
        let error = stalled.into_body().collect().await.unwrap_err();
        assert!(format!("{error:?}").contains("CANCEL"), "{error:?}");
    }
    for mut connection in [connection, second] {
        let other = connection.send_request(get(OPENAPI)).await.unwrap();
        assert!(text(other).await.len() > 20_000, "the window is wide enough for a client that reads");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_responses_do_not_block_others() {
    let (app, client) = start(|limits| limits.connections = 16).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        let (connection, _) = open(&app, &client, 0).await;
        // The heads arrive: those of the responses, or of the error when a request finds no slot.
        silent.extend(join_all((0..8).map(|_| connection.clone().send_request(get(OPENAPI)))).await);
        // Until the bodies wait for the client: only then may their connection be closed for another.
        sleep(SHORT).await;
        let (mut other, _) = open(&app, &client, 1 << 20).await;
        let answer = other.send_request(get("https://localhost/healthz"));
        let answer = timeout(LONG, answer).await.expect("it is answered").unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
    }
}

/// The address of a proxy that forwards one connection, and pauses after the first bytes of the server.
async fn pausing_proxy(app: &TestApp, pause: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (mut from_server, mut to_server) = app.connect().await.into_split();
    tokio::spawn(async move {
        let (mut from_client, mut to_client) = listener.accept().await.unwrap().0.into_split();
        tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
        tokio::io::copy(&mut (&mut from_server).take(8 * 1024), &mut to_client).await.unwrap();
        sleep(pause).await;
        tokio::io::copy(&mut from_server, &mut to_client).await
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_pauses_for_longer_than_the_idle_time_gets_every_response() {
    let (app, client) = start(|limits| limits.head_timeout = IDLE).await;
    let proxy = pausing_proxy(&app, IDLE * 4).await;
    let stream = TcpStream::connect(proxy).await.unwrap();
    let stream = client.connect("localhost".try_into().unwrap(), stream).await.unwrap();
    let mut builder = Builder::new(TokioExecutor::new());
    // The flow-control windows are so large that the server can send all responses without waiting for the client.
    builder.initial_stream_window_size(1 << 20).initial_connection_window_size(64 << 20);
    let (connection, running) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(running);
    let answers = join_all((0..100).map(|_| {
        let mut connection: SendRequest<RequestBody> = connection.clone();
        async move { text(connection.send_request(get(OPENAPI)).await.unwrap()).await.len() }
    }));
    let lengths = timeout(LONG, answers).await.expect("they arrive");
    assert!(lengths.iter().all(|length| *length > 20_000), "{lengths:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_closed_for_a_new_one_only_after_its_response() {
    let (server, client) = server_and_client_of(&["h2"]);
    let app = TestApp::builder().tls(server).limits(|limits| limits.connections = 1);
    // A proxy has no share of connections, so its connections wait.
    let app = app.trusted_proxy("127.0.0.1/32").start().await;
    for _ in 0..20 {
        let (mut connection, _) = open(&app, &client, 1 << 20).await;
        let answer = connection.send_request(get(OPENAPI)).await.unwrap();
        // The new connection is not admitted before the slot is free.
        let waiting = connect(&app, &client);
        let (answer, waiting) = futures_util::join!(text(answer), timeout(LONG, waiting));
        assert!(answer.len() > 20_000);
        waiting.expect("it is admitted");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let (app, client) = start(|limits| limits.head_timeout = IDLE).await;
    let (mut busy, _) = open(&app, &client, 1 << 20).await;
    let (request, mut body) = registration();
    let answer = tokio::spawn(busy.send_request(request));
    let (mut idle, idle_ended) = open(&app, &client, 1 << 20).await;
    let used = idle.send_request(get("https://localhost/healthz")).await.unwrap();
    assert_eq!(used.status(), StatusCode::OK);
    // When this connection is closed, the busy one has been open for longer than the idle time.
    timeout(LONG, idle_ended).await.expect("it is closed").unwrap().unwrap();
    body.send_data(Bytes::from_static(b"{")).await.unwrap();
    drop(body);
    assert_eq!(answer.await.unwrap().unwrap().status(), StatusCode::BAD_REQUEST);
    // A connection that never sends a request is closed, too.
    let (_silent, silent_ended) = open(&app, &client, 1 << 20).await;
    timeout(LONG, silent_ended).await.expect("it is closed").unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_beyond_the_share_of_an_address_get_503() {
    let (app, client) = start(|limits| limits.connections = 8).await;
    let (connection, _) = open(&app, &client, 1 << 20).await;
    let mut unfinished = Vec::new();
    for _ in 0..6 {
        let (request, body) = registration();
        let answer = tokio::spawn(connection.clone().send_request(request));
        unfinished.push((body, answer));
    }
    until_in_progress(&app, 6.0).await;
    let refused = connection.clone().send_request(get(OPENAPI)).await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "5");
    assert!(text(refused).await.starts_with(r#"{"error":"#));
    let refused = connection.clone().send_request(head(OPENAPI)).await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(text(refused).await, "");
    for (body, answer) in unfinished {
        drop(body);
        assert_eq!(answer.await.unwrap().unwrap().status(), StatusCode::BAD_REQUEST);
    }
    let answer = connection.clone().send_request(get(OPENAPI)).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_reset_frees_its_slot() {
    let (app, client) = start(|limits| limits.connections = 4).await;
    let (connection, _) = open(&app, &client, 1 << 20).await;
    let another_is_answered = async || {
        let status = async || connection.clone().send_request(get(OPENAPI)).await.unwrap().status();
        let answered = async { while status().await != StatusCode::OK {} };
        timeout(LONG, answered).await.expect("a slot is free");
    };
    for _ in 0..20 {
        let (request, body) = registration();
        let answer = tokio::spawn(connection.clone().send_request(request));
        another_is_answered().await;
        answer.abort();
        drop(body);
    }
    another_is_answered().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_too_long_is_refused() {
    let (app, client) = start(|_| ()).await;
    let (mut connection, _) = open(&app, &client, 1 << 20).await;
    let mut long = get(OPENAPI);
    long.headers_mut().insert("x", "x".repeat(70_000).parse().unwrap());
    let answer = connection.send_request(long).await.unwrap();
    assert_eq!(answer.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_waits_for_requests_only() {
    let (mut app, client) = start(|_| ()).await;
    let (mut busy, _) = open(&app, &client, 1 << 20).await;
    let (_idle, idle_ended) = open(&app, &client, 1 << 20).await;
    let (request, mut body) = registration();
    let answer = tokio::spawn(busy.send_request(request));
    until_in_progress(&app, 1.0).await;
    let ended = app.shut_down();
    timeout(LONG, idle_ended).await.expect("it is closed").unwrap().unwrap();
    body.send_data(Bytes::from_static(b"{")).await.unwrap();
    drop(body);
    assert_eq!(answer.await.unwrap().unwrap().status(), StatusCode::BAD_REQUEST);
    timeout(LONG, ended).await.expect("it ends").unwrap().unwrap();
}
