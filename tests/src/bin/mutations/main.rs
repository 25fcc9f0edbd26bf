//! Imports broken files into a library that is being served, and sees that every one of them gets an outcome and
//! nothing else suffers.
//!
//! The files come from [`tests::mutations`]; `server import` brings them in batches while `server serve` runs on the
//! same library, so both meet them. Judged: every file is imported or refused with a reason, no process crashes, the
//! server answers until the end, and memory stays within its limit. How long the API's answers took meanwhile is
//! printed. Exits with 1 when something is wrong; a file is found again by the number in its name with `--first`.

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

/// Files that one `server import` brings in.
const BATCH: u64 = 500;
/// Small numbers, so that a limit on memory says something: no file of the seeds needs more, only lying ones would.
const SETTINGS: [&str; 8] = [
    "--decode-workers",
    "2",
    "--decode-memory-mb",
    "256",
    "--max-pixels",
    "24000000",
    // Reading takes a second a photo and has tests of its own.
    "--ocr-languages",
    "off",
];
/// What the server, or an import, may have at once with all its processes: what decoding may take by the settings above,
/// and as much again for everything else.
const MEMORY_LIMIT: u64 = 2 * 256 * 1024 * 1024;
/// How long the API is asked while nothing else happens.
const IDLE: Duration = Duration::from_secs(5);
/// Jobs of which none ends for so long will not end.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Parser)]
#[command(name = "mutations", bin_name = "cargo xtask bench mutations")]
#[command(about = "Imports broken files and checks that each gets an outcome and nothing else suffers.")]
struct Options {
    /// How many files
    #[arg(long, default_value_t = 300)]
    count: u64,
    /// Number of the first file
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Other seeds give other files
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main]
async fn main() -> Result<ExitCode, AnyError> {
    let options = Options::parse();
    let mutations = Mutations::of_fixtures(options.seed)?;
    println!(
        "{} broken files, made of {} whole ones with seed {}",
        options.count,
        mutations.corpus().len(),
        options.seed
    );
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(&folder.path().join("data"), &SETTINGS)?;
    let key = instance.create_key()?;
    // Something to ask for.
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
    let answering = Prober::start(&key, self::urls(server.base_url()))?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let afterwards = answering.stop().await?;

    tally.print(took);
    print_latencies(&[("idle", &idle), ("during the import", &loaded), ("afterwards", &afterwards)]);
    tally.faults.extend([&idle, &loaded, &afterwards].into_iter().flat_map(|asked| asked.faults.clone()));
    check_memory("the server", server.usage().peak_bytes, &mut tally);
    let importer = tally.importer.peak_bytes;
    check_memory("an import", importer, &mut tally);
    tally.note_panics("the server", &server.log()?);
    if let Err(error) = server.stop() {
        tally.faults.push(error.to_string());
    }
    Ok(tally.judge())
}

/// What an app asks for while its owner looks at photos.
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

/// Waits for what imports left to the server, and for the full renditions of what came in.
fn settle(ledger: &mut StoreReader, server: &mut Server, tally: &mut Tally) -> Result<(), AnyError> {
    let mut pending = ledger.image_counts()?.pending;
    let mut since = Instant::now();
    while pending > 0 && since.elapsed() < PATIENCE && server.exit_status()?.is_none() {
        std::thread::sleep(Duration::from_millis(100));
        let now = ledger.image_counts()?.pending;
        if now != pending {
            (pending, since) = (now, Instant::now());
        }
    }
    tally.faults.extend(ledger.pending_files()?.iter().map(|name| format!("{name} has no outcome")));
    match ledger.wait_for_full_renditions(server) {
        Ok(lacking) => tally.without_full = lacking,
        Err(error) => tally.faults.push(error.to_string()),
    }
    tally.states = ledger.image_counts()?;
    Ok(())
}

fn print_latencies(rows: &[(&str, &Latencies)]) {
    println!("\n{:<20} {:>8} {:>9} {:>9} {:>9}", "API", "answers", "p50 ms", "p99 ms", "max ms");
    for (name, asked) in rows {
        let ms = |percent| asked.percentile(percent).as_secs_f64() * 1e3;
        println!("{name:<20} {:>8} {:>9.1} {:>9.1} {:>9.1}", asked.count(), ms(50), ms(99), ms(100));
    }
}

fn check_memory(who: &str, peak_bytes: u64, tally: &mut Tally) {
    let (peak, limit) = (megabytes(peak_bytes), megabytes(MEMORY_LIMIT));
    println!("peak memory of {who} {peak:.0} MB, of at most {limit:.0}");
    if peak_bytes > MEMORY_LIMIT {
        tally.faults.push(format!("{who} took {peak:.0} MB"));
    }
}
