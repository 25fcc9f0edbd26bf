//! Benchmarks the server as a separate process, over HTTP on loopback and by its command line. Prints figures and never
//! fails because of them.
//!
//! - `bench api`: the REST API.
//! - `bench images`: signed image URLs, compared with nginx.
//! - `bench import`: import of a folder, compared with the npm package `sharp`.
//! - `bench oauth`: token refresh and bearer checks, compared with the npm package `oidc-provider`.
//! - `bench mcp`: MCP tools, compared with a server made with rmcp.
//! - `bench mixed`: the load of a household for a long time, and hostile clients.
//! - `bench ocr`: OCR results, compared with labels.
//! - `bench scale`: the operations of the metadata store on SQLite and Postgres.
//! - `bench search`: search latency with up to a million images.
//! - `bench search-quality`: precision of search results on labelled pictures.
//! - `bench sync`: uploads by rclone, compared with `rclone serve webdav`; listings; the API during uploads.
//! - `bench web`: the data of the timeline and of the map, and pages, on SQLite and Postgres.

mod api;
mod closed_loop;
mod connection;
mod images;
mod import;
mod load;
mod mcp;
mod mixed;
mod oauth;
mod ocr;
mod peer;
mod scale;
mod search;
mod search_quality;
mod seeding;
mod sync;
mod table;
mod web;

use ::tests::black_box::AnyError;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "bench", bin_name = "cargo xtask bench", about = "Measures throughput and latency.")]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Measure requests of the REST API
    Api {
        /// Numbers of images in the library
        #[arg(default_values_t = [10_000, 100_000])]
        images: Vec<u32>,
    },
    /// Measure signed image URLs, and the same bytes sent by nginx
    Images(images::Options),
    /// Measure an import, and `sharp` on the same photos
    Import(import::Options),
    /// Measure token refresh and bearer checks, and the same with `oidc-provider`
    Oauth(oauth::Options),
    /// Measure how many of the labelled words OCR finds
    Ocr(ocr::Options),
    /// Measure calls of MCP tools, and the same with a server made with rmcp
    Mcp(mcp::Options),
    /// Measure a household's load for a long time, and hostile clients
    Mixed(mixed::Options),
    /// Measure the operations of the metadata store on SQLite and Postgres
    Scale(scale::Options),
    /// Measure the latency of searches by text, by image and by both
    Search(search::Options),
    /// Serve a library built by `bench search`
    #[command(hide = true)]
    ServeStub { data_dir: std::path::PathBuf },
    /// Measure the precision of search results on labelled pictures
    SearchQuality(search_quality::Options),
    /// Measure uploads by rclone, and the same to `rclone serve webdav`
    Sync(sync::Options),
    /// Measure the timeline, the map and pages on SQLite and Postgres
    Web(web::Options),
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    match Arguments::parse().task {
        Some(Task::Api { images }) => api::run(&images).await,
        Some(Task::Images(options)) => images::run(&options),
        Some(Task::Import(options)) => import::run(&options),
        Some(Task::Oauth(options)) => oauth::run(&options).await,
        Some(Task::Ocr(options)) => ocr::run(&options).await,
        Some(Task::Mcp(options)) => mcp::run(&options).await,
        Some(Task::Mixed(options)) => mixed::run(&options).await,
        Some(Task::Scale(options)) => scale::run(&options).await,
        Some(Task::Search(options)) => search::run(&options).await,
        Some(Task::ServeStub { data_dir }) => search::serve(&data_dir).await,
        Some(Task::SearchQuality(options)) => search_quality::run(&options).await,
        Some(Task::Sync(options)) => sync::run(&options).await,
        Some(Task::Web(options)) => web::run(&options).await,
        None => {
            api::run(&[10_000, 100_000]).await?;
            import::run(&import::Options::default())
        }
    }
}

/// Describes the machine and its load.
fn machine() -> String {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("{processors} processors; load before the first round {load} (figures need a quiet machine)")
}

/// The median, or 0 without values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let at = |place: usize| values.get(place).copied().unwrap_or_default();
    if values.len() % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.saturating_sub(1)), at(middle)) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }

    #[test]
    fn the_median_does_not_depend_on_the_order() {
        for (values, expect) in
            [(vec![], 0.0), (vec![3.0], 3.0), (vec![9.0, 1.0], 5.0), (vec![9.0, 1.0, 2.0], 2.0)]
        {
            assert!((super::median(values.clone()) - expect).abs() < f64::EPSILON, "{values:?}");
        }
    }
}
