//! Measures search in large libraries of one account: by text, by image, by both, and within a circle, an album or a
//! period.
//!
//! The server is the real one with a [stub](stub_encoder) in place of the vision model. The stub takes no time, so that
//! only search is measured, and its vectors are as long as those of a small CLIP model. Everything else about an image
//! is stored as indexing stores it. Each kind of search is measured with many different queries, first by one client,
//! then by four.
//!
//! A cold search is the first one of a new server, with the library's files in the cache of the operating system.

mod queries;
pub(crate) mod seeding;
pub(crate) mod serving;
mod stub_encoder;
pub(crate) mod vocabulary;

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use ::tests::black_box::{AnyError, Server, megabytes};
use clap::Args;

use crate::{
    closed_loop::{self, Until},
    connection::getters,
    load::{self, ms},
};
use queries::SearchKind;
pub(crate) use serving::serve;

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Numbers of images in the library
    #[arg(default_values_t = [10_000, 100_000, 1_000_000])]
    images: Vec<u32>,
    /// Number of requests per kind of search
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..))]
    requests: u16,
    /// Folder to keep the libraries in and reuse them in the next run [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    println!("{}", crate::machine());
    for images in &options.images {
        let temporary = tempfile::tempdir()?;
        let folder = match &options.keep {
            Some(folder) => folder.join(format!("search-{images}")),
            None => temporary.path().to_owned(),
        };
        std::fs::create_dir_all(&folder)?;
        println!("\n{images} images");
        let key = seeding::library(&folder, *images).await?;
        SearchBench { folder: &folder, key: &key, images: *images, requests: options.requests }.run().await?;
    }
    Ok(())
}

struct SearchBench<'a> {
    folder: &'a Path,
    key: &'a str,
    images: u32,
    requests: u16,
}

impl SearchBench<'_> {
    async fn run(&self) -> Result<(), AnyError> {
        for kind in [SearchKind::Text, SearchKind::Image, SearchKind::Merged, SearchKind::MergedInCircle] {
            let server = self.server()?;
            let took = self.request(&server, kind, 0).await?;
            println!("{:<34} {:>9.1} ms for the first search of a new server", kind.name(), ms(took));
        }
        let server = self.server()?;
        self.print_memory(&server).await?;
        println!(
            "{:<34} {:>9} {:>10} {:>10} {:>12} {:>12} {:>12}",
            "search", "p50 ms", "p99 ms", "mean hits", "4: p50 ms", "4: p99 ms", "CPU ms/req"
        );
        for kind in SearchKind::ALL {
            self.measure(&server, kind).await?;
        }
        println!("peak memory {:.0} MB", megabytes(server.usage().peak_bytes));
        server.stop()
    }

    fn server(&self) -> Result<Server, AnyError> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve-stub".as_ref(), self.folder.as_os_str()]);
        Server::start(&mut command, self.folder)
    }

    /// Prints the memory and the time per image that the first search by image takes to load the embeddings.
    async fn print_memory(&self, server: &Server) -> Result<(), AnyError> {
        for number in 0..20 {
            self.request(server, SearchKind::Text, number).await?;
        }
        let before = server.allocated_bytes();
        let first = self.request(server, SearchKind::Image, 0).await?;
        let mut later = Duration::MAX;
        for number in 1..10 {
            later = later.min(self.request(server, SearchKind::Image, number).await?);
        }
        let after = server.allocated_bytes();
        let images = f64::from(self.images);
        println!(
            "memory {:.0} MB, after the first search by image {:.0} MB: {:.0} bytes and {:.1} µs to load per image",
            megabytes(before),
            megabytes(after),
            megabytes(after.saturating_sub(before)) * 1e6 / images,
            first.saturating_sub(later).as_secs_f64() * 1e6 / images,
        );
        Ok(())
    }

    async fn measure(&self, server: &Server, kind: SearchKind) -> Result<(), AnyError> {
        let http = load::client_with_key(self.key)?;
        let requests = u32::from(self.requests);
        let counted = requests.min(20);
        let mut hits = 0;
        for number in 0..counted {
            hits += count_hits(&http, &self.url(server, kind, number)).await?;
        }
        let measure = |from: u32, connections| {
            let paths = (from..from + requests).map(|number| path(kind, number)).collect();
            let mut clients = getters(server.base_url(), self.key, paths, connections)?;
            closed_loop::measure(&mut clients, Until::Done, || server.usage().cpu)
        };
        let (alone, four) = (measure(requests, 1)?, measure(2 * requests, 4)?);
        println!(
            "{:<34} {:>9.2} {:>10.2} {:>10.1} {:>12.2} {:>12.2} {:>12.2}",
            kind.name(),
            alone.p50_ms,
            alone.p99_ms,
            f64::from(hits) / f64::from(counted),
            four.p50_ms,
            four.p99_ms,
            alone.cpu_us / 1e3,
        );
        Ok(())
    }

    async fn request(&self, server: &Server, kind: SearchKind, number: u32) -> Result<Duration, AnyError> {
        let http = load::client_with_key(self.key)?;
        let url = self.url(server, kind, number);
        let began = Instant::now();
        count_hits(&http, &url).await?;
        Ok(began.elapsed())
    }

    fn url(&self, server: &Server, kind: SearchKind, number: u32) -> String {
        format!("{}{}", server.base_url(), path(kind, number))
    }
}

fn path(kind: SearchKind, number: u32) -> String {
    format!("/api/ext/v2/search?{}", kind.query(number))
}

/// Sends a search and counts the images in its response.
async fn count_hits(http: &reqwest::Client, url: &str) -> Result<u32, AnyError> {
    let response = http.get(url).send().await?;
    let status = response.status();
    let text = response.text().await?;
    if status != 200 {
        return Err(format!("{url} answered {status}: {text}").into());
    }
    let body: serde_json::Value = serde_json::from_str(&text)?;
    let images = body.get("results").and_then(serde_json::Value::as_array);
    Ok(u32::try_from(images.ok_or("a response without images")?.len())?)
}
