//! Measures a server under the load of a household for a long time, and beside hostile clients.
//!
//! First, apps, phones and browsers use a library at a moderate pace: MCP calls, lists, images, refreshed tokens, pages and
//! uploads, which are indexed meanwhile. Memory, open files and faults are printed at intervals. Then the latency of a
//! well-behaved client is measured while others hold connections without use, send slowly, or send too much.
//!
//! It fails if a request failed, or if the idle server has much more memory or more open files than early in the load.

mod hostile;

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use ::tests::black_box::{AnyError, EMAIL, Instance, Latencies, Server, megabytes};
use clap::Args;
use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::{
    closed_loop::LoadClient,
    connection::{Connection, check_status},
    load::ms,
    mcp::{Endpoint, Message},
    oauth::refresher,
    sync::photo,
};

/// Intervals for which figures are printed.
const INTERVALS: u32 = 12;
/// Photos in the library at the beginning.
const FIRST_PHOTOS: u32 = 20;
/// Descriptions of faults that are printed.
const SHOWN_FAULTS: usize = 5;
/// After the load, the idle server may exceed the largest figures of the first intervals by these amounts, because caches fill.
const EARLY_INTERVALS: usize = 3;
const MAX_GROWTH_BYTES: u64 = 64 << 20;
const MAX_MORE_FILES: usize = 16;

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Time of the mixed load, in seconds
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(12..=86_400))]
    seconds: u32,
    /// Time of each measurement beside hostile clients, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    hostile_seconds: u64,
    /// Number of idle and of half-open connections
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u16).range(1..=15_000))]
    connections: u16,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let photos = tempfile::tempdir()?;
    let data_dir = folder.path().join("data");
    let instance = Instance::create(&data_dir, &["--ocr-languages", "off"])?;
    for number in 0..FIRST_PHOTOS {
        std::fs::write(photos.path().join(format!("{number}.jpg")), photo(number)?)?;
    }
    instance.import(&[photos.path()])?;
    let key = instance.create_key()?;
    let server = instance.serve()?;
    server.wait_until_idle()?;
    println!("\nmixed load: {} s; {}", options.seconds, crate::machine());
    let base_url = server.base_url().to_owned();
    let refresh = refresher(&data_dir, &base_url).await?;
    let user = User { base_url, key };
    let early = mixed(options, &server, &user, refresh)?;
    server.wait_until_idle()?;
    let at_rest = State::of(&server);
    println!("{:>10}  {at_rest}", "at rest");
    early.check_growth(at_rest)?;
    hostile::run(options, &server, &user).await?;
    let at_end = State::of(&server);
    println!("{:>10}  {at_end}", "at the end");
    early.check_growth(at_end)?;
    hostile::run_tls(options, &instance, &user).await?;
    server.stop()
}

/// The service and a user's API key.
pub(super) struct User {
    base_url: String,
    key: String,
}

impl User {
    fn connect(&self) -> Result<Connection, AnyError> {
        Connection::open(&self.base_url)
    }

    /// A client that requests the same path again and again.
    fn getter(&self, path: &'static str, key: bool) -> Result<LoadClient, AnyError> {
        let (mut connection, key) = (self.connect()?, key.then(|| self.key.clone()));
        Ok(Box::new(move || check_status(connection.get(path, key.as_deref())?, 200, path).map(|()| true)))
    }

    /// A client that calls tools.
    fn assistant(&self) -> Result<LoadClient, AnyError> {
        let call = |name: &str, arguments| {
            Message::modern("tools/call", json!({"name": name, "arguments": arguments}))
        };
        let messages = [
            call("get_info", json!({})),
            call("list_images", json!({"limit": 10})),
            call("search_images", json!({"query": "red leaves", "limit": 10})),
        ];
        Endpoint { base_url: &self.base_url, path: "/api/mcp/v1", token: Some(&self.key) }
            .client(&messages, 0)
    }

    /// A client that lists photos and then loads each of them by its signed URL.
    fn viewer(&self) -> Result<LoadClient, AnyError> {
        let (mut connection, key, base_url) = (self.connect()?, self.key.clone(), self.base_url.clone());
        let mut waiting: Vec<String> = Vec::new();
        Ok(Box::new(move || {
            if let Some(path) = waiting.pop() {
                check_status(connection.get(&path, None)?, 200, "a rendition")?;
                return Ok(true);
            }
            check_status(connection.get("/api/ext/v2/images?limit=10", Some(&key))?, 200, "a list")?;
            let list: Value = serde_json::from_slice(connection.body())?;
            let ids =
                list["results"].as_array().into_iter().flatten().filter_map(|image| image["id"].as_str());
            for id in ids.map(str::to_owned).collect::<Vec<_>>() {
                check_status(
                    connection.get(&format!("/api/ext/v2/images/{id}"), Some(&key))?,
                    200,
                    "an image",
                )?;
                let image: Value = serde_json::from_slice(connection.body())?;
                let url = image["result"]["renditions"]["webp-thumb"].as_str();
                let path =
                    url.and_then(|url| url.strip_prefix(&base_url)).ok_or("an image without a thumb")?;
                waiting.push(path.to_owned());
            }
            Ok(true)
        }))
    }

    /// A client that uploads new photos.
    fn phone(&self, number: &Arc<AtomicU32>) -> Result<LoadClient, AnyError> {
        let (mut connection, number) = (self.connect()?, number.clone());
        let authorization = format!("Basic {}", BASE64.encode(format!("{EMAIL}:{}", self.key).as_bytes()));
        Ok(Box::new(move || {
            let number = number.fetch_add(1, Ordering::Relaxed);
            let path = format!("/dav/IMG_{number:06}.jpg");
            match connection.put(&path, &authorization, &photo(number)?)? {
                200 | 201 | 204 => Ok(true),
                status => Err(format!("an upload answered {status}").into()),
            }
        }))
    }
}

/// Requests of one kind, and the pause after each.
struct Kind<'a> {
    name: &'static str,
    pause: Duration,
    /// Opens a connection, at the beginning and after each fault.
    connect: Box<dyn FnMut() -> Result<LoadClient, AnyError> + Send + 'a>,
}

impl<'a> Kind<'a> {
    fn new(
        name: &'static str,
        pause_ms: u64,
        connect: impl FnMut() -> Result<LoadClient, AnyError> + Send + 'a,
    ) -> Self {
        Self { name, pause: Duration::from_millis(pause_ms), connect: Box::new(connect) }
    }

    /// Sends requests until `stop`.
    fn run(&mut self, stop: &AtomicBool, figures: &Mutex<Latencies>) {
        while !stop.load(Ordering::Relaxed) {
            let fault = match (self.connect)() {
                Ok(mut client) => self.send_until_fault(&mut client, stop, figures),
                Err(error) => ControlFlow::Break(error.to_string()),
            };
            if let ControlFlow::Break(fault) = fault {
                lock(figures).faults.push(format!("{}: {fault}", self.name));
                thread::sleep(self.pause);
            }
        }
    }

    fn send_until_fault(
        &self,
        client: &mut LoadClient,
        stop: &AtomicBool,
        figures: &Mutex<Latencies>,
    ) -> ControlFlow<String> {
        while !stop.load(Ordering::Relaxed) {
            let began = Instant::now();
            match client() {
                Ok(_) => lock(figures).add(began.elapsed()),
                Err(error) => return ControlFlow::Break(error.to_string()),
            }
            thread::sleep(self.pause);
        }
        ControlFlow::Continue(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the largest figures of the first intervals.
fn mixed(options: &Options, server: &Server, user: &User, refresh: LoadClient) -> Result<State, AnyError> {
    let uploaded = Arc::new(AtomicU32::new(FIRST_PHOTOS));
    // A lost refresh token cannot be replaced, so this client never reconnects.
    let mut refresh = Some(refresh);
    let mut kinds = [
        Kind::new("MCP tools", 20, || user.assistant()),
        Kind::new("list", 20, || user.getter("/api/ext/v2/images?limit=26", true)),
        Kind::new("image", 10, || user.viewer()),
        Kind::new("refresh", 200, move || refresh.take().ok_or_else(|| "the grant is lost".into())),
        Kind::new("page", 50, || user.getter("/sign-in", false)),
        Kind::new("upload", 4000, || user.phone(&uploaded)),
    ];
    let figures: [Mutex<Latencies>; 6] = Default::default();
    let stop = AtomicBool::new(false);
    let names: Vec<_> = kinds.iter().map(|kind| format!("{:>20}", format!("{} ms", kind.name))).collect();
    println!("{:>10}{}  (requests: p50, p99)", "", names.concat());
    let (early, faults) = thread::scope(|scope| {
        for (kind, figures) in kinds.iter_mut().zip(&figures) {
            scope.spawn(|| kind.run(&stop, figures));
        }
        let (mut early, mut faults) = (State::default(), Vec::new());
        for interval in 1..=INTERVALS {
            thread::sleep(Duration::from_secs(options.seconds.into()) / INTERVALS);
            let taken = figures.each_ref().map(|figures| std::mem::take(&mut *lock(figures)));
            let cells: Vec<_> = taken.iter().map(|latencies| format!("{:>20}", cell(latencies))).collect();
            faults.extend(taken.into_iter().flat_map(|latencies| latencies.faults));
            let elapsed = format!("{} s", options.seconds * interval / INTERVALS);
            println!("{elapsed:>10}{}", cells.concat());
            let state = State::of(server);
            println!("{:>10}  {state}; {} faults so far", "", faults.len());
            if interval as usize <= EARLY_INTERVALS {
                early = early.max(state);
            }
        }
        stop.store(true, Ordering::Relaxed);
        (early, faults)
    });
    println!("{} photos uploaded", uploaded.load(Ordering::Relaxed) - FIRST_PHOTOS);
    for fault in faults.iter().take(SHOWN_FAULTS) {
        println!("fault: {fault}");
    }
    if faults.is_empty() { Ok(early) } else { Err(format!("{} faults", faults.len()).into()) }
}

fn cell(latencies: &Latencies) -> String {
    format!("{}: {:.1}, {:.1}", latencies.count(), ms(latencies.percentile(50)), ms(latencies.percentile(99)))
}

/// Anonymous memory and open files of a server.
#[derive(Clone, Copy, Default)]
struct State {
    bytes: u64,
    files: usize,
}

impl State {
    fn of(server: &Server) -> Self {
        Self { bytes: server.allocated_bytes(), files: server.open_files() }
    }

    fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), files: self.files.max(other.files) }
    }

    /// # Errors
    /// The later figures exceed these by more than caches explain.
    fn check_growth(self, later: Self) -> Result<(), AnyError> {
        let is_small =
            later.bytes <= self.bytes + MAX_GROWTH_BYTES && later.files <= self.files + MAX_MORE_FILES;
        if is_small {
            Ok(())
        } else {
            Err(format!("the server grows: {self} at first, {later} at last").into())
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} MB anonymous memory, {} open files", megabytes(self.bytes), self.files)
    }
}
