//! Measures the cost of single files: an unreadable file should be refused quickly.

use std::{
    cmp::Reverse,
    path::{Path, PathBuf},
};

use ::tests::black_box::{AnyError, Instance, Usage, megabytes};

use crate::report::relative;

/// Imports each file with its own process and prints the slowest.
pub(crate) fn measure(root: &Path, files: Vec<PathBuf>, slowest: usize) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(folder.path(), &["--ocr-languages", "off"])?;
    let mut rows = Vec::new();
    let mut all = Usage::default();
    for file in files {
        let imported = instance.import(&[&file])?;
        all = all + imported.usage;
        let outcome = imported.failed.first().map_or("imported", |failed| failed.reason.as_str()).to_owned();
        rows.push((imported.took, imported.usage, file, outcome));
    }
    rows.sort_by_key(|(took, ..)| Reverse(*took));
    println!(
        "\n{} files imported alone: {:.1} CPU s, peak memory {:.0} MB; the slowest:",
        rows.len(),
        all.cpu.as_secs_f64(),
        megabytes(all.peak_bytes)
    );
    println!("{:>8} {:>7} {:>8}  file", "seconds", "CPU s", "peak MB");
    for (took, usage, file, outcome) in rows.iter().take(slowest) {
        println!(
            "{:>8.2} {:>7.2} {:>8.0}  {}: {outcome}",
            took.as_secs_f64(),
            usage.cpu.as_secs_f64(),
            megabytes(usage.peak_bytes),
            relative(root, file)
        );
    }
    Ok(())
}
