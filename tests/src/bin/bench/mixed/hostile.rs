//! The latency of a well-behaved client beside hostile clients.

use std::{
    ffi::OsStr,
    fs,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use ::tests::{
    black_box::{AnyError, Instance, Latencies, Server},
    tls::{HALF_A_HELLO, trusting},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpSocket, TcpStream},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{Options, User};
use crate::{
    connection::{Connection, check_status},
    load::ms,
};

/// Pause between the requests of the well-behaved client.
const PAUSE: Duration = Duration::from_millis(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections that send one byte a second.
const SLOW: u16 = 1000;
/// Tasks that send oversized heads.
const SENDERS: usize = 4;
const PATH: &str = "/api/ext/v2/images?limit=26";

/// Measures the well-behaved client beside each kind of hostile client.
pub(super) async fn run(options: &Options, server: &Server, user: &User) -> Result<(), AnyError> {
    let address: SocketAddr = user.base_url.trim_start_matches("http://").parse()?;
    let seconds = Duration::from_secs(options.hostile_seconds);
    println!("\na list of 26, one client, {} s each; hostile clients beside it", options.hostile_seconds);
    let measure = || measure(user.connect(), user, seconds);
    let quiet = measure().await?;
    print("none", &quiet, &quiet, server);
    let many = u32::from(options.connections);
    for (name, addresses, head) in [
        ("idle connections, one address", 1, ""),
        ("idle connections, 250 addresses", 250, ""),
        ("half a request each, one address", 1, "GET /healthz HTTP/1.1\r\nHost"),
        ("half a request each, 250 addresses", 250, "GET /healthz HTTP/1.1\r\nHost"),
    ] {
        let held = hold(address, many, addresses, head.as_bytes()).await;
        let figures = measure().await?;
        print(&format!("{} {name}", held.len()), &figures, &quiet, server);
    }
    for addresses in [1, 250] {
        let slow = hold(address, SLOW.into(), addresses, b"GET /healthz HTTP/1.1\r\nX: ").await;
        let (name, task) = (format!("{SLOW} slow heads, {addresses} addresses"), tokio::spawn(drip(slow)));
        let figures = measure().await?;
        task.abort();
        print(&name, &figures, &quiet, server);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let senders: Vec<JoinHandle<u32>> =
        (0..SENDERS).map(|_| tokio::spawn(send_large_heads(address, stop.clone()))).collect();
    let figures = measure().await?;
    stop.store(true, Ordering::Relaxed);
    let mut sent = 0;
    for sender in senders {
        sent += sender.await?;
    }
    print(&format!("{sent} heads of 70 kB"), &figures, &quiet, server);
    Ok(())
}

/// Measures the well-behaved client beside half-open TLS handshakes, at another server of the same library.
pub(super) async fn run_tls(options: &Options, instance: &Instance, user: &User) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let pair = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    fs::write(&certificate, pair.cert.pem())?;
    fs::write(&key, pair.signing_key.serialize_pem())?;
    let [certificate_option, key_option] = ["--tls-certificate", "--tls-key"].map(OsStr::new);
    let files = [certificate_option, certificate.as_os_str(), key_option, key.as_os_str()];
    let server = instance.serve_with(&files, folder.path())?;
    let client = trusting(pair.cert.der().clone(), &[])?;
    let address: SocketAddr = server.base_url().trim_start_matches("https://").parse()?;
    let seconds = Duration::from_secs(options.hostile_seconds);
    let measure = || measure(Connection::open_tls(server.base_url(), client.clone()), user, seconds);
    println!("\nthe same over TLS");
    let quiet = measure().await?;
    print("none", &quiet, &quiet, &server);
    for addresses in [1, 250] {
        let held = hold(address, options.connections.into(), addresses, HALF_A_HELLO).await;
        let figures = measure().await?;
        let name = format!("{} half-open handshakes, {addresses} addresses", held.len());
        print(&name, &figures, &quiet, &server);
    }
    server.stop()
}

async fn measure(
    connection: Result<Connection, AnyError>,
    user: &User,
    time: Duration,
) -> Result<Latencies, AnyError> {
    let (mut connection, key) = (connection?, user.key.clone());
    // The client blocks its thread.
    let measured = tokio::task::spawn_blocking(move || {
        let mut latencies = Latencies::default();
        let end = Instant::now() + time;
        while Instant::now() < end {
            let began = Instant::now();
            check_status(connection.get(PATH, Some(&key))?, 200, PATH)?;
            latencies.add(began.elapsed());
            std::thread::sleep(PAUSE);
        }
        Ok::<_, AnyError>(latencies)
    });
    measured.await?
}

fn print(name: &str, figures: &Latencies, quiet: &Latencies, server: &Server) {
    let (p50, p99) = (ms(figures.percentile(50)), ms(figures.percentile(99)));
    let ratio = p99 / ms(quiet.percentile(99)).max(f64::EPSILON);
    println!("{name:<44} p50 {p50:>7.2} ms  p99 {p99:>7.2} ms, {ratio:>5.2} times the quiet one");
    println!("{:>10}  {}", "", super::State::of(server));
}

/// Opens connections and sends `head` on each. Returns those that the server accepted.
async fn hold(server: SocketAddr, count: u32, addresses: u32, head: &[u8]) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for number in 0..count {
        if let Ok(mut stream) = connect(server, number % addresses).await
            && stream.write_all(head).await.is_ok()
        {
            held.push(stream);
        }
    }
    held
}

/// Connects from one of many loopback addresses.
async fn connect(server: SocketAddr, address: u32) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    // 127.0.0.1 belongs to the well-behaved client, and most systems accept the others of 127.0.0.0/8.
    let own = Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 1, 0, 1)) + address);
    socket.bind((own, 0).into())?;
    timeout(CONNECT_TIMEOUT, socket.connect(server)).await?
}

/// Sends one byte a second on each connection.
async fn drip(mut connections: Vec<TcpStream>) {
    loop {
        for stream in &mut connections {
            // The server may have closed it.
            let _ = stream.try_write(b"x");
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// Sends heads that are too long, and returns their number.
async fn send_large_heads(server: SocketAddr, stop: Arc<AtomicBool>) -> u32 {
    let head = format!("GET /healthz HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        if let Ok(mut stream) = connect(server, 0).await {
            // The server closes the connection before it has read everything.
            let _ = stream.write_all(head.as_bytes()).await;
            sent += 1;
        }
    }
    sent
}
