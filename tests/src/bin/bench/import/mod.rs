//! Measures the import of a folder: photos per second, processor time and memory.
//!
//! A round imports all photos into an empty library by `server import`, and then serves that library. *Displayable* is
//! the end of the import: every photo has its medium and thumb renditions. *Complete* is when every photo also has its
//! full rendition, which the server makes in the background. The metadata file is polled ten times a second for that.
//! The time of *complete* is that of the import and of the server since its start.
//!
//! Then `sharp` makes the same renditions of the same files: medium and thumb, to compare with *displayable*, and all
//! three, to compare with *complete*. Rounds alternate, so that other load on the machine affects both.
//!
//! Processor time and memory are those of the whole process tree, sampled every 50 ms. Memory is the peak of the sum of
//! the proportional set sizes.

mod copies;
mod sharp;
mod table;

use std::{fs, path::PathBuf, time::Instant};

use ::tests::black_box::{AnyError, Instance, StoreReader, Usage, megabytes};
use clap::Args;

pub(crate) use copies::distinct;

use copies::Photos;
use sharp::{RenditionSet, Sharp};
use table::{ImportFigures, ImportTable};

const COMPLETE: &str = "ours, complete";
const DISPLAYABLE: &str = "ours, displayable";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder of photos [default: the bundled samples]
    dir: Option<PathBuf>,
    /// Number of rounds
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Distinct copies imported of each photo [default: enough for 60 photos]
    #[arg(long)]
    copies: Option<u32>,
    /// Do not measure sharp
    #[arg(long)]
    without_sharp: bool,
    /// Also write all figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { dir: None, rounds: 3, copies: None, without_sharp: false, json: None }
    }
}

pub(crate) fn run(options: &Options) -> Result<(), AnyError> {
    let dir = options.dir.clone().unwrap_or_else(|| ::tests::fixtures().join("samples"));
    let sharp = if options.without_sharp { None } else { Some(Sharp::install()?) };
    let photos = Photos::prepare(&dir, options.copies)?;
    println!("\nimport of {}: {photos}", dir.display());
    println!("{}", crate::machine());
    if sharp.is_some() {
        println!("compared with sharp {}, {} photos at once", sharp::VERSION, sharp::concurrency());
    }
    let mut table = ImportTable::new();
    for round in 1..=options.rounds {
        import(&photos, round, &mut table)?;
        if let Some(sharp) = &sharp {
            for set in RenditionSet::BOTH {
                table.add(round, sharp.run(&photos, set)?);
            }
        }
    }
    table.print_medians();
    for (ours, other) in [(DISPLAYABLE, RenditionSet::Small.name()), (COMPLETE, RenditionSet::All.name())] {
        table.print_comparison(ours, other);
    }
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_vec_pretty(&table.to_json(&dir, &photos))?)?;
    }
    Ok(())
}

/// Measures one import and the server's background work.
fn import(photos: &Photos, round: u32, table: &mut ImportTable) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(folder.path(), &["--ocr-languages", "off"])?;
    let imported = instance.import(&[photos.folder()])?;
    let mut store = StoreReader::open(folder.path())?;
    let figures = |name, took, used: Usage, bytes| ImportFigures {
        name,
        photos: imported.imported,
        failed: imported.failed.len() as u64,
        took,
        used,
        bytes,
    };
    table.add(round, figures(DISPLAYABLE, imported.took, imported.usage, store.rendition_bytes()?));

    let began = Instant::now();
    let mut server = instance.serve()?;
    let missing = store.wait_for_full_renditions(&mut server)?;
    if missing == 0 {
        let (took, used) = (imported.took + began.elapsed(), imported.usage + server.usage());
        table.add(round, figures(COMPLETE, took, used, store.rendition_bytes()?));
    } else {
        println!(
            "{round:>6}  {COMPLETE}: never; the server became idle with {missing} full renditions missing"
        );
    }
    server.stop()
}

/// Formats a size in megabytes.
fn format_size(bytes: u64) -> String {
    format!("{:.0} MB", megabytes(bytes))
}
