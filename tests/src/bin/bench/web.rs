//! Measures the data of the timeline and of the map, and the pages of the web library, over HTTP, with the same library on SQLite
//! and on Postgres. Each kind of request is sent by one client, then by four, for many different months and places.

use std::{collections::HashMap, path::PathBuf};

use ::tests::{
    black_box::{AnyError, Instance, Server, megabytes},
    oauth::forms,
};
use clap::Args;
use fastrand::Rng;
use reqwest::{
    Client, Response,
    header::{ACCEPT_ENCODING, COOKIE, HeaderMap, HeaderValue, ORIGIN, SET_COOKIE},
    redirect::Policy,
};

use crate::{
    load::{self, ms},
    scale::{Seeded, Twins, server_on},
    search::{
        seeding::{EMAIL, FIRST_MS, PASSWORD, SPAN_MS},
        vocabulary::Vocabulary,
    },
};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Numbers of images in the library
    #[arg(default_values_t = [100_000, 1_000_000])]
    images: Vec<u32>,
    /// URL of a Postgres server without a database, such as postgres://postgres@127.0.0.1:5432 [default: SQLite only]
    #[arg(long, value_name = "URL", env = "PHOTOS_TEST_POSTGRES")]
    postgres: Option<String>,
    /// Number of requests of each kind
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u16).range(100..))]
    requests: u16,
    /// Folder to keep the libraries in and reuse them in the next run [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    println!("{}", crate::machine());
    for images in &options.images {
        println!("\n{images} images");
        let seeded = Seeded::build(*images, 1, options.keep.as_deref()).await?;
        measure("SQLite", &Instance::open(&seeded.folder)?.serve()?, *images, options.requests).await?;
        if let Some(url) = &options.postgres {
            let twins = Twins::build(seeded, *images, url).await?;
            let folder = tempfile::tempdir()?;
            let server = server_on(&twins.database_url, folder.path())?;
            measure("Postgres", &server, *images, options.requests).await?;
            drop(server);
            twins.remove().await?;
        }
    }
    Ok(())
}

async fn measure(store: &str, server: &Server, images: u32, requests: u16) -> Result<(), AnyError> {
    let http = signed_in(server.base_url()).await?;
    let words = Vocabulary::new();
    println!(
        "{store:<34} {:>9} {:>10} {:>10} {:>12} {:>12} {:>12}",
        "KB", "p50 ms", "p99 ms", "4: p50 ms", "4: p99 ms", "CPU ms/req"
    );
    for kind in Kind::ALL {
        let mut rng = Rng::with_seed(1);
        let mut urls = |count: u16| -> Vec<String> {
            (0..count)
                .map(|_| format!("{}{}", server.base_url(), kind.path(images, &words, &mut rng)))
                .collect()
        };
        let mut bytes = 0;
        let warm_up = urls(requests / 10);
        for url in &warm_up {
            bytes += http.get(url).send().await?.error_for_status()?.bytes().await?.len();
        }
        let before = server.usage().cpu;
        let alone = load::run(&http, urls(requests), 1).await?;
        let cpu = server.usage().cpu - before;
        let four = load::run(&http, urls(requests), 4).await?;
        println!(
            "{:<34} {:>9.1} {:>10.2} {:>10.2} {:>12.2} {:>12.2} {:>12.2}",
            kind.name(),
            bytes as f64 / warm_up.len() as f64 / 1e3,
            ms(alone.p50),
            ms(alone.p99),
            ms(four.p50),
            ms(four.p99),
            ms(cpu) / f64::from(requests),
        );
    }
    println!("peak memory {:.0} MB", megabytes(server.usage().peak_bytes));
    Ok(())
}

/// A client with the cookie of a session. Like a browser, it requests compressed responses, but it does not decompress them.
async fn signed_in(base_url: &str) -> Result<Client, AnyError> {
    let http = Client::builder().redirect(Policy::none()).build()?;
    let url = format!("{base_url}/sign-in");
    let page = http.get(&url).send().await?;
    let mut cookies = HashMap::new();
    keep_cookies(&page, &mut cookies)?;
    let mut fields = forms(&page.text().await?).into_iter().next().ok_or("no form")?.fields;
    fields.extend([("email".to_owned(), EMAIL.to_owned()), ("password".to_owned(), PASSWORD.to_owned())]);
    let request = http.post(&url).header(COOKIE, header(&cookies)).header(ORIGIN, base_url).form(&fields);
    let reply = request.send().await?;
    if reply.status() != 303 {
        return Err(format!("signing in was answered with {}", reply.status()).into());
    }
    keep_cookies(&reply, &mut cookies)?;
    let headers = HeaderMap::from_iter([
        (COOKIE, HeaderValue::try_from(header(&cookies))?),
        (ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
    ]);
    Ok(Client::builder().redirect(Policy::none()).default_headers(headers).build()?)
}

fn keep_cookies(reply: &Response, cookies: &mut HashMap<String, String>) -> Result<(), AnyError> {
    for cookie in reply.headers().get_all(SET_COOKIE) {
        let (name, value) =
            cookie.to_str()?.split(';').next().and_then(|pair| pair.split_once('=')).ok_or("a bad cookie")?;
        cookies.insert(name.to_owned(), value.to_owned());
    }
    Ok(())
}

fn header(cookies: &HashMap<String, String>) -> String {
    cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
}

/// A kind of request.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Months,
    Month,
    WithinMonth,
    ClustersOfWorld,
    Clusters,
    Timeline,
    Photo,
    Map,
    Search,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Months,
        Self::Month,
        Self::WithinMonth,
        Self::ClustersOfWorld,
        Self::Clusters,
        Self::Timeline,
        Self::Photo,
        Self::Map,
        Self::Search,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Months => "all months",
            Self::Month => "500 photos of a month",
            Self::WithinMonth => "500 photos before a moment",
            Self::ClustersOfWorld => "map data, the world",
            Self::Clusters => "map data, some place",
            Self::Timeline => "page of the timeline",
            Self::Map => "page of the map",
            Self::Photo => "page of a photo",
            Self::Search => "page of a search for a word",
        }
    }

    /// The path of a request to a library with this many images.
    fn path(self, images: u32, words: &Vocabulary, rng: &mut Rng) -> String {
        let at = FIRST_MS + rng.i64(SPAN_MS / 10..SPAN_MS);
        // Months and places within the library.
        let month = format!("{}{:02}", rng.u32(2015..2024), rng.u32(1..=12));
        let (latitude, longitude) = (46.0 + 4.0 * rng.f64(), 9.0 + 6.0 * rng.f64());
        match self {
            Self::Months => "/web/months".to_owned(),
            Self::Month => format!("/web/month/{month}"),
            Self::WithinMonth => format!("/web/month/{}?before={at}", month_of(at)),
            Self::ClustersOfWorld => format!("/web/map?z={}&bbox=-180,-85,180,85", rng.u8(1..=2)),
            Self::Clusters => {
                let zoom = rng.u8(3..=18);
                // A window of 1280 by 1024 units.
                let degrees = 360.0 / 256.0 / f64::from(1_u32 << zoom);
                let (half_width, half_height) = (640.0 * degrees, 330.0 * degrees);
                format!(
                    "/web/map?z={zoom}&bbox={:.6},{:.6},{:.6},{:.6}",
                    (longitude - half_width).max(-180.0),
                    (latitude - half_height).max(-85.0),
                    (longitude + half_width).min(180.0),
                    (latitude + half_height).min(85.0)
                )
            }
            Self::Timeline => format!("/?at={at}"),
            Self::Map => format!("/map?z={}&lat={latitude:.4}&lon={longitude:.4}", rng.u8(1..=17)),
            Self::Photo => format!("/photos/image-1-{:08}", rng.u32(..images)),
            Self::Search => format!("/search?q={}", words.word(rng.usize(20..5000))),
        }
    }
}

/// The UTC month of a time in milliseconds, as `yyyymm`.
fn month_of(at: i64) -> u32 {
    domain::Timestamp::from_millis(at).map_or(197_001, |at| domain::Month::of(at).number())
}
