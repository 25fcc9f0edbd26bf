//! Measures the service from outside: the real server as a process of its own, driven over loopback and by its command
//! line. Figures are printed, never judged.
//!
//! `bench api` builds libraries and measures list, get, circle, text search and library info. `bench import` imports a
//! folder of photos, beside the npm package `sharp` that makes the same renditions. `bench oauth` refreshes and checks
//! tokens, beside the npm package `oidc-provider`. `bench mcp` calls tools, beside an MCP server made with rmcp. `bench ocr`
//! has the words in pictures read, and holds them against those that a person sees. `bench search-quality` judges what searches
//! find, `bench search` how long they take among up to a million images.

mod api;
mod connection;
mod import;
mod lanes;
mod load;
mod mcp;
mod oauth;
mod ocr;
mod peer;
mod search;
mod search_quality;
mod seeding;
mod table;

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
    /// Measure the requests of the API on libraries of so many images
    Api {
        /// Sizes of the libraries
        #[arg(default_values_t = [10_000, 100_000])]
        images: Vec<u32>,
    },
    /// Measure an import until everything can be displayed, until it is complete, and `sharp` on the same photos
    Import(import::Options),
    /// Measure refreshing and checking tokens, and `oidc-provider` at the same
    Oauth(oauth::Options),
    /// Measure which words in pictures are read
    Ocr(ocr::Options),
    /// Measure calls of MCP tools, and an MCP server made with rmcp at the same
    Mcp(mcp::Options),
    /// Measure searches by words, by looks and by both, on libraries of so many images
    Search(search::Options),
    /// Serve a library as `bench search` built it
    #[command(hide = true)]
    ServeStandIn { data_dir: std::path::PathBuf },
    /// Judge what searches find among pictures that were judged by looking
    SearchQuality(search_quality::Options),
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    match Arguments::parse().task {
        Some(Task::Api { images }) => api::run(&images).await,
        Some(Task::Import(options)) => import::run(&options),
        Some(Task::Oauth(options)) => oauth::run(&options).await,
        Some(Task::Ocr(options)) => ocr::run(&options).await,
        Some(Task::Mcp(options)) => mcp::run(&options).await,
        Some(Task::Search(options)) => search::run(&options).await,
        Some(Task::ServeStandIn { data_dir }) => search::serve(&data_dir).await,
        Some(Task::SearchQuality(options)) => search_quality::run(&options).await,
        None => {
            api::run(&[10_000, 100_000]).await?;
            import::run(&import::Options::default())
        }
    }
}

/// What the figures are measured on.
fn machine() -> String {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("{processors} processors; load before the first round {load} (figures want a quiet machine)")
}

/// The one in the middle, or between the two in the middle; 0 of nothing.
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
    fn medians_are_of_sorted_values() {
        for (values, expect) in
            [(vec![], 0.0), (vec![3.0], 3.0), (vec![9.0, 1.0], 5.0), (vec![9.0, 1.0, 2.0], 2.0)]
        {
            assert!((super::median(values.clone()) - expect).abs() < f64::EPSILON, "{values:?}");
        }
    }
}
