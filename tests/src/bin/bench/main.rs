//! Measures the service from outside: the real server as a process of its own, driven over loopback and by its command
//! line. Figures are printed, never judged.
//!
//! `bench api` builds libraries and measures list, get, circle, text search and library info. `bench import` imports a
//! folder of photos, beside the npm package `sharp` that makes the same renditions.

mod api;
mod import;
mod load;
mod seeding;

use ::tests::outside::AnyError;
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
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    match Arguments::parse().task {
        Some(Task::Api { images }) => api::run(&images).await,
        Some(Task::Import(options)) => import::run(&options),
        None => {
            api::run(&[10_000, 100_000]).await?;
            import::run(&import::Options::default())
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
