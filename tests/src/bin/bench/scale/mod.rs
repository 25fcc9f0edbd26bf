//! Measures the operations of the metadata store on SQLite and on Postgres, side by side, in this process.
//!
//! The SQLite file commits to disk (`synchronous = FULL`), as the service does; the Postgres server has its own settings.

mod operations;
mod postgres;
mod replicas;
mod twins;

use std::path::PathBuf;

use ::tests::black_box::AnyError;
use clap::Args;

use operations::{Operation, Subject};
pub(crate) use replicas::server_on;
pub(crate) use twins::{Seeded, Twins};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Numbers of images in the library
    #[arg(default_values_t = [10_000, 100_000, 1_000_000])]
    images: Vec<u32>,
    /// Number of accounts that the images are divided among
    #[arg(long, default_value_t = 1)]
    accounts: u32,
    /// URL of a Postgres server without a database, such as postgres://postgres@127.0.0.1:5432
    #[arg(long, value_name = "URL", env = "PHOTOS_TEST_POSTGRES")]
    postgres: String,
    /// Number of calls of each operation
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..))]
    calls: u32,
    /// Measure only the operations with this text in their names, and no replicas
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Folder to keep the libraries in and reuse them in the next run [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Numbers of clients that call at the same time.
const CLIENTS: [u32; 2] = [1, 8];

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    println!("{}", crate::machine());
    for images in &options.images {
        println!("\n{images} images of {} account(s)", options.accounts);
        let per_account = *images / options.accounts;
        let seeded = Seeded::build(per_account, options.accounts, options.keep.as_deref()).await?;
        let twins = Twins::build(seeded, *images, &options.postgres).await?;
        measure(options, &twins).await?;
        if options.only.is_none() {
            replicas::measure(&twins.database_url, &twins.seeded.key).await?;
        }
        twins.remove().await?;
    }
    Ok(())
}

async fn measure(options: &Options, twins: &Twins) -> Result<(), AnyError> {
    let subjects = [
        Subject::new("SQLite", twins.sqlite.clone(), &twins.seeded.key).await?,
        Subject::new("Postgres", twins.postgres.clone(), &twins.seeded.key).await?,
    ];
    println!(
        "{:<34} {:>7} {:>10} {:>10} {:>10} {:>10} {:>7} {:>10} {:>10}",
        "operation", "clients", "SQLite p50", "p99", "PG p50", "p99", "ratio", "SQLite CPU", "PG CPU"
    );
    let only = options.only.as_deref().unwrap_or_default();
    for operation in Operation::ALL.into_iter().filter(|operation| operation.name().contains(only)) {
        for clients in CLIENTS {
            let [sqlite, postgres] = &subjects;
            let one = sqlite.measure(operation, clients, options.calls).await?;
            let two = postgres.measure(operation, clients, options.calls).await?;
            println!(
                "{:<34} {clients:>7} {:>8.0} µs {:>7.0} µs {:>7.0} µs {:>7.0} µs {:>7.1} {:>7.0} µs {:>7.0} µs",
                operation.name(),
                one.p50_us,
                one.p99_us,
                two.p50_us,
                two.p99_us,
                two.p50_us / one.p50_us,
                one.cpu_us,
                two.cpu_us
            );
        }
    }
    Ok(())
}
