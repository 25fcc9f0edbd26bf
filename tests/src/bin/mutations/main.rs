//! Imports broken files into a library that is being served. Checks that each gets an outcome and that the server is not
//! affected.
//!
//! [`tests::mutations`] makes the files. `server import` imports them in batches while `server serve` runs on the same
//! library, so both process them. Every file must be imported or refused with a reason, no process may crash, the
//! server must respond until the end, and memory must stay within its limit. API response times are printed. Exits with
//! 1 if a check fails. To repeat a file, pass the number in its name to `--first`.

mod tally;

use std::{
    fs,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use ::tests::{
    black_box::{AnyError, Instance, Latencies, Prober, Server, StoreReader, megabytes},
    fixtures,
    mutations::Mutations,
};
use clap::Parser;
use tally::Tally;

/// Files per `server import`.
const BATCH: u64 = 500;
/// Low limits, so that the memory check is meaningful. They suffice for every source file, but not for files with false sizes.
const SETTINGS: [&str; 8] = [
    "--decode-workers",
    "2",
    "--decode-memory-mb",
    "256",
    "--max-pixels",
    "24000000",
    // OCR takes a second per photo and has its own tests.
    "--ocr-languages",
    "off",
];
/// Maximum memory of the server or an import with all its processes: the memory for decoding, as set above, and as much
/// again for everything else.
const MEMORY_LIMIT: u64 = 2 * 256 * 1024 * 1024;
/// Duration of the measurement before the import.
const IDLE: Duration = Duration::from_secs(5);
/// Maximum time without a finished job.
const MAX_STALL: Duration = Duration::from_secs(120);

#[derive(Debug, Parser)]
#[command(name = "mutations", bin_name = "cargo xtask bench mutations")]
#[command(about = "Import broken files and check that each gets an outcome and the server is not affected")]
struct Options {
    /// Number of files
    #[arg(long, default_value_t = 300)]
    count: u64,
    /// Number of the first file
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Seed of the random damage
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main]
async fn main() -> Result<ExitCode, AnyError> {
    let options = Options::parse();
    let mutations = Mutations::of_fixtures(options.seed)?;
    println!(
        "{} broken files, made from {} valid ones with seed {}",
        options.count,
        mutations.corpus().len(),
        options.seed
    );
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(&folder.path().join("data"), &SETTINGS)?;
    let key = instance.create_key()?;
    // Photos for the API requests.
    instance
        .import(&[fixtures().join("samples/polemonium.jpg"), fixtures().join("samples/wood-anemones.jpg")])?;
    let mut server = instance.serve()?;
    let mut ledger = StoreReader::open(instance.data_dir())?;
    ledger.wait_for_full_renditions(&mut server)?;

    let urls = urls(server.base_url());
    let prober = Prober::start(&key, urls.clone())?;
    tokio::time::sleep(IDLE).await;
    let idle = prober.stop().await?;

    let prober = Prober::start(&key, urls)?;
    let began = Instant::now();
    let batches = folder.path().join("batches");
    let mut tally = tokio::task::block_in_place(|| import(&options, &mutations, &instance, &batches))?;
    let took = began.elapsed();
    let loaded = prober.stop().await?;

    tokio::task::block_in_place(|| settle(&mut ledger, &mut server, &mut tally))?;
    let prober = Prober::start(&key, self::urls(server.base_url()))?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let afterwards = prober.stop().await?;

    tally.print(took);
    print_latencies(&[("idle", &idle), ("during the import", &loaded), ("afterwards", &afterwards)]);
    tally
        .faults
        .extend([&idle, &loaded, &afterwards].into_iter().flat_map(|latencies| latencies.faults.clone()));
    check_memory("the server", server.usage().peak_bytes, &mut tally);
    let importer = tally.importer.peak_bytes;
    check_memory("an import", importer, &mut tally);
    tally.count_panics("the server", &server.log()?);
    if let Err(error) = server.stop() {
        tally.faults.push(error.to_string());
    }
    Ok(tally.judge())
}

/// The requests of an app while its user browses photos.
fn urls(base_url: &str) -> Vec<String> {
    let paths = [
        "/api/ext/v2/images?limit=50",
        "/api/ext/v2/library",
        "/api/ext/v2/search?query=anemones",
        "/readyz",
    ];
    paths.map(|path| format!("{base_url}{path}")).into()
}

fn import(
    options: &Options,
    mutations: &Mutations,
    instance: &Instance,
    folder: &Path,
) -> Result<Tally, AnyError> {
    let mut tally = Tally::default();
    let end = options.first + options.count;
    let mut first = options.first;
    while first < end {
        let after = end.min(first + BATCH);
        fs::create_dir_all(folder)?;
        for number in first..after {
            let file = mutations.nth(number);
            fs::write(folder.join(file.name), file.bytes)?;
        }
        tally.add(first..after, instance.import(&[folder]));
        fs::remove_dir_all(folder)?;
        first = after;
    }
    Ok(tally)
}

/// Waits until the server has processed all imported files and made their full renditions.
fn settle(ledger: &mut StoreReader, server: &mut Server, tally: &mut Tally) -> Result<(), AnyError> {
    let mut pending = ledger.image_counts()?.pending;
    let mut since = Instant::now();
    while pending > 0 && since.elapsed() < MAX_STALL && server.exit_status()?.is_none() {
        std::thread::sleep(Duration::from_millis(100));
        let now = ledger.image_counts()?.pending;
        if now != pending {
            (pending, since) = (now, Instant::now());
        }
    }
    tally.faults.extend(ledger.pending_files()?.iter().map(|name| format!("{name} has no outcome")));
    match ledger.wait_for_full_renditions(server) {
        Ok(missing) => tally.without_full = missing,
        Err(error) => tally.faults.push(error.to_string()),
    }
    tally.states = ledger.image_counts()?;
    Ok(())
}

fn print_latencies(rows: &[(&str, &Latencies)]) {
    println!("\n{:<20} {:>9} {:>9} {:>9} {:>9}", "API", "responses", "p50 ms", "p99 ms", "max ms");
    for (name, latencies) in rows {
        let ms = |percent| latencies.percentile(percent).as_secs_f64() * 1e3;
        println!("{name:<20} {:>9} {:>9.1} {:>9.1} {:>9.1}", latencies.count(), ms(50), ms(99), ms(100));
    }
}

fn check_memory(process: &str, peak_bytes: u64, tally: &mut Tally) {
    let (peak, limit) = (megabytes(peak_bytes), megabytes(MEMORY_LIMIT));
    println!("peak memory of {process}: {peak:.0} MB of at most {limit:.0} MB");
    if peak_bytes > MEMORY_LIMIT {
        tally.faults.push(format!("{process} used {peak:.0} MB"));
    }
}
