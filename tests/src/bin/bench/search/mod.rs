//! Search over big libraries of one account: by words, by looks, by both, within a circle, an album, a time.
//!
//! The server is the real one but for its vision model, whose place a [stand-in](stand_in) takes: it costs nothing, so
//! that what is measured is search, and its vectors are as many numbers long as those of a small CLIP model. Everything
//! else about an image is as indexing would have left it. Each kind of search is asked for by one client and many
//! different queries, so that a median is that of a search alone on the machine, and then by four at once.
//!
//! A cold search is the first of a server that has just started; the files of the library are in the system's cache.

mod dice;
mod queries;
mod seeding;
mod serving;
mod stand_in;
mod text;

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use ::tests::black_box::{AnyError, Server, megabytes};
use clap::Args;

use crate::load;
use queries::Kind;
pub(crate) use serving::serve;

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Sizes of the libraries
    #[arg(default_values_t = [10_000, 100_000, 1_000_000])]
    images: Vec<u32>,
    /// How often each kind of search is asked for
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..))]
    requests: u16,
    /// Where libraries are built, and found again by the next run, instead of a folder that is removed
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
        Bench { folder: &folder, key: &key, images: *images, requests: options.requests }.run().await?;
    }
    Ok(())
}

struct Bench<'a> {
    folder: &'a Path,
    key: &'a str,
    images: u32,
    requests: u16,
}

impl Bench<'_> {
    async fn run(&self) -> Result<(), AnyError> {
        for kind in [Kind::Text, Kind::Image, Kind::Merged, Kind::MergedInCircle] {
            let server = self.server()?;
            let took = self.ask_once(&server, kind, 0).await?;
            println!("{:<34} {:>9.1} ms for the first of a new server", kind.name(), ms(took));
        }
        let server = self.server()?;
        self.memory(&server).await?;
        println!(
            "{:<34} {:>9} {:>10} {:>10} {:>12} {:>12} {:>12}",
            "search", "p50 ms", "p99 ms", "mean hits", "4: p50 ms", "4: p99 ms", "CPU ms/req"
        );
        for kind in Kind::ALL {
            self.measure(&server, kind).await?;
        }
        println!("peak memory {:.0} MB", megabytes(server.usage().peak_bytes));
        server.stop()
    }

    fn server(&self) -> Result<Server, AnyError> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve-stand-in".as_ref(), self.folder.as_os_str()]);
        Server::start(&mut command, self.folder)
    }

    /// What an image takes in memory once looks were searched, and how long it takes to come there.
    async fn memory(&self, server: &Server) -> Result<(), AnyError> {
        for number in 0..20 {
            self.ask_once(server, Kind::Text, number).await?;
        }
        let before = server.allocated_bytes();
        let first = self.ask_once(server, Kind::Image, 0).await?;
        let mut later = Duration::MAX;
        for number in 1..10 {
            later = later.min(self.ask_once(server, Kind::Image, number).await?);
        }
        let after = server.allocated_bytes();
        let images = f64::from(self.images);
        println!(
            "memory {:.0} MB, after the first search by looks {:.0} MB: {:.0} bytes an image; {:.1} µs an image to read",
            megabytes(before),
            megabytes(after),
            megabytes(after.saturating_sub(before)) * 1e6 / images,
            first.saturating_sub(later).as_secs_f64() * 1e6 / images,
        );
        Ok(())
    }

    async fn measure(&self, server: &Server, kind: Kind) -> Result<(), AnyError> {
        let http = reqwest::Client::new();
        let urls = |from: u32| -> Vec<String> {
            let numbers = from..from + u32::from(self.requests);
            numbers.map(|number| self.url(server, kind, number)).collect()
        };
        let requests = u32::from(self.requests);
        let mut hits = 0;
        for url in urls(0).iter().take(20) {
            hits += hits_of(&http, self.key, url).await?;
        }
        let looked_at = requests.min(20);
        let before = server.usage().cpu;
        let alone = load::run(&http, self.key, urls(requests), 1).await?;
        let cpu_ms = ms(server.usage().cpu - before) / f64::from(requests);
        let four = load::run(&http, self.key, urls(2 * requests), 4).await?;
        println!(
            "{:<34} {:>9.2} {:>10.2} {:>10.1} {:>12.2} {:>12.2} {cpu_ms:>12.2}",
            kind.name(),
            ms(alone.p50),
            ms(alone.p99),
            f64::from(hits) / f64::from(looked_at),
            ms(four.p50),
            ms(four.p99),
        );
        Ok(())
    }

    async fn ask_once(&self, server: &Server, kind: Kind, number: u32) -> Result<Duration, AnyError> {
        let http = reqwest::Client::new();
        let url = self.url(server, kind, number);
        let began = Instant::now();
        hits_of(&http, self.key, &url).await?;
        Ok(began.elapsed())
    }

    fn url(&self, server: &Server, kind: Kind, number: u32) -> String {
        format!("{}/api/ext/v2/search?{}", server.base_url(), kind.query(number))
    }
}

/// How many images an answer has.
async fn hits_of(http: &reqwest::Client, key: &str, url: &str) -> Result<u32, AnyError> {
    let answer = http.get(url).bearer_auth(key).send().await?;
    let status = answer.status();
    let text = answer.text().await?;
    if status != 200 {
        return Err(format!("{url} answered {status}: {text}").into());
    }
    let body: serde_json::Value = serde_json::from_str(&text)?;
    let images = body.get("results").and_then(serde_json::Value::as_array);
    Ok(u32::try_from(images.ok_or("an answer without images")?.len())?)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
