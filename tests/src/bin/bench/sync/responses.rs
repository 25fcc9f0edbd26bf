//! Response times: listings of a large folder, and the API during uploads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use ::tests::black_box::{AnyError, EMAIL, Instance, Latencies, Prober, Server, StoreReader};
use reqwest::{Client, Method};
use tokio::{task::JoinSet, time::sleep};

use super::uploads::photo;
use crate::import::distinct;

/// Small photo. The listed folder contains copies of it.
const SMALL: &str = "media/position-without-time.jpg";
/// Connections that fill the folder.
const FILLING: u32 = 8;
const UPLOADS: u32 = 24;
/// Number of measured listings.
const LISTINGS: u32 = 60;
/// Time of each measurement of the API.
const PROBING: Duration = Duration::from_secs(20);
/// Properties that sync apps request.
const PROPERTIES: &str = "<?xml version=\"1.0\"?><d:propfind xmlns:d=\"DAV:\" xmlns:oc=\"http://owncloud.org/ns\">\
    <d:prop><d:resourcetype/><d:getlastmodified/><d:getcontentlength/><d:getcontenttype/><d:getetag/>\
    <oc:fileid/><oc:permissions/><oc:size/><oc:checksums/></d:prop></d:propfind>";

/// A server with one folder of many files.
pub(super) struct Responses {
    server: Server,
    http: Client,
    key: String,
    entries: u32,
    _folder: tempfile::TempDir,
}

impl Responses {
    /// Fills a folder, and waits until its photos are indexed.
    pub(super) async fn prepare(entries: u32) -> Result<Self, AnyError> {
        let folder = tempfile::tempdir()?;
        let instance = Instance::create(folder.path(), &["--ocr-languages", "off"])?;
        let key = instance.create_key()?;
        let server = instance.serve()?;
        let responses = Self { server, http: Client::new(), key, entries, _folder: folder };
        responses.fill().await?;
        let mut store = StoreReader::open(instance.data_dir())?;
        while store.image_counts()?.pending > 0 {
            sleep(Duration::from_millis(200)).await;
        }
        Ok(responses)
    }

    async fn fill(&self) -> Result<(), AnyError> {
        self.request(Method::from_bytes(b"MKCOL")?, "many").send().await?.error_for_status()?;
        let small = std::fs::read(::tests::fixture(SMALL))?;
        let mut puts = JoinSet::new();
        for client in 0..FILLING {
            let requests: Vec<_> = (client..self.entries)
                .step_by(usize::try_from(FILLING)?)
                .map(|number| {
                    let put = self.request(Method::PUT, &format!("many/IMG_{number:05}.jpg"));
                    put.body(distinct(&small, 1 + number))
                })
                .collect();
            puts.spawn(async move {
                for request in requests {
                    request.send().await?.error_for_status()?;
                }
                Ok::<_, reqwest::Error>(())
            });
        }
        while let Some(done) = puts.join_next().await {
            done??;
        }
        Ok(())
    }

    /// Measures listings of the folder, one after the other.
    pub(super) async fn listings(&self) -> Result<(), AnyError> {
        let mut took = Vec::new();
        let mut bytes = 0;
        for _ in 0..LISTINGS {
            let began = Instant::now();
            let propfind = self.request(Method::from_bytes(b"PROPFIND")?, "many/").header("Depth", "1");
            let response = propfind.body(PROPERTIES).send().await?;
            let status = response.status();
            let body = response.text().await?;
            took.push(began.elapsed());
            bytes = body.len();
            let listed = body.matches("<d:response>").count();
            if status != 207 || listed != usize::try_from(self.entries)? + 1 {
                return Err(format!("PROPFIND answered {status} with {listed} entries").into());
            }
        }
        took.sort_unstable();
        let percentile = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
        println!(
            "PROPFIND of {} entries, {bytes} bytes: p50 {:.0} ms, p99 {:.0} ms",
            self.entries,
            milliseconds(percentile(50)),
            milliseconds(percentile(99))
        );
        Ok(())
    }

    /// Measures the API while the server is idle, and during parallel uploads.
    pub(super) async fn api(&self) -> Result<(), AnyError> {
        let idle = self.probe().await?;
        print_latencies("idle", &idle);
        let stop = Arc::new(AtomicBool::new(false));
        let uploaded = Arc::new(AtomicU32::new(0));
        let mut uploads = JoinSet::new();
        for client in 0..UPLOADS {
            uploads.spawn(upload_until(self.client_of(client), stop.clone(), uploaded.clone()));
        }
        let busy = self.probe().await?;
        stop.store(true, Ordering::Relaxed);
        while let Some(done) = uploads.join_next().await {
            done??;
        }
        print_latencies(&format!("during {UPLOADS} uploads"), &busy);
        println!("{} photos were uploaded meanwhile", uploaded.load(Ordering::Relaxed));
        Ok(())
    }

    async fn probe(&self) -> Result<Latencies, AnyError> {
        let urls = ["images", "library", "images?limit=100", "search?query=beach"];
        let urls = urls.map(|path| format!("{}/api/ext/v2/{path}", self.server.base_url())).to_vec();
        let prober = Prober::start(&self.key, urls)?;
        sleep(PROBING).await;
        let latencies = prober.stop().await?;
        if let Some(fault) = latencies.faults.first() {
            return Err(fault.clone().into());
        }
        Ok(latencies)
    }

    fn client_of(&self, client: u32) -> UploadClient {
        let url = format!("{}/dav/upload-{client}-", self.server.base_url());
        UploadClient { http: self.http.clone(), url, key: self.key.clone(), client }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("{}/dav/{path}", self.server.base_url());
        self.http.request(method, url).basic_auth(EMAIL, Some(&self.key))
    }
}

/// One of the parallel uploads.
struct UploadClient {
    http: Client,
    /// Prefix of the URLs.
    url: String,
    key: String,
    client: u32,
}

/// Uploads photos until told to stop.
async fn upload_until(
    client: UploadClient,
    stop: Arc<AtomicBool>,
    uploaded: Arc<AtomicU32>,
) -> Result<(), AnyError> {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        let put = client.http.put(format!("{}{number}.jpg", client.url)).basic_auth(EMAIL, Some(&client.key));
        let photo = photo(1_000 + client.client + UPLOADS * number)?;
        put.body(photo).send().await?.error_for_status()?;
        uploaded.fetch_add(1, Ordering::Relaxed);
        number += 1;
    }
    Ok(())
}

fn print_latencies(name: &str, latencies: &Latencies) {
    println!(
        "API, {name}: p50 {:.1} ms, p99 {:.1} ms of {} requests",
        milliseconds(latencies.percentile(50)),
        milliseconds(latencies.percentile(99)),
        latencies.count()
    );
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
