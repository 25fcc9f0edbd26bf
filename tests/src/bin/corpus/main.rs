//! Imports a folder of real files with the `server` program and checks every outcome and every rendition.
//!
//! Each sub-folder is imported by its own process, then the library is served. The server makes the full renditions in
//! the background. Every image is requested over HTTP and every rendition fetched from its signed URL. After the server
//! has stopped, `server fsck` compares the blob store with the database, and every rendition is scanned for metadata, which
//! must not leave the service. Finally each refused file is imported alone, to measure what it costs.
//!
//! Exits with 1 if a file has no outcome or a rendition is invalid. The report lists which files were refused, why, and
//! how long the import took. `--contact-sheet` shows the pictures. A person must judge whether these are right.

mod alone;
mod files;
mod report;
mod scan;
mod sheet;
mod walk;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use ::tests::black_box::{AnyError, ImportOutcome, Instance, StoreReader, Usage, megabytes};
use clap::Parser;

use files::Folder;
use report::Table;

/// Maximum number of files on one command line.
const FILES_AT_ONCE: usize = 1000;

#[derive(Debug, Parser)]
#[command(name = "corpus", bin_name = "cargo xtask corpus")]
#[command(about = "Import a folder of real files and check every outcome and every rendition")]
struct Options {
    /// Folder of photos
    dir: PathBuf,
    /// List every refused and every damaged file
    #[arg(long)]
    verbose: bool,
    /// Number of slowest files to list after importing files one by one; 0 skips that
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    slowest: usize,
    /// Import every file one by one, not only refused ones
    #[arg(long)]
    each_alone: bool,
    /// Write all thumbs into pictures with this name (.png, .webp or .jpg), and a list of their files
    #[arg(long, value_name = "FILE")]
    contact_sheet: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<ExitCode, AnyError> {
    let options = Options::parse();
    let folder = tempfile::tempdir()?;
    // OCR takes a second per photo; `bench ocr` evaluates it.
    let instance = Instance::create(folder.path(), &["--ocr-languages", "off"])?;
    let mut ledger = StoreReader::open(folder.path())?;

    let mut table = Table::default();
    for folder in files::folders(&options.dir)? {
        let before = ledger.image_counts()?.damaged;
        let imported = import(&instance, &folder)?;
        table.add(folder, imported, ledger.damaged_files(before)?);
    }
    table.print(&options.dir, options.verbose);

    let mut faults = table.faults();
    faults.extend(serve(&instance, &mut ledger).await?);
    let scanned = scan::renditions(&instance.data_dir().join("blobs/renditions"))?;
    println!("{} rendition files, {:.1} MB, scanned byte by byte", scanned.files, megabytes(scanned.bytes));
    faults.extend(scanned.faults);
    let (files, findings) = instance.check()?;
    println!("{files} files compared with the database by server fsck");
    faults.extend(findings);
    if let Some(path) = &options.contact_sheet {
        let sheets = sheet::write(&ledger.thumbs()?, path)?;
        println!("contact sheets: {}", sheets.join(", "));
    }
    if options.slowest > 0 {
        let files = if options.each_alone { table.every_file() } else { table.refused() };
        alone::measure(&options.dir, files, options.slowest)?;
    }
    for fault in &faults {
        println!("FAULT {fault}");
    }
    println!("\n{} faults", faults.len());
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Serves the library until all renditions are made, and fetches all of them over HTTP.
async fn serve(instance: &Instance, ledger: &mut StoreReader) -> Result<Vec<String>, AnyError> {
    let key = instance.create_key()?;
    let began = Instant::now();
    let mut server = instance.serve()?;
    let missing = tokio::task::block_in_place(|| ledger.wait_for_full_renditions(&mut server))?;
    let took = began.elapsed().as_secs_f64();
    let Usage { cpu, peak_bytes } = server.usage();
    println!(
        "\nfull renditions in the background: {took:.1} s, {:.1} CPU s, peak memory {:.0} MB; {missing} were not made",
        cpu.as_secs_f64(),
        megabytes(peak_bytes)
    );
    let walked = walk::images(server.base_url(), &key).await?;
    println!("{} images and {} renditions opened over HTTP", walked.images, walked.renditions);
    tokio::task::block_in_place(|| server.stop())?;
    Ok(walked.faults)
}

fn import(instance: &Instance, folder: &Folder) -> Result<ImportOutcome, AnyError> {
    let mut chunks = folder.paths.chunks(FILES_AT_ONCE);
    let mut sum = instance.import_with(&["--wait"], chunks.next().unwrap_or_default())?;
    for chunk in chunks {
        let next = instance.import_with(&["--wait"], chunk)?;
        sum.imported += next.imported;
        sum.duplicates += next.duplicates;
        sum.failed.extend(next.failed);
        sum.stderr.push_str(&next.stderr);
        sum.took += next.took;
        sum.usage = sum.usage + next.usage;
    }
    Ok(sum)
}
