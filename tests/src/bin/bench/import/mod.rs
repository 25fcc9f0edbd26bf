//! Importing a folder: how many photos a second can be displayed, how many are complete, and what that takes.
//!
//! A round imports all photos into an empty library by `server import`, as a newcomer does, and then serves that
//! library. *Displayable* is the end of the import: every photo can be found and has its medium and thumb renditions.
//! *Complete* is when every photo has its full rendition as well, which the running server makes in the background; it
//! is seen in the metadata file, by a look ten times a second. Its time is that of the import and of the server from
//! its start on.
//!
//! Then `sharp` makes the same renditions of the same files: medium and thumb, to be held against displayable; and all
//! three, to be held against complete. Rounds alternate, so that what else the machine does meets all alike.
//!
//! Processor time and memory are those of all processes that a program starts, looked at every 50 ms by the same
//! watch. Memory is the peak of the sum of their proportional set sizes.

mod copies;
mod sharp;
mod table;

use std::{fs, path::PathBuf, time::Instant};

use ::tests::black_box::{AnyError, Instance, StoreReader, Usage, megabytes};
use clap::Args;

use copies::Photos;
use sharp::{Sharp, Wanted};
use table::{Figures, Table};

const COMPLETE: &str = "ours, complete";
const DISPLAYABLE: &str = "ours, displayable";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder of photos [default: the bundled samples]
    dir: Option<PathBuf>,
    /// How often everything is measured
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// How many copies of each photo are imported, each a photo of its own [default: as many as make 60 photos]
    #[arg(long)]
    copies: Option<u32>,
    /// Measure the import alone
    #[arg(long)]
    without_sharp: bool,
    /// Write all figures to this file as well
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
        println!("beside sharp {}, {} photos at once", sharp::VERSION, sharp::at_once());
    }
    let mut table = Table::new();
    for round in 1..=options.rounds {
        import(&photos, round, &mut table)?;
        if let Some(sharp) = &sharp {
            for wanted in Wanted::BOTH {
                table.add(round, sharp.run(&photos, wanted)?);
            }
        }
    }
    table.print_medians();
    for (ours, other) in [(DISPLAYABLE, Wanted::Small.name()), (COMPLETE, Wanted::All.name())] {
        table.print_comparison(ours, other);
    }
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_vec_pretty(&table.to_json(&dir, &photos))?)?;
    }
    Ok(())
}

/// One round of ours.
fn import(photos: &Photos, round: u32, table: &mut Table) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(folder.path(), &["--ocr-languages", "off"])?;
    let imported = instance.import(&[photos.folder()])?;
    let mut ledger = StoreReader::open(folder.path())?;
    let figures = |name, took, used: Usage, bytes| Figures {
        name,
        photos: imported.imported,
        failed: imported.failed.len() as u64,
        took,
        used,
        bytes,
    };
    table.add(round, figures(DISPLAYABLE, imported.took, imported.usage, ledger.rendition_bytes()?));

    let began = Instant::now();
    let mut server = instance.serve()?;
    let lacking = ledger.wait_for_full_renditions(&mut server)?;
    if lacking == 0 {
        let (took, used) = (imported.took + began.elapsed(), imported.usage + server.usage());
        table.add(round, figures(COMPLETE, took, used, ledger.rendition_bytes()?));
    } else {
        println!("{round:>6}  {COMPLETE}: never; the idle server left {lacking} full renditions unmade");
    }
    server.stop()
}

/// Seconds and megabytes as they are printed.
fn size_of(bytes: u64) -> String {
    format!("{:.0} MB", megabytes(bytes))
}
