//! Measures the operations of the metadata store on SQLite and on Postgres, side by side, in this process.
//!
//! Each library is built once on SQLite and copied to Postgres row by row, so both have the same rows. The SQLite file
//! commits to disk (`synchronous = FULL`), as the service does; the Postgres server has its own settings.

mod operations;
mod postgres;
mod replicas;

use std::{path::PathBuf, sync::Arc, time::Instant};

use ::tests::black_box::AnyError;
use blobs::BlobStore;
use clap::Args;
use domain::Timestamp;
use library_copy::{CopyOptions, Place};
use storage::SharedStore;
use storage_sqlite::{SqliteOptions, SqliteStore};

use crate::search::seeding;
use operations::{Operation, Subject};
use postgres::Server;

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
    /// Folder to keep the libraries in and reuse them in the next run [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Numbers of clients that call at the same time.
const CLIENTS: [u32; 2] = [1, 8];

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    println!("{}", crate::machine());
    for images in &options.images {
        let temporary = tempfile::tempdir()?;
        let name = format!("scale-{images}-{}", options.accounts);
        let folder = match &options.keep {
            Some(folder) => folder.join(&name),
            None => temporary.path().to_owned(),
        };
        std::fs::create_dir_all(&folder)?;
        println!("\n{images} images of {} account(s)", options.accounts);
        let key = seeding::libraries(&folder, *images / options.accounts, options.accounts).await?;
        let file = folder.join("library.sqlite");
        let sqlite: SharedStore = Arc::new(SqliteStore::open(&file, SqliteOptions::default()).await?);
        let server = Server::new(&options.postgres)?;
        let began = Instant::now();
        let (postgres, is_new) =
            server.library(&name.replace('-', "_"), &sqlite, options.keep.is_some()).await?;
        if is_new {
            let seconds = began.elapsed().as_secs_f64();
            println!("copied to Postgres in {seconds:.0} s: {:.0} images/s", f64::from(*images) / seconds);
        }
        println!(
            "database: {} MB in SQLite, {} MB in Postgres",
            file.metadata()?.len() / 1_000_000,
            server.database_bytes(&name.replace('-', "_")).await? / 1_000_000
        );
        measure(options, &key, &sqlite, &postgres).await?;
        replicas::measure(&server.url_of(&name.replace('-', "_")), &key).await?;
        if options.keep.is_none() {
            drop(postgres);
            server.delete(&name.replace('-', "_")).await?;
        }
    }
    Ok(())
}

/// Copies all rows to an empty store. The source may be used again afterwards.
async fn copy(from: &SharedStore, to: &SharedStore) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let blobs = BlobStore::open_folder(folder.path())?;
    let place = |store: &SharedStore, name: &str| Place {
        store: store.clone(),
        blobs: blobs.clone(),
        name: name.to_owned(),
    };
    let options = CopyOptions {
        same_files: true,
        ..CopyOptions::new(format!("measured-{}", fastrand::u64(..)), Timestamp::MIN)
    };
    library_copy::copy(&place(from, "SQLite"), &place(to, "Postgres"), &options, |_| {}).await?;
    library_copy::reopen(from).await?;
    Ok(())
}

async fn measure(
    options: &Options,
    key: &str,
    sqlite: &SharedStore,
    postgres: &SharedStore,
) -> Result<(), AnyError> {
    let subjects = [
        Subject::new("SQLite", sqlite.clone(), key).await?,
        Subject::new("Postgres", postgres.clone(), key).await?,
    ];
    println!(
        "{:<34} {:>7} {:>10} {:>10} {:>10} {:>10} {:>7} {:>10} {:>10}",
        "operation", "clients", "SQLite p50", "p99", "PG p50", "p99", "ratio", "SQLite CPU", "PG CPU"
    );
    for operation in Operation::ALL {
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
