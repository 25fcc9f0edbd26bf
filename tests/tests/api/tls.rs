//! TLS of the service itself.

use std::{sync::Arc, time::Duration};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tests::{
    TestApp,
    tls::{HALF_A_HELLO, trusting},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

pub(super) const SHORT: Duration = Duration::from_millis(300);
const LAST: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// The configuration of a server, and a client that trusts it and names no protocol.
fn server_and_client() -> (Arc<ServerConfig>, TlsConnector) {
    server_and_client_of(&[])
}

/// The configuration of a server, and a client that trusts it and names these protocols.
pub(super) fn server_and_client_of(protocols: &[&str]) -> (Arc<ServerConfig>, TlsConnector) {
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = CertificateDer::from(pair.cert.der().to_vec());
    let key = PrivateKeyDer::try_from(pair.signing_key.serialize_der()).unwrap();
    let mut server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let client = trusting(certificate, protocols).unwrap();
    (Arc::new(server), TlsConnector::from(client))
}

pub(super) async fn connect(app: &TestApp, client: &TlsConnector) -> TlsStream<TcpStream> {
    client.connect("localhost".try_into().unwrap(), app.connect().await).await.unwrap()
}

async fn exchange(app: &TestApp, client: &TlsConnector, request: &str) -> String {
    let mut stream = connect(app, client).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_answered_over_tls_only() {
    let (server, client) = server_and_client();
    let app = TestApp::builder().tls(server).start().await;
    let requests = format!("{}{LAST}", LAST.replace("Connection: close\r\n", ""));
    let answers = exchange(&app, &client, &requests).await;
    assert_eq!(answers.matches("HTTP/1.1 200 ").count(), 2, "{answers}");
    let openapi = LAST.replace("/healthz", "/api/ext/v2/openapi.json");
    let answer = exchange(&app, &client, &openapi).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.len() > 20_000, "{}", answer.len());
    let plain = app.send_raw(LAST).await;
    assert!(!plain.contains("HTTP/1.1"), "{plain}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_handshake_or_head_closes_the_connection() {
    let (server, client) = server_and_client();
    let app = TestApp::builder().tls(server).limits(|limits| limits.head_timeout = SHORT).start().await;
    for hello in [&[][..], HALF_A_HELLO] {
        assert_eq!(app.send_raw(hello).await, "");
    }
    let mut idle = connect(&app, &client).await;
    idle.write_all(b"GET /healthz HT").await.unwrap();
    let mut answer = String::new();
    // The service closes the connection without a TLS close notification, so reading may fail.
    let _ = timeout(SHORT * 50, idle.read_to_string(&mut answer)).await.expect("it is closed");
    assert!(!answer.contains(" 200 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn half_open_handshakes_do_not_block_others() {
    let (server, client) = server_and_client();
    let app = TestApp::builder().tls(server).limits(|limits| limits.connections = 8).start().await;
    let mut half_open = Vec::new();
    for number in 0..24 {
        let mut stream = app.connect().await;
        if number % 2 == 0 {
            stream.write_all(HALF_A_HELLO).await.unwrap();
        }
        half_open.push(stream);
    }
    let answer = exchange(&app, &client, LAST).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(TestApp::read_until_closed(half_open.remove(0)).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_does_not_wait_for_handshakes() {
    let (server, client) = server_and_client();
    let mut app = TestApp::builder().tls(server).start().await;
    let [silent, mut half_open] = [app.connect().await, app.connect().await];
    half_open.write_all(HALF_A_HELLO).await.unwrap();
    let idle = connect(&app, &client).await;
    let ended = app.shut_down();
    timeout(SHORT * 5, ended).await.expect("it ends at once").unwrap().unwrap();
    drop((silent, half_open, idle));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stops_reading_is_cut_off() {
    let (server, client) = server_and_client();
    let app = TestApp::builder()
        .tls(server)
        .limits(|limits| {
            limits.write_timeout = SHORT;
            limits.min_response_bytes_per_s = u32::MAX;
        })
        .start()
        .await;
    // More requests than the buffers of both sides can hold.
    const REQUESTS: usize = 1_000_000;
    let mut stalled = connect(&app, &client).await;
    let request = "GET /api/ext/v2/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // The service stops reading, so the write waits until the connection is closed.
    let written = timeout(SHORT * 50, stalled.write_all(request.repeat(REQUESTS).as_bytes())).await;
    assert!(written.expect("it is cut off").is_err());
    let mut received = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = stalled.read(&mut buffer).await {
        received.extend_from_slice(&buffer[..read]);
    }
    let answered = String::from_utf8_lossy(&received).matches("HTTP/1.1 200 ").count();
    assert!((1..REQUESTS).contains(&answered), "{answered}");
}
