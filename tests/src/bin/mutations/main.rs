//! Imports broken files into a running library, and checks that each is imported or rejected and that nothing else fails.
//!
//! The files come from [`tests::mutations`]. `server import` imports them in batches while `server serve` runs on the same
//! library, so both process them. The checks: every file is imported or rejected with a reason, no process crashes, the
//! server responds until the end, and memory stays within its limit. The latencies of the API are printed. Exits with 1 if a
//! check fails. To repeat a file, pass the number in its name with `--first`.

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

/// Number of files per `server import`.
const BATCH: u64 = 500;
/// Low limits, so that the memory limit is meaningful. No whole file needs more; only files with false sizes do.
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
/// Upper bound on the memory of the server or of an import, with all its processes: the limit of decoding in the settings
/// above, and the same again for everything else.
const MEMORY_LIMIT: u64 = 2 * 256 * 1024 * 1024;
/// Duration of the measurement without an import.
const IDLE: Duration = Duration::from_secs(5);
/// Time without a finished job after which the jobs count as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(120);

#[derive(Debug, Parser)]
#[command(name = "mutations", bin_name = "cargo xtask bench mutations")]
#[command(
    about = "Imports broken files and checks that each is imported or rejected and nothing else fails."
)]
struct Options {
    /// Number of files
    #[arg(long, default_value_t = 300)]
    count: u64,
    /// Number of the first file
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Seed of the random changes
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main]
async fn main() -> Result<ExitCode, AnyError> {
    let options = Options::parse();
    let mutations = Mutations::of_fixtures(options.seed)?;
    println!(
        "{} broken files, made from {} whole ones with seed {}",
        options.count,
        mutations.corpus().len(),
        options.seed
    );
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(&folder.path().join("data"), &SETTINGS)?;
    let key = instance.create_key()?;
    // Photos for the requests.
    instance
        .import(&[fixtures().join("samples/polemonium.jpg"), fixtures().join("samples/wood-anemones.jpg")])?;
    let mut server = instance.serve()?;
    let mut store = StoreReader::open(instance.data_dir())?;
    store.wait_for_full_renditions(&mut server)?;

    let urls = urls(server.base_url());
    let prober = Prober::start(&key, urls.clone())?;
    tokio::time::sleep(IDLE).await;
    let idle = prober.stop().await?;

    let prober = Prober::start(&key, urls)?;
    let started = Instant::now();
    let batches = folder.path().join("batches");
    let mut tally = tokio::task::block_in_place(|| import(&options, &mutations, &instance, &batches))?;
    let took = started.elapsed();
    let loaded = prober.stop().await?;

    tokio::task::block_in_place(|| settle(&mut store, &mut server, &mut tally))?;
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
    tally.note_panics("the server", &server.log()?);
    if let Err(error) = server.stop() {
        tally.faults.push(error.to_string());
    }
    Ok(tally.finish())
}

/// The requests of an app that shows photos.
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

/// Waits for the remaining jobs and for the full renditions of imported files.
fn settle(store: &mut StoreReader, server: &mut Server, tally: &mut Tally) -> Result<(), AnyError> {
    let mut pending = store.image_counts()?.pending;
    let mut since = Instant::now();
    while pending > 0 && since.elapsed() < STUCK_AFTER && server.exit_status()?.is_none() {
        std::thread::sleep(Duration::from_millis(100));
        let now = store.image_counts()?.pending;
        if now != pending {
            (pending, since) = (now, Instant::now());
        }
    }
    tally.faults.extend(
        store.pending_files()?.iter().map(|name| format!("{name} was neither imported nor rejected")),
    );
    match store.wait_for_full_renditions(server) {
        Ok(missing) => tally.without_full = missing,
        Err(error) => tally.faults.push(error.to_string()),
    }
    tally.states = store.image_counts()?;
    Ok(())
}

fn print_latencies(rows: &[(&str, &Latencies)]) {
    println!("\n{:<20} {:>8} {:>9} {:>9} {:>9}", "API", "responses", "p50 ms", "p99 ms", "max ms");
    for (name, latencies) in rows {
        let ms = |percent| latencies.percentile(percent).as_secs_f64() * 1e3;
        println!("{name:<20} {:>8} {:>9.1} {:>9.1} {:>9.1}", latencies.count(), ms(50), ms(99), ms(100));
    }
}

fn check_memory(process: &str, peak_bytes: u64, tally: &mut Tally) {
    let (peak, limit) = (megabytes(peak_bytes), megabytes(MEMORY_LIMIT));
    println!("peak memory of {process}: {peak:.0} MB of at most {limit:.0}");
    if peak_bytes > MEMORY_LIMIT {
        tally.faults.push(format!("{process} used {peak:.0} MB"));
    }
}
